package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/cmdline"
	"tokenmeter/base/limitio"
	"tokenmeter/base/process"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/exit"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

type compareCmd struct {
	Runs []string `arg:"" optional:"" name:"run" help:"Runs: the baseline first, then candidates. 'A1 A2 A3 vs B1 B2 B3' or 'A1,A2,A3 B1,B2,B3' are repeats."`

	Baseline     []string `group:"sides" sep:"none" placeholder:"DIR|FILE" help:"The baseline: runs, or a file of --save-baseline. Every run then is a candidate. Repeatable."`
	SaveBaseline string   `name:"save-baseline" group:"sides" placeholder:"FILE" help:"Keep the candidate (or the only side) as a small file to commit."`
	GroupBy      string   `name:"group-by" group:"sides" placeholder:"KEY" help:"What makes runs repeats of one side: name, tag:NAME or none. Default: name, with more than two runs."`

	Gate          []string `group:"gates" sep:"none" placeholder:"TEXT" help:"A limit, like \"p99 tpot +5%\", \"ttft p95 +20ms\" or \"error rate < 1%\". Repeatable. A broken one makes the exit code 1."`
	Strict        bool     `negatable:"" group:"gates" help:"Exit code 4 when a gate gets no answer or a run is an invalid measurement. On by itself where CI is set."`
	AllowLowN     bool     `name:"allow-low-n" group:"gates" help:"Let percentiles count that have too few requests."`
	AllowISLDrift bool     `name:"allow-isl-drift" group:"gates" help:"Other input lengths are meant. The same as --allow input_tokens."`
	Allow         []string `group:"gates" placeholder:"REASON" help:"A reason against comparing that is meant, by its name in the JSON form: input_tokens, output_tokens, workload, load, users, invalid. Repeatable."`

	Within   []string `group:"statistics" placeholder:"P" help:"Differences inside are the same: 3% of a value, 1pp of a share (the defaults)."`
	RunNoise string   `name:"run-noise" group:"statistics" placeholder:"P" help:"With one run a side: how far runs of one server may differ. Default: 3%."`
	Metric   []string `group:"statistics" placeholder:"NAME" help:"Compare only these metrics: ttft, tpot, e2e, … Repeatable."`
	Seed     uint64   `group:"statistics" placeholder:"N" help:"Fixes resampling and permutations. Default: 0."`
	Pareto   string   `group:"statistics" placeholder:"A,B" help:"Place the runs by several figures, like check,decode_tps,usd, and mark the dominated ones."`

	HTML   string `name:"html" group:"output" placeholder:"FILE" help:"Write one self-contained HTML file with percentile plots."`
	JUnit  string `name:"junit" group:"output" placeholder:"FILE" help:"Write the gates as a JUnit file."`
	GitHub bool   `name:"github" group:"output" help:"Append the result to the summary page of the GitHub job."`
	Force  bool   `group:"output" help:"Overwrite files."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (compareCmd) Help() string {
	return `Says what differs between runs and whether it is real. Give each side several runs, taken in turns (A B A B …): then the run is the unit of analysis. With one run a side the answer holds within these runs, and small differences stay unclear.

A gate breaks when the candidate is beyond its limit and the difference is real. A gate on a value ("error rate < 1%") is an objective on the candidate alone.

Exit codes: 0 done and every gate held; 1 a gate broke; 2 wrong usage, or the runs can't be compared and there are gates on the difference; 3 no gate broke, and in a run of either side no request was answered; 4 with --strict (on where CI is set), when a gate got no answer or a run is invalid or nobody knows whether it is; 5 results could not be written.`
}

var compareGroups = []cmdline.Group{
	{Key: "sides", Title: "Sides:"},
	{Key: "gates", Title: "Gates:"},
	{Key: "statistics", Title: "Statistics:"},
}

// Run compares runs.
func (c *compareCmd) Run(a *app) error {
	defer process.BoundGarbage()()
	opts, err := c.options()
	if err != nil {
		return err
	}
	sides, err := c.sides(opts.Gates)
	if err != nil {
		return err
	}
	if len(sides) == 1 && c.SaveBaseline != "" {
		if len(opts.Gates) > 0 {
			a.warn("note: there is only one side, so it is held against no gate")
		}
		f := compare.Asked(sides)
		f.Strict, f.Gates.Open = c.Strict, len(opts.Gates)
		doubts := sides[0].Doubts()
		for _, d := range doubts {
			a.warn("note: %s", d.Says)
		}
		f.Measurement, f.Doubt = doubtful(doubts)
		return c.saveIf(a, sides[0], opts.Gates, decided(f))
	}
	if len(sides) < 2 {
		return errors.New("there is only one side; give a second run, or separate the sides with the word vs")
	}
	if c.SaveBaseline != "" && len(sides) > 2 {
		return errors.New("--save-baseline: there are several candidates; save one alone")
	}
	compare.Unique(sides)
	result, err := compare.Compare(sides[0], sides[1:], opts)
	if err != nil {
		return err
	}
	if c.Pareto != "" {
		axes, err := compare.ParseAxes(c.Pareto)
		if err != nil {
			return err
		}
		result.Pareto = compare.NewPareto(sides, axes)
	}
	shown := c.show(a, result)
	if exitCode(shown) != exitOK {
		return shown
	}
	outcome := c.outcome(sides, result)
	if c.SaveBaseline != "" {
		outcome = c.saveIf(a, sides[1], opts.Gates, outcome)
	}
	return worse(shown, outcome)
}

// saveIf saves a side unless the outcome is a failure: what was not held against its
// gates, or did not keep them, is no measure for others.
func (c *compareCmd) saveIf(a *app, side compare.Group, gates []compare.Gate, outcome error) error {
	if exitCode(outcome) != exitOK {
		a.warn("note: %s is not saved as the baseline", side.Name)
		return outcome
	}
	return worse(c.save(a, side, gates), outcome)
}

// options reads the flags. What is wrong with them is told all at once.
func (c *compareCmd) options() (compare.Options, error) {
	o := compare.Options{AllowLowN: c.AllowLowN, Allow: c.Allow, Metrics: c.Metric, Seed: c.Seed}
	var check checker
	c.checkShared(&check, forms...)
	for _, name := range c.Allow {
		if !slices.Contains(compare.Refusals, name) {
			check.addf("--allow %q: nothing of that name refuses a comparison; those that do are %s", name, strings.Join(compare.Refusals, ", "))
		}
	}
	if c.AllowISLDrift {
		o.Allow = append(o.Allow, "input_tokens")
	}
	for _, text := range c.Within {
		if points, ok := strings.CutSuffix(text, "pp"); ok {
			o.WithinShare = percentage(&check, "--within", points)
		} else {
			o.Within = percentage(&check, "--within", text)
		}
	}
	if c.RunNoise != "" {
		o.RunNoise = percentage(&check, "--run-noise", c.RunNoise)
	}
	gates, err := compare.ParseGates(c.Gate)
	o.Gates = gates
	check.add(err)
	if len(c.Runs) == 0 {
		check.addf("give at least one run; see tokenmeter compare --help")
	}
	return o, check.err()
}

// percentage reads the number of a percentage above 0 and below 100.
func percentage(check *checker, flag, text string) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || !(x > 0 && x < 100) {
		check.addf("%s %q: write a percentage above 0 and below 100, for example 3%%", flag, text)
		return 0
	}
	return x / 100
}

// sides reads all runs and makes sides of them.
func (c *compareCmd) sides(gates []compare.Gate) ([]compare.Group, error) {
	baseline, err := readGroups(c.Baseline, gates)
	if err != nil {
		return nil, err
	}
	sections, split := compare.Sections(c.Runs)
	var sides []compare.Group
	for _, s := range sections {
		items, err := readGroups(s, gates)
		if err != nil {
			return nil, err
		}
		if split {
			if len(items) == 0 {
				return nil, errors.New("there is no run on one side of vs")
			}
			items = []compare.Group{compare.Joined(items)}
		}
		sides = append(sides, items...)
	}
	if !split {
		if sides, err = c.grouped(sides, len(baseline) > 0); err != nil {
			return nil, err
		}
	}
	if len(baseline) > 0 {
		sides = slices.Insert(sides, 0, compare.Joined(baseline))
	}
	return sides, nil
}

// grouped makes repeats of runs that belong together.
func (c *compareCmd) grouped(items []compare.Group, candidates bool) ([]compare.Group, error) {
	tag, isTag := strings.CutPrefix(c.GroupBy, "tag:")
	switch {
	case isTag:
		return compare.ByTag(compare.Apart(items), tag)
	case c.GroupBy == "none":
		return compare.Apart(items), nil
	case c.GroupBy == "name":
		return compare.ByName(compare.Apart(items)), nil
	case c.GroupBy != "":
		return nil, fmt.Errorf("--group-by %q: choose name, tag:NAME or none", c.GroupBy)
	}
	if len(items) == 1 && !candidates && c.SaveBaseline == "" {
		items = compare.Apart(items) // one folder that holds all runs
	}
	if c.Pareto != "" {
		return items, nil
	}
	// Two runs are two sides, whatever they are called; more of them are
	// repeats where their names say so. So are candidates of one name, and runs
	// that are only to be saved.
	named := compare.ByName(items)
	if len(items) > 2 && len(named) > 1 || candidates || c.SaveBaseline != "" && len(items) != 2 {
		return named, nil
	}
	return items, nil
}

// readGroups opens what arguments name; what one argument names is one group.
func readGroups(args []string, gates []compare.Gate) ([]compare.Group, error) {
	var groups []compare.Group
	for _, arg := range args {
		paths, err := compare.Expand(arg)
		if err != nil {
			return nil, err
		}
		var parts []compare.Group
		for _, path := range paths {
			g, err := compare.Open(path, gates...)
			if err != nil {
				return nil, err
			}
			parts = append(parts, g)
		}
		groups = append(groups, compare.Joined(parts))
	}
	return groups, nil
}

// save keeps a side as a baseline file. An older baseline is replaced, any
// other file only with --force.
func (c *compareCmd) save(a *app, side compare.Group, gates []compare.Gate) error {
	if err := compare.Keepable(side); err != nil {
		return fmt.Errorf("--save-baseline: %w", err)
	}
	force := c.Force
	if f, err := limitio.Open(c.SaveBaseline); err == nil {
		_, err = compare.ReadBaseline(f)
		f.Close()
		force = force || err == nil || errors.Is(err, compare.ErrOtherBaseline)
	}
	err := writeFile(c.SaveBaseline, force, func(w io.Writer) error { return compare.WriteBaseline(w, side, time.Now(), gates...) })
	if err != nil {
		return err
	}
	a.note("saved %s (%s) as the baseline %s", side.Name, typeset.Plural(int64(len(side.Runs)), "run"), c.SaveBaseline)
	return nil
}

// show writes the result to stdout and to the files that were asked for.
func (c *compareCmd) show(a *app, r *compare.Result) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{c.HTML, func(w io.Writer) error { return report.CompareHTML(w, r) }},
		{c.JUnit, r.WriteJUnit},
	} {
		if f.path == "" {
			continue
		}
		if err := writeFile(f.path, c.Force, f.write); err != nil {
			return err
		}
		a.note("wrote %s", f.path)
	}
	if c.GitHub {
		if err := appendSummary(a, r); err != nil {
			return err
		}
	}
	switch c.Format {
	case "json":
		return report.CompareJSON(a.stdout, r)
	case "csv":
		return report.CompareCSV(a.stdout, r)
	case "markdown":
		return report.CompareMarkdown(a.stdout, r)
	}
	s := a.screen(a.stdout, c.NoColor)
	return report.CompareTerminal(a.stdout, r, report.Options{Why: brokenBy(r), Width: s.width, Color: s.color, ASCII: s.ascii})
}

// appendSummary adds the Markdown form to the page of a GitHub job.
func appendSummary(a *app, r *compare.Result) error {
	path, ok := a.env("GITHUB_STEP_SUMMARY")
	if !ok || path == "" {
		a.warn("note: --github: GITHUB_STEP_SUMMARY is not set, so there is no summary page to write to")
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return &run.WriteError{Path: path, Err: err, Named: true}
	}
	err = report.CompareMarkdown(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return &run.WriteError{Path: path, Err: err, Named: true}
	}
	return nil
}

// outcome is the exit code of a comparison. A gate that broke is an answer, whatever else
// is not known; without one, a run that answered nothing leaves nothing to compare.
func (c *compareCmd) outcome(sides []compare.Group, r *compare.Result) error {
	var f exit.Facts
	if !r.Broken() {
		f = compare.Asked(sides)
		f.Measurement, f.Doubt = doubtful(r.Comparable.Why)
	}
	f.Strict = c.Strict
	for _, g := range r.Gates {
		switch g.State {
		case compare.Held:
			f.Gates.Met++
		case compare.Broken:
			f.Gates.Missed++
		default:
			f.Gates.Open++
		}
	}
	incomparable := slices.ContainsFunc(r.Gates, func(g compare.GateResult) bool { return g.State == compare.GateIncomparable })
	if code := exit.Of(f).Code; incomparable && (code == exit.OK || code == exit.Undecided) {
		return errors.New("the gates can't be judged: the runs can't be compared; measure the same work, save the baseline anew, or pass --allow with the reason's name")
	}
	return decided(f)
}

// doubtful is the worst verdict on the runs that counts against them, and its words.
func doubtful(why []compare.Reason) (verdict, says string) {
	for _, name := range []string{validity.Invalid, validity.Unknown} {
		for _, w := range why {
			if w.Name == name {
				return name, w.Says
			}
		}
	}
	return "", ""
}
