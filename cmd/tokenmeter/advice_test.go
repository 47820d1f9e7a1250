package main

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/base/cmdline"
)

// foreign are flags of other programs that our words may name.
var foreign = map[string]string{
	"unix-socket": "curl", "data-raw": "curl", "form-string": "curl", "proxy": "curl",
	"save-result": "vLLM", "save-detailed": "vLLM", "output-details": "SGLang", "session-key": "vLLM's router", "enable-prompt-tokens-details": "vLLM", "enable-per-request-metrics": "vLLM",
	"use-server-token-count": "AIPerf", "enable-feature": "Prometheus", "enable-metrics": "SGLang", "metrics": "llama.cpp",
	"base-url": "vLLM", "max-num-seqs": "vLLM", "url": "AIPerf", "target": "GuideLLM",
	"headers": "other tools' way to give a key, which is hidden too",
}

// prose are words after the program's name that are no commands.
var prose = []string{"has", "is", "made", "measures", "says", "with"}

// vocabulary is what the command line understands.
type vocabulary struct {
	flags    map[string]bool            // of any command
	commands map[string]map[string]bool // flags of each
}

func words(t *testing.T) vocabulary {
	t.Helper()
	v := vocabulary{flags: map[string]bool{"help": true, "help-all": true, "version": true}, commands: map[string]map[string]bool{}}
	for _, node := range newParser().Commands() {
		own := map[string]bool{"help": true, "help-all": true}
		v.learn(node, own)
		v.commands[node.Name] = own
	}
	return v
}

// learn adds the flags of a command and of what is below it.
func (v *vocabulary) learn(node *cmdline.Command, own map[string]bool) {
	for _, f := range node.Flags {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			own[name], v.flags[name] = true, true
		}
		if no := "no-" + f.Name; f.Negatable {
			own[no], v.flags[no] = true, true
		}
	}
	for _, below := range node.Commands() {
		v.learn(below, own)
	}
}

var (
	flagMention    = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)`)
	commandMention = regexp.MustCompile(`(?:^|[^\w/.-])tokenmeter ([a-z]+)((?: [^\n;|` + "`" + `]*)?)`)
	fenced         = regexp.MustCompile("(?s)```.*?```")
	inline         = regexp.MustCompile("`[^`\n]+(?:\n[^`\n]+)?`") // a span may go on in the next line
	styles         = regexp.MustCompile(`var\(--[\w-]+`)           // of a style sheet
	anchors        = regexp.MustCompile(`\]\([^)\s]*#[^)\s]*\)`)
	continued      = regexp.MustCompile(`\\\n\s*`)
)

// check names the flags of a text that do not exist, and in code the commands
// too, and flags that belong to another command.
func (v *vocabulary) check(text string, code bool) (wrong []string) {
	text = styles.ReplaceAllString(continued.ReplaceAllString(text, " "), "")
	for _, m := range flagMention.FindAllStringSubmatch(text, -1) {
		if !v.flags[m[1]] && foreign[m[1]] == "" {
			wrong = append(wrong, "--"+m[1])
		}
	}
	if !code {
		return wrong
	}
	for _, m := range commandMention.FindAllStringSubmatch(text, -1) {
		own, ok := v.commands[m[1]]
		if !ok {
			if !slices.Contains(prose, m[1]) {
				wrong = append(wrong, "tokenmeter "+m[1])
			}
			continue
		}
		for _, f := range flagMention.FindAllStringSubmatch(m[2], -1) {
			if v.flags[f[1]] && !own[f[1]] {
				wrong = append(wrong, "tokenmeter "+m[1]+" --"+f[1])
			}
		}
	}
	return wrong
}

// ofOthers are about other tools' command lines.
var ofOthers = []string{"load/translate", "docs/translate.md", "cmd/tokenmeter/translate.go", "wire/scrape/smi.go"}

// No sentence of the program or its documents names a command or a flag that
// does not exist.
func TestAdviceNamesWhatExists(t *testing.T) {
	v := words(t)
	root := filepath.Join("..", "..")
	sources, documents := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if slices.Contains(ofOthers, filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "node_modules", "benchmarks", "tools", "runs"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(name, ".md"):
			documents++
			checkDocument(t, &v, path)
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			sources++
			checkSource(t, &v, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sources < 100 || documents < 4 {
		t.Errorf("only %d sources and %d documents were read", sources, documents)
	}
}

func checkDocument(t *testing.T, v *vocabulary, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	say := func(wrong []string) {
		for _, w := range wrong {
			t.Errorf("%s names %s, which does not exist", path, w)
		}
	}
	for _, block := range fenced.FindAllString(text, -1) {
		say(v.check(block, true))
	}
	text = fenced.ReplaceAllString(text, "")
	for _, span := range inline.FindAllString(text, -1) {
		say(v.check(strings.Join(strings.Fields(strings.Trim(span, "`")), " "), true))
	}
	say(v.check(anchors.ReplaceAllString(inline.ReplaceAllString(text, ""), "]"), false))
}

func checkSource(t *testing.T, v *vocabulary, path string) {
	files := gotoken.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != gotoken.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		for _, w := range v.check(text, true) {
			t.Errorf("%s: %q names %s, which does not exist", files.Position(lit.Pos()), text[:min(len(text), 120)], w)
		}
		return true
	})
}

// The check finds what it is there to find.
func TestAdviceCheckItself(t *testing.T) {
	v := words(t)
	for text, want := range map[string]string{
		"fill:var(--no-such-flag)":                                   "",
		"use --no-such-flag":                                         "--no-such-flag",
		"tokenmeter bench --rate 5":                                  "",
		"tokenmeter bench --lens x":                                  "tokenmeter bench --lens",
		"run tokenmeter conquer URL":                                 "tokenmeter conquer",
		"tokenmeter report runs/X; then raise --grace":               "",
		"tokenmeter bench http://h \\\n    --no-such":                "--no-such",
		"a—--requests—b, x--y, `--model`":                            "",
		"with --model NAME or --api-key-env NAME, tokenmeter doctor": "",
	} {
		if got := strings.Join(v.check(text, true), ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if len(v.commands) < 8 || !v.commands["bench"]["isl"] {
		t.Errorf("commands %v", slices.Sorted(maps.Keys(v.commands)))
	}
}
