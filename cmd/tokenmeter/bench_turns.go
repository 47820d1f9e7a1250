package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"tokenmeter/base/process"
	"tokenmeter/load/bench"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/exit"
	"tokenmeter/record/run"
)

// benchTurnsCmd is bench with repeats and with several servers in turns.
type benchTurnsCmd struct {
	benchCmd `embed:""`

	Repeat     string   `group:"turns" placeholder:"N" help:"Number of measurements, each a run of its own. Default: 6 with --interleave, otherwise 1."`
	Interleave []string `group:"turns" sep:"none" placeholder:"URL" help:"Measure this server too, in turns and in random order, and print the comparison. Repeatable."`
	Gate       []string `group:"turns" sep:"none" placeholder:"TEXT" help:"With --interleave: a limit on the difference, like \"p99 tpot +5%\". Repeatable. A broken one makes the exit code 1."`
	Canary     bool     `group:"turns" help:"With --interleave: measure both at the same time, look after every request, and stop as soon as they are known to be better, worse or the same. Worse is exit code 1."`
}

// defaultRepeats is enough a side to find 5 % of a figure whose runs differ by
// 1.5 %, and to be no alarm where nothing differs.
const defaultRepeats = 6

// Run measures once, or in turns.
func (c *benchTurnsCmd) Run(a *app) error {
	defer process.BoundGarbage()()
	var check checker
	repeats := check.count("--repeat", c.Repeat, 1)
	gates, err := compare.ParseGates(c.Gate)
	check.add(err)
	switch {
	case c.Canary && len(c.Interleave) != 1:
		check.addf("--canary compares two servers: add --interleave with the URL of the candidate")
	case c.Canary && repeats > 0:
		check.addf("--canary measures until it knows, and not by repeats: leave out --repeat")
	case len(c.Gate) > 0 && len(c.Interleave) == 0:
		check.addf("--gate is for the difference of two servers: add --interleave, or use --objective")
	case c.Canary && len(c.Gate) > 0:
		check.addf("--canary has a verdict of its own: leave out --gate")
	}
	if c.DryRun && (len(c.Interleave) > 0 || repeats > 1) {
		check.addf("--dry-run shows one request: leave out --interleave and --repeat")
	}
	if c.tells() && (len(c.Interleave) > 0 || repeats > 1) {
		check.addf("--telemetry tells of one run: leave out --interleave and --repeat")
	}
	if err := check.err(); err != nil {
		return err
	}
	if repeats == 0 && len(c.Interleave) > 0 {
		repeats = defaultRepeats
	}
	if repeats <= 1 && len(c.Interleave) == 0 {
		return c.benchCmd.Run(a)
	}
	t := &turns{c: c, a: a, repeats: repeats, gates: gates}
	defer t.close()
	if err := t.prepare(); err != nil {
		return err
	}
	if c.Canary {
		return t.canary()
	}
	return t.run()
}

// turns is one measurement of several runs.
type turns struct {
	c       *benchTurnsCmd
	a       *app
	repeats int
	gates   []compare.Gate
	dir     string
	sides   []turnSide
	stops   []func()
	clear   func() error // removes what the folder held, when first called
}

// turnSide is one server. Its flags are those of the command but for the URL.
type turnSide struct {
	flags  benchCmd
	name   string
	letter string
	model  string // as the first run found it
	runs   []*run.Run
	group  compare.Group
}

func (t *turns) close() {
	for _, stop := range t.stops {
		stop()
	}
}

// prepare checks every side's plan and makes the folder.
func (t *turns) prepare() error {
	urls := append([]string{t.c.URL}, t.c.Interleave...)
	var errs []error
	for i, url := range urls {
		s := turnSide{flags: t.c.benchCmd, letter: string(rune('a' + i))}
		s.flags.URL = url
		if i > 0 {
			s.flags.Demo = false
		}
		if len(urls) > 26 {
			return errors.New("--interleave: more than 25 further servers")
		}
		p, err := s.flags.plan(t.a)
		errs = append(errs, err)
		if err == nil {
			if i == 0 {
				s.flags.told(t.a, &p)
			}
			closeWorkload(&p)
		}
		s.flags.warnSecrets(t.a)
		if s.flags.Demo {
			stop, err := s.flags.demo(&p)
			if err != nil {
				return err
			}
			t.stops = append(t.stops, stop)
			if t.c.Requests == "" && t.c.Duration == "" {
				s.flags.Duration = demoDuration.String()
			}
			// Every run asks the one server that was started.
			s.flags.Demo, s.flags.URL = false, p.Client.BaseURL
		}
		s.name = sideName(s.letter, s.flags.URL, len(urls))
		if t.c.Name != "" {
			s.name = t.c.Name
			if len(urls) > 1 {
				s.name += " " + s.letter
			}
		}
		t.sides = append(t.sides, s)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return t.folder()
}

// sideName calls a side by its letter and where it is.
func sideName(letter, url string, of int) string {
	host := hostOf(url)
	if of == 1 {
		return host
	}
	return letter + " " + host
}

// folder takes the folder that holds the runs. What it held before is replaced when the
// first server was found ready.
func (t *turns) folder() (err error) {
	if t.dir = t.c.Out; t.dir == "" {
		if t.dir, err = run.MakeFolder("", time.Now(), "turns"); err != nil {
			return err
		}
	}
	held, err := run.Hold(t.dir, run.TurnRuns, t.c.Force)
	if err != nil {
		return err
	}
	t.clear = sync.OnceValue(held.Clear)
	t.stops = append(t.stops, func() { held.Close() })
	return nil
}

// plan is that of one run. Repeats differ in their seed, sides do not: in one
// round all do the same work.
func (t *turns) plan(s *turnSide, round int) (bench.Plan, error) {
	p, err := s.flags.plan(t.a)
	if err != nil {
		return p, err
	}
	if round > 0 {
		flags := s.flags
		flags.Seed = fmt.Sprint(p.Seed + uint64(round))
		closeWorkload(&p)
		if p, err = flags.plan(t.a); err != nil {
			return p, err
		}
	}
	p.Ready, p.Force = t.clear, false
	p.Name, p.Out = s.name, filepath.Join(t.dir, fmt.Sprintf("%s-%02d", s.letter, round+1))
	if p.Tags == nil {
		p.Tags = map[string]string{}
	}
	p.Tags["side"], p.Tags["round"] = s.letter, fmt.Sprint(round+1)
	if s.model != "" && p.Model == "" {
		p.Model = s.model
	}
	s.flags.detect(&p)
	return p, nil
}

// closeWorkload closes the files of a plan's workload.
func closeWorkload(p *bench.Plan) {
	if w, ok := p.Workload.(interface{ Close() }); ok {
		w.Close()
	}
}

// run measures all rounds, each in an order of its own, and compares.
func (t *turns) run() error {
	view := t.a.progress(t.c.Quiet, t.c.NoColor, t.c.Demo, bench.Plan{})
	ctx, end := interruptible(func() { view.say("stopping; what was measured is kept (once more: leave at once)") })
	defer end()
	order := rand.New(rand.NewPCG(orderSeed(t.c.Seed), 0x7475726e73))
	var err error
	made, planned := 0, t.repeats*len(t.sides)
	for round := range t.repeats {
		for _, i := range order.Perm(len(t.sides)) {
			s := &t.sides[i]
			made++
			if !t.c.Quiet {
				view.say(fmt.Sprintf("%d/%d  %s", made, planned, s.name))
			}
			if err = t.measure(ctx, view, s, round); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	view.close()
	return t.conclude(err)
}

// orderSeed is the seed as a number, where it is one.
func orderSeed(text string) (seed uint64) {
	seed, _ = strconv.ParseUint(text, 10, 64)
	return seed
}

// measure makes one run of a side.
func (t *turns) measure(ctx context.Context, view progress, s *turnSide, round int) error {
	p, err := t.plan(s, round)
	if err != nil {
		return err
	}
	defer closeWorkload(&p)
	p.Progress = view.show
	if t.c.warnings() {
		p.Log = view
	}
	sum, err := bench.Run(ctx, p)
	if sum != nil && sum.Dir != "" && err == nil {
		s.model = sum.Target.Model
		s.runs = append(s.runs, sum)
		one, openErr := compare.Open(sum.Dir, t.gates...)
		if openErr != nil {
			return openErr
		}
		s.group.Name = s.name
		s.group.Runs = append(s.group.Runs, one.Runs...)
	}
	return err
}

// conclude prints what the runs say together and settles the exit code.
func (t *turns) conclude(err error) error {
	if errors.Is(err, bench.ErrInterrupted) {
		err = fmt.Errorf("%w; the runs that were finished are in %s", err, t.dir)
	}
	groups := make([]compare.Group, 0, len(t.sides))
	for _, s := range t.sides {
		if len(s.runs) == 0 {
			return err
		}
		groups = append(groups, s.group)
	}
	t.a.note("saved %s", t.dir)
	if len(groups) == 1 {
		return worse(worse(err, t.spread(groups[0])), t.verdict(groups, nil))
	}
	result, compareErr := compare.Compare(groups[0], groups[1:], compare.Options{Gates: t.gates, AllowLowN: t.c.AllowLowN, Seed: orderSeed(t.c.Seed)})
	if compareErr != nil {
		return worse(err, compareErr)
	}
	out := compareCmd{sharedFlags: t.c.sharedFlags, Strict: t.c.Strict, Force: true}
	if t.c.HTML.Asked {
		out.HTML = t.c.HTML.path(t.dir, "compare.html")
	}
	save := writeFile(filepath.Join(t.dir, "compare.json"), true, func(w io.Writer) error { return report.CompareJSON(w, result) })
	err = worse(err, save)
	err = worse(err, out.show(t.a, result))
	return worse(err, t.verdict(groups, out.outcome(groups, result)))
}

// spread prints how far the repeats of one server lie apart.
func (t *turns) spread(g compare.Group) error {
	rows, valid := compare.SpreadOf(g), report.ValidityOf(t.measured(), "repeat")
	switch t.c.Format {
	case "json":
		return report.SpreadJSON(t.a.stdout, g.Name, valid, rows)
	case "csv":
		return report.SpreadCSV(t.a.stdout, rows)
	case "markdown":
		return report.SpreadMarkdown(t.a.stdout, g.Name, valid, rows)
	}
	return report.SpreadTerminal(t.a.stdout, g.Name, valid, rows)
}

// measured are the runs of all sides.
func (t *turns) measured() (runs []*run.Run) {
	for i := range t.sides {
		runs = append(runs, t.sides[i].runs...)
	}
	return runs
}

// verdict is the exit code of the runs and of what was said of their difference. A target
// that answered nothing goes before that, and an invalid run before what any of them says
// of its objectives.
func (t *turns) verdict(groups []compare.Group, difference error) (err error) {
	err = worse(worse(decided(compare.Asked(groups)), difference), t.invalid())
	for _, r := range t.measured() {
		err = worse(err, verdict(r, t.c.Strict))
	}
	return err
}

// invalid is the exit code of --strict where a run is an invalid measurement.
func (t *turns) invalid() error {
	v := report.ValidityOf(t.measured(), "run")
	return decided(exit.Facts{Strict: t.c.Strict, Measurement: v.Verdict, Doubt: fmt.Sprintf("invalid measurements: %d of %s", v.Runs, typeset.Plural(int64(v.Of), "run"))})
}
