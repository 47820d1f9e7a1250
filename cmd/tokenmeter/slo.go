//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pattern"
	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/reader/report"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/postgres"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/slo/rules"
)

type sloCmd struct {
	Check    sloCheckCmd    `cmd:"" help:"Hold objectives against runs or live data; exit code 1 when one is missed or a budget is too small."`
	Report   sloReportCmd   `cmd:"" help:"Show budgets, burn rates and alerts. The exit code says nothing about them."`
	Validate sloValidateCmd `cmd:"" help:"Read objectives and say what each one counts; exit code 2 when something is wrong."`
	Import   sloImportCmd   `cmd:"" help:"Make a file of objectives of another tool's: OpenSLO, sloth, pyrra."`
	Rules    sloRulesCmd    `cmd:"" help:"Write Prometheus rules, their promtool tests, or Datadog SLOs and monitors."`
}

// sloSource is where objectives and counts come from.
type sloSource struct {
	Runs      []string `arg:"" optional:"" name:"run" help:"Run folders. Without one, the live data of --store."`
	Config    string   `short:"c" placeholder:"FILE" help:"Objectives: tokenmeter.yaml, or a file of its own (docs/slo.md)."`
	Objective []string `sep:"none" placeholder:"TEXT" help:"An objective, like \"p99 tpot < 120ms\", over 28 days. Repeatable."`
	Store     string   `placeholder:"FILE|URL" help:"The history that tokenmeter serve writes: a file, or postgres://USER@HOST/DATABASE."`
	Daemon    string   `placeholder:"NAME" help:"Of a history in PostgreSQL: only what this daemon counted (store_name). Default: all, added up."`
	At        string   `placeholder:"TIME" help:"As of a time, like 2026-03-01T12:00:00Z: nothing of that moment or later is seen. Default: now; of runs, the end of the last one."`

	sharedFlags `embed:""`
}

type sloCheckCmd struct {
	sloSource
	Strict     bool     `negatable:"" help:"Exit code 4 when nothing was decided: an objective has too few events or is left out, or a run is an invalid measurement. On by itself where CI is set."`
	MinBudget  []string `name:"min-budget" sep:"none" placeholder:"NAME=P" help:"At least this share of an objective's budget must be left, like chat-tpot=20%. Repeatable; gates a release."`
	AllowStale bool     `help:"Judge what there is, also when nobody watched lately (stale_after). Without it a stale objective is not held."`
}

type sloReportCmd struct{ sloSource }

type sloRulesCmd struct {
	Config string `short:"c" required:"" placeholder:"FILE" help:"Objectives: tokenmeter.yaml, or a file of its own (docs/slo.md)."`
	As     string `placeholder:"FORM" help:"prometheus (rules), kubernetes (a PrometheusRule), promtool (tests of them), datadog (SLOs), datadog-monitors (their alerts) or openslo. Default: prometheus."`
	Rules  string `default:"tokenmeter-rules.yaml" placeholder:"FILE" help:"The rule file that the promtool tests name. Default: tokenmeter-rules.yaml."`
	Out    string `placeholder:"FILE" help:"Where to write. Default: stdout."`
	Force  bool   `help:"Overwrite the file."`

	sharedFlags `embed:""`
}

func (sloSource) collects() {}

// Help is shown below the flags.
func (sloCheckCmd) Help() string {
	return `An objective is missed when its error budget is overspent, and when it is stale: nobody watched for stale_after (10 min), so that nobody knows. One with too few events to tell, or left out, is neither met nor missed; the last line says so. --min-budget is not held when nothing is known of the budget.

Exit codes: 0 every objective and budget held, or nothing was decided (the last line says so); 1 one did not; 2 wrong usage or configuration; 3 none of all requests was answered, or of a run nothing came, no failure either; 4 with --strict (on where CI is set), when nothing was decided.`
}

// Run checks.
func (c *sloCheckCmd) Run(a *app) error {
	results, err := c.evaluate(a, c.AllowStale)
	if err != nil {
		return err
	}
	gates, err := c.gates(results.Objectives)
	if err != nil {
		return err
	}
	trust, objectives, err := c.shown(a, results)
	if err != nil {
		return err
	}
	for _, r := range results.Objectives {
		if r.State == slo.Stale {
			a.say("tokenmeter slo check: %s, %s: not held: stale. %s (--allow-stale judges what there is)", r.Name, r.Source, r.Says)
		}
	}
	for _, g := range gates {
		a.say("tokenmeter slo check: %s", g)
	}
	f := trust.requests
	f.Gates.Missed = len(gates)
	asked := map[string][]string{}
	for _, o := range objectives {
		asked[o.Name] = o.Metrics()
	}
	for _, r := range results.Objectives {
		state := "open"
		if r.State == slo.Stale {
			state = "missed" // what nobody watched is no pass
		} else if r.Met != nil {
			state = map[bool]string{true: "met", false: "missed"}[*r.Met]
		}
		verdict, because := trust.void(asked[r.Name])
		if verdict != "" && f.Measurement != validity.Invalid {
			f.Measurement, f.Doubt = verdict, because
		}
		f.Gates.Add(state, verdict != "")
	}
	for _, o := range objectives {
		if !slices.ContainsFunc(results.Objectives, func(r slo.Result) bool { return r.Hash == o.Hash }) {
			f.Gates.Open++ // it was left out
		}
	}
	f.Strict = c.Strict
	return decided(f)
}

// gates says which budgets are too small.
func (c *sloCheckCmd) gates(results []slo.Result) (broken []string, err error) {
	var check checker
	for _, text := range c.MinBudget {
		name, share, ok := strings.Cut(text, "=")
		least, shareErr := slo.ParseShare(share)
		known := slices.ContainsFunc(results, func(r slo.Result) bool { return r.Name == name })
		switch {
		case !ok || shareErr != nil:
			check.addf("--min-budget %q: write NAME=P, like chat-tpot=20%%", text)
			continue
		case !known:
			check.addf("--min-budget %s: no objective is called %q", text, name)
			continue
		}
		for _, r := range results {
			if r.Name != name || r.Group != "" {
				continue
			}
			switch left, ok := r.BudgetRemaining.Get(); {
			case !ok || r.State == slo.Stale:
				broken = append(broken, fmt.Sprintf("--min-budget %s: not held: nothing is known of the %s budget (%s)", text, r.Source, r.State))
			case left < least:
				broken = append(broken, fmt.Sprintf("--min-budget %s: not held: %s of the %s budget is left", text, slo.AtMost(left), r.Source))
			}
		}
	}
	return broken, check.err()
}

// Run reports.
func (c *sloReportCmd) Run(a *app) error {
	results, err := c.evaluate(a, false)
	if err != nil {
		return err
	}
	_, _, err = c.shown(a, results)
	return err
}

// shown writes the result, and says which runs can't vouch for it.
func (c *sloSource) shown(a *app, results slo.Document) (t sloTrust, objectives []*slo.Objective, err error) {
	if t, err = c.trust(); err != nil {
		return t, nil, err
	}
	if objectives, err = readObjectives(c.Config, c.Objective); err != nil {
		return t, nil, err
	}
	t.warn(a, objectives) // before the figures that it is about
	if c.Format != "" && c.Format != "table" {
		t.note(results.Objectives, objectives)
	}
	if err = writeSLO(a.stdout, c.Format, results); err == nil && (c.Format == "" || c.Format == "table") {
		err = c.whyMissed(a, results, objectives)
	}
	return t, objectives, err
}

// whyMissed says of each run which requests missed the objectives that it did not keep,
// what failed, and where to look next.
func (c *sloSource) whyMissed(a *app, results slo.Document, objectives []*slo.Objective) error {
	missed := map[string]bool{}
	for _, r := range results.Objectives {
		if r.Met != nil && !*r.Met {
			missed[r.Name] = true
		}
	}
	var promises []objective.Objective
	for _, o := range objectives {
		if missed[o.Name] {
			promises = append(promises, o.Promises...)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	s := a.screen(a.stdout, c.NoColor)
	return report.Reasons(a.stdout, c.Runs, func(dir string) []string {
		beyond, failed := why(dir, timed(promises))
		return append(beyond, failed, oneByOne(dir))
	},
		report.Options{Width: s.width, Color: s.color, ASCII: s.ascii})
}

// Run writes rules.
func (c *sloRulesCmd) Run(a *app) error {
	objectives, err := readObjectives(c.Config, nil)
	if err != nil {
		return err
	}
	var write func(io.Writer) error
	switch c.As {
	case "", "prometheus":
		write = func(w io.Writer) error { return rules.Prometheus(w, objectives) }
	case "promtool":
		write = func(w io.Writer) error { return rules.PromtoolTests(w, c.Rules, objectives) }
	case "kubernetes":
		write = func(w io.Writer) error { return rules.Kubernetes(w, objectives) }
	case "datadog-monitors":
		write = func(w io.Writer) error {
			left, err := rules.DatadogMonitors(w, objectives)
			for _, why := range left {
				a.note("%s", why)
			}
			return err
		}
	case "openslo":
		write = func(w io.Writer) error {
			err := rules.OpenSLO(w, objectives)
			if clash := (*rules.NameError)(nil); errors.As(err, &clash) {
				return &usageError{fmt.Errorf("%s: %w", c.Config, err)}
			}
			return err
		}
	case "datadog":
		write = func(w io.Writer) error { return rules.Datadog(w, objectives) }
	default:
		return &usageError{fmt.Errorf("--as %q: choose prometheus, kubernetes, promtool, datadog, datadog-monitors or openslo", c.As)}
	}
	return a.put(c.Out, c.Force, write)
}

// evaluate reads objectives and counts and judges them; allowStale: also where
// nobody watched lately.
func (c *sloSource) evaluate(a *app, allowStale bool) (slo.Document, error) {
	doc := slo.Document{Schema: slo.Schema}
	var check checker
	c.checkShared(&check, forms...)
	switch {
	case len(c.Runs) > 0 && c.Store != "":
		check.addf("--store: give runs or a store, not both")
	case len(c.Runs) == 0 && c.Store == "":
		check.addf("there is nothing to look at; name run folders, or --store for live data")
	}
	if c.Daemon != "" && !postgres.Is(c.Store) {
		check.addf("--daemon: only a history in PostgreSQL (--store postgres://…) is of several daemons; leave it out")
	}
	now, at := time.Now(), time.Time{}
	if c.At != "" {
		t, err := parseMoment(c.At)
		if err != nil {
			check.addf("--at %q: write a time like 2026-03-01T12:00:00Z", c.At)
		}
		at = t
	}
	objectives, err := readObjectives(c.Config, c.Objective)
	check.add(err)
	if err := check.err(); err != nil {
		return doc, err
	}
	for _, o := range objectives {
		if allowStale {
			o.StaleAfter = 0
		}
	}
	if len(c.Runs) == 0 {
		return c.fromStore(objectives, now, at)
	}
	memory := &slo.Memory{Until: at}
	objectives = slices.DeleteFunc(objectives, func(o *slo.Objective) bool {
		live := slices.ContainsFunc(o.Promises, func(p objective.Objective) bool { return p.OfProxies() })
		if live {
			a.say("tokenmeter slo: %s is left out: runs have no delivered_ttft, only live requests do", o.Name)
		}
		return live
	})
	for _, o := range objectives {
		o.Sources = []slo.Source{slo.Run}
	}
	if c.Runs, now, err = tallyRuns(a, c.Runs, objectives, memory); err != nil {
		return doc, err
	}
	// The window holds what came before its end: also the request that ended last.
	if now = now.Add(time.Microsecond); !at.IsZero() {
		now = at
	}
	doc.At = now.UTC()
	doc.Objectives = slo.Evaluate(objectives, memory, now)
	return doc, nil
}

// readObjectives reads a file and texts of the command line.
func readObjectives(path string, texts []string) ([]*slo.Objective, error) {
	if path == "" && len(texts) == 0 {
		return nil, &usageError{errors.New("there is no objective; name a file with --config, or give --objective")}
	}
	var all []*slo.Objective
	if path != "" {
		data, err := limitio.File(path, 16<<20)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--config: %w", err)}
		}
		objectives, _, err := slo.Load(path, data)
		if err != nil {
			return nil, &usageError{err}
		}
		all = objectives
	}
	if len(texts) > 0 {
		var yaml strings.Builder
		yaml.WriteString("objectives:\n")
		for i, text := range texts {
			fmt.Fprintf(&yaml, "  - {name: objective-%d, objective: '%s'}\n", i+1, strings.ReplaceAll(text, "'", "''"))
		}
		objectives, _, err := slo.Load("--objective", []byte(yaml.String()))
		if err != nil { // its lines and columns are none that the user wrote
			return nil, &usageError{errors.New(madePlace().ReplaceAllString(err.Error(), "--objective: "))}
		}
		all = append(all, objectives...)
	}
	return all, nil
}

var madePlace = pattern.Lazy(`(?m)^--objective:\d+:\d+: `)

// fromStore judges live data as of a moment; zero: now.
func (c *sloSource) fromStore(objectives []*slo.Objective, now, until time.Time) (slo.Document, error) {
	at := until
	if at.IsZero() {
		at = now
	}
	doc := slo.Document{Schema: slo.Schema, At: at.UTC()}
	ctx := context.Background()
	stores, closeAll, err := c.openStores(ctx)
	if err != nil {
		return doc, &usageError{err}
	}
	defer closeAll()
	memory, err := history.LoadUntil(ctx, stores, now, until)
	if err != nil {
		return doc, err
	}
	doc.Objectives = slo.Evaluate(objectives, memory, at)
	return doc, history.Percentiles(ctx, stores, objectives, doc.Objectives, until)
}

// openStores opens what --store names, to be read.
func (c *sloSource) openStores(ctx context.Context) (stores []history.Reader, closeAll func(), err error) {
	if postgres.Is(c.Store) {
		if stores, closeAll, err = postgres.OpenReadOnly(ctx, c.Store, c.Daemon); err != nil {
			return nil, nil, fmt.Errorf("--store: %w", err)
		}
		return stores, closeAll, nil
	}
	db, err := sqlite.OpenReadOnly(c.Store)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("--store %s: there is no such file; tokenmeter serve writes it", secret.RedactURL(c.Store))
	case err != nil:
		return nil, nil, fmt.Errorf("--store: %w", err)
	}
	return []history.Reader{db}, func() { db.Close() }, nil
}

// writeSLO writes a report.
func writeSLO(w io.Writer, format string, doc slo.Document) error {
	switch format {
	case "json":
		return slo.WriteJSON(w, doc)
	case "csv":
		return slo.WriteCSV(w, doc)
	case "markdown":
		return slo.WriteMarkdown(w, doc)
	}
	var b strings.Builder
	slo.WriteTable(&b, doc)
	_, err := io.WriteString(w, printable.Lines(b.String()))
	return err
}

// tallyRuns counts the requests of runs, each run once however often it is named,
// and returns those that it counted and when the last one ended.
func tallyRuns(a *app, paths []string, objectives []*slo.Objective, memory *slo.Memory) (kept []string, last time.Time, err error) {
	var counted run.Counted
	for _, path := range paths {
		f, err := run.Open(path)
		if err != nil {
			return nil, last, err
		}
		r := f.Run()
		if r.Started.IsZero() {
			r.ID = run.Absolute(path) // a run whose manifest is lost is known by its folder only
		}
		switch first, whole := counted.Add(&r, path); {
		case whole:
			f.Close()
			a.say("tokenmeter slo: %s is the same run as %s, or a part of it, and is counted once", path, first)
			continue
		case first != "":
			f.Close()
			return nil, last, &usageError{fmt.Errorf("%s and %s have requests of one run, which would count twice: name one of the two", first, path)}
		}
		end, err := slo.TallyRun(f.Run().Started, f.Timelines(), objectives, memory)
		f.Close()
		if err != nil {
			return nil, last, err
		}
		kept = append(kept, path)
		if end.After(last) {
			last = end
		}
	}
	return kept, last, nil
}

// parseMoment reads a time as users give it. It is never the zero time, which
// stands for one that was not given: in its place is the moment after.
func parseMoment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err == nil && t.IsZero() {
		t = t.Add(1)
	}
	return t, err
}
