package cmdline

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type shared struct {
	Quiet bool `short:"q" group:"output" help:"Say little."`
}

type page struct{ file string }

// Take takes a word that ends in .html.
func (p *page) Take(attached *string, next string) (bool, error) {
	if attached != nil {
		p.file = *attached
		return false, nil
	}
	if strings.HasSuffix(next, ".html") {
		p.file = next
		return true, nil
	}
	p.file = "there"
	return false, nil
}

type runCmd struct {
	URL     string        `arg:"" optional:"" name:"url" help:"The server."`
	More    []string      `arg:"" optional:"" name:"more" help:"Others."`
	N       uint64        `default:"7" placeholder:"N" help:"How many. Default: ${default}."`
	MaxTime time.Duration `aliases:"limit,at-most" placeholder:"D" help:"How long."`
	Set     []string      `sep:"none" placeholder:"A=B" help:"Set."`
	Try     []int         `placeholder:"N" help:"Numbers."`
	Share   float64       `help:"A part."`
	Strict  bool          `negatable:"" help:"Be strict."`
	Kind    string        `default:"fast" enum:"fast,slow" help:"Of ${kinds}, for $$5."`
	Odd     bool          `xor:"way" help:"One."`
	Even    bool          `xor:"way" help:"The other."`
	HTML    page          `name:"html" help:"A page."`

	shared `embed:""`
}

// Help is shown below the sentence.
func (runCmd) Help() string { return "Examples:\n\n    prog run http://localhost" }

type passCmd struct {
	Line []string `arg:"" passthrough:"" name:"command" help:"Anything."`

	shared `embed:""`
}

type needCmd struct {
	Dir    string `arg:"" name:"dir" help:"A folder."`
	Config string `short:"c" required:"" placeholder:"FILE" help:"A file."`
}

type grammar struct {
	Run  runCmd  `cmd:"" help:"Run it."`
	Pass passCmd `cmd:"" help:"Pass it on."`
	More struct {
		Need needCmd `cmd:"" help:"Need it."`
		List struct {
			shared `embed:""`
		} `cmd:"" help:"List it."`
	} `cmd:"" help:"More of it."`
}

func parse(words string) (*grammar, *Line, error) {
	g := &grammar{}
	p := New(Program{Program: "prog", Command: Command{Help: "A program."}, Vars: map[string]func() string{"kinds": func() string { return "two kinds" }},
		Groups: []Group{{"output", "Output:"}}}, g)
	line, err := p.Parse(strings.Fields(words))
	return g, line, err
}

func TestParse(t *testing.T) {
	usual := runCmd{N: 7, Kind: "fast"}
	with := func(change func(*runCmd)) runCmd { c := usual; change(&c); return c }
	for words, want := range map[string]runCmd{
		"run":                               usual,
		"run --n 8":                         with(func(c *runCmd) { c.N = 8 }),
		"run --n=8 --n 9":                   with(func(c *runCmd) { c.N = 9 }),
		"run --n 0x10":                      with(func(c *runCmd) { c.N = 16 }),
		"run --max-time 2m":                 with(func(c *runCmd) { c.MaxTime = 2 * time.Minute }),
		"run --at-most=1s":                  with(func(c *runCmd) { c.MaxTime = time.Second }),
		"run --set a=1,2 --set b=3":         with(func(c *runCmd) { c.Set = []string{"a=1,2", "b=3"} }),
		"run --try 1,2 --try 3":             with(func(c *runCmd) { c.Try = []int{1, 2, 3} }),
		"run --share .5":                    with(func(c *runCmd) { c.Share = 0.5 }),
		"run --strict --no-strict":          usual,
		"run --no-strict=false":             with(func(c *runCmd) { c.Strict = true }),
		"run --strict=no":                   usual,
		"run -q":                            with(func(c *runCmd) { c.Quiet = true }),
		"run a b c":                         with(func(c *runCmd) { c.URL, c.More = "a", []string{"b", "c"} }),
		"run a -q b":                        with(func(c *runCmd) { c.URL, c.Quiet, c.More = "a", true, []string{"b"} }),
		"run -- -q --n":                     with(func(c *runCmd) { c.URL, c.More = "-q", []string{"--n"} }),
		"run -":                             with(func(c *runCmd) { c.URL = "-" }),
		"run --html http://h":               with(func(c *runCmd) { c.HTML.file, c.URL = "there", "http://h" }),
		"run --html a.html http://h":        with(func(c *runCmd) { c.HTML.file, c.URL = "a.html", "http://h" }),
		"run --html=x http://h --kind slow": with(func(c *runCmd) { c.HTML.file, c.URL, c.Kind = "x", "http://h", "slow" }),
	} {
		g, line, err := parse(words)
		if err != nil || !reflect.DeepEqual(g.Run, want) || line.Command.Target != any(&g.Run) {
			t.Errorf("%s: %+v, %v", words, g.Run, err)
		}
	}
	g, line, err := parse("more need here -c file -h")
	if err != nil || !line.Help || line.Command.Path() != "more need" || !line.Given("config") || line.Given("quiet") || g.More.Need.Config != "file" {
		t.Errorf("%+v, %+v, %v", line, g.More, err)
	}
	if g, _, _ = parse("more need here -cfile"); g.More.Need.Config != "file" {
		t.Errorf("%+v", g.More.Need)
	}
	for words, want := range map[string]string{
		"pass a --b -q":    "a --b -q",
		"pass -- a --b -q": "-- a --b -q",
		"pass --b a -q":    "--b a -q",
		"pass -- --b -5":   "-- --b -5",
		"pass a -- --b -5": "a -- --b -5",
	} {
		g, _, err := parse(words)
		if got := strings.Join(g.Pass.Line, " "); err != nil || got != want || g.Pass.Quiet {
			t.Errorf("%s: %q, %v", words, got, err)
		}
	}
	if g, _, err := parse("pass -q a"); err != nil || !g.Pass.Quiet || !slices.Equal(g.Pass.Line, []string{"a"}) {
		t.Errorf("%+v, %v", g.Pass, err)
	}
}

func TestErrors(t *testing.T) {
	for words, want := range map[string]string{
		"rnu":                          `unexpected argument rnu, did you mean "run"?`,
		"run --strikt":                 `unknown flag --strikt, did you mean "--strict"?`,
		"run --unlike=it":              "unknown flag --unlike",
		"run -x":                       "unknown flag -x",
		"run -1":                       "unknown flag -1",
		"run -é":                       "unknown flag -é",
		"run -éa=b":                    "unknown flag -é",
		"run --=x":                     "unknown flag --",
		"run -- -x -1 --=x --n -1":     "",
		"run --n -1":                   `--n: expected an unsigned int but got "-1"`,
		"run --max-time -5m --try -1":  "",
		"run --share -.5 --set -1=2":   "",
		"run --shar -1":                `unknown flag --shar, did you mean "--share"?`,
		"run --n":                      "--n: there is no value behind it",
		"run --n --strict":             `--n: expected a value but got the flag --strict; perhaps try --n="--strict"?`,
		"run --n x":                    `--n: expected an unsigned int but got "x"`,
		"run --n 99999999999999999999": `--n: expected an unsigned int of 64 bits but got "99999999999999999999"`,
		"run --try 1,x":                `--try: expected an int but got "x"`,
		"run --share x":                `--share: expected a float but got "x"`,
		"run --limit 5":                `--max-time: expected duration but got "5": time: missing unit in duration "5"`,
		"run --strict=perhaps":         `--strict: bool value must be true, 1, yes, false, 0 or no but got "perhaps"`,
		"run --kind=":                  `--kind must be one of fast, slow but got ""`,
		"run --kind odd":               `--kind must be one of fast, slow but got "odd"`,
		"run --odd --even":             "--odd and --even can't be used together",
		"more":                         `expected one of "need", "list"`,
		"more need x":                  "missing flags: --config=FILE",
		"more need -c x":               `expected "<dir>"`,
		"more need x y -c z":           "unexpected argument y",
		"more list x":                  "unexpected argument x",
		"pass":                         `expected "<command> ..."`,
		"":                             `expected one of "run", "pass", "more"`,
	} {
		if _, _, err := parse(words); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
}

// A flag that was given nothing is told from one that was not given, lists too.
func TestEmpty(t *testing.T) {
	for words, want := range map[string]bool{
		"run": false, "run --n 3": false, "run --kind=fast": false, "run --set= --set=a": true, "run --set=a": false, "run --try=": true,
		"run --try=,": true, "run --try=1,2": false, "run --q=": false,
	} {
		_, line, err := parse(words)
		if got := err == nil && slices.ContainsFunc(line.Flags, (*Flag).Empty); got != want {
			t.Errorf("%s: %v, want %v (%v)", words, got, want, err)
		}
	}
}

// A grammar whose enum nobody could keep is wrong itself.
func TestEnumOfANumber(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it is taken")
		}
	}()
	New(Program{}, &struct {
		N int `enum:"1,2"`
	}{})
}

func TestUsage(t *testing.T) {
	_, line, err := parse("run --help")
	if err != nil {
		t.Fatal(err)
	}
	want := `Usage: prog run [<url> [<more> ...]] [flags]

Run it.

Examples:

    prog run http://localhost

Arguments:
  [<url>]         The server.
  [<more> ...]    Others.

Flags:
  -h, --help           Show context-sensitive help.

      --n=N            How many. Default: 7.
      --max-time=D     How long.
      --set=A=B        Set.
      --try=N,...      Numbers.
      --share=SHARE    A part.
      --[no-]strict    Be strict.
      --kind=KIND      Of two kinds, for $5.
      --odd            One.
      --even           The other.
      --html           A page.

Output:
  -q, --quiet    Say little.
`
	if got := line.Command.Usage(60); got != want {
		t.Errorf("%s", got)
	}
	for l := range strings.Lines(line.Command.Usage(40)) {
		if len(l) > 41 && !strings.HasPrefix(l, "Usage: ") {
			t.Errorf("longer than 40 letters: %s", l)
		}
	}
	_, line, _ = parse("--help")
	if got := line.Command.Usage(80); !strings.Contains(got, "Usage: prog <command>\n\nA program.\n") || !strings.Contains(got, "\n  more need    Need it.\n") {
		t.Errorf("%s", got)
	}
	_, line, _ = parse("more need --help")
	if got := line.Command.Usage(80); !strings.Contains(got, "Usage: prog more need --config=FILE <dir>\n") {
		t.Errorf("%s", got)
	}
}

func TestDashed(t *testing.T) {
	for name, want := range map[string]string{"Quiet": "quiet", "MaxTime": "max-time", "CAFile": "ca-file", "HTML": "html", "P99": "p-99", "NoColor": "no-color", "TargetURL": "target-url"} {
		if got := dashed(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Whatever is typed is understood or refused.
func FuzzParse(f *testing.F) {
	f.Add("run --n 3 a b -- c")
	f.Add("more need -cx -h --")
	f.Add("pass -q --x=- -")
	f.Fuzz(func(t *testing.T, words string) {
		if _, line, err := parse(words); (line == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", words, line, err)
		}
	})
}

// A field is found by each of its names and can be set; no other changes, be it zero where
// its default is not.
func TestField(t *testing.T) {
	var c struct {
		Speed float64  `default:"1"`
		Names []string `aliases:"called" sep:"none"`
	}
	c.Names = []string{"a", "b"}
	if err := Field(&c, "called").Set("x,y"); err != nil || len(c.Names) != 1 || c.Names[0] != "x,y" || c.Speed != 0 {
		t.Errorf("%v, %+v", err, c)
	}
	if Field(&c, "speed").Set("fast") == nil || Field(&c, "nothing") != nil {
		t.Error("a wrong value, or an unknown name, is taken")
	}
}
