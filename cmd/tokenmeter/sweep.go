package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tokenmeter/base/process"
	"tokenmeter/base/secret"
	"tokenmeter/load/bench"
	"tokenmeter/load/method"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/exit"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
)

// Run sweeps, or searches.
func (c *sweepCmd) Run(a *app) error {
	defer process.BoundGarbage()()
	job, err := c.job(a)
	if err != nil {
		return err
	}
	if !c.Quiet {
		c.warnSecrets(a)
		c.told(a, &job.plan)
	}
	if c.Demo {
		stop, err := c.demo(&job.plan)
		if err != nil {
			return err
		}
		defer stop()
		if bounded := c.Requests != "" || c.Duration != ""; !bounded && (c.Find || job.way != nil) {
			job.plan.Requests, job.plan.Duration = 0, 0 // the search, or the method, knows how long
		}
	}
	c.detect(&job.plan)
	c.reached(job.cells, job.plan)
	s := c.begun(job)
	held, err := sweep.Create(c.Out, "", s, c.Force)
	if err != nil {
		return err
	}
	defer held.Close()
	job.plan.Force, job.plan.Name = false, ""
	view := a.progress(c.Quiet, c.NoColor, c.Demo, job.plan)
	ctx, end := interruptible(func() {
		view.say("stopping; what was measured is being saved (once more: leave at once)")
	})
	defer end()
	switch {
	case job.way != nil:
		err = c.follow(ctx, view, job, s)
	case c.Find:
		err = c.find(ctx, view, job.search, c.subject(job.plan, job, s), s)
	default:
		err = c.grid(view, job, job.cells, s).Run(ctx, s)
	}
	view.close()
	return c.conclude(a, s, err)
}

// sweepJob is what is to be measured.
type sweepJob struct {
	plan     bench.Plan
	axes     []axis
	cells    []sweep.Cell // nil where a search or a method makes them
	way      *method.Method
	search   sweep.Search          // of --find, or of a method that searches
	promises []objective.Objective // of the flags, or of the method
	variable string
	repeats  int
	settle   time.Duration
	gpus     int // 0: not told
}

// job reads the flags, and finds all that is wrong before anything is made or sent.
func (c *sweepCmd) job(a *app) (*sweepJob, error) {
	var check checker
	j := &sweepJob{way: c.method(&check), axes: c.axes(&check), search: c.search(&check), settle: c.settle(&check),
		repeats: max(check.count("--repeat", c.Repeats, 1), 1), gpus: new(checker).count("--gpus", c.GPUs, 1)} // the plan tells what is wrong with --gpus
	var err error
	c.sweeps = true
	c.searchesRate = c.Find && c.Variable != sweep.Concurrency
	j.plan, err = c.plan(a)
	c.misfits(&j.plan, j.axes, j.way, &check)
	if err == nil && j.way == nil {
		j.cells = c.cells(a, j.axes, &check)
	}
	if err := errors.Join(check.err(), err); err != nil {
		return nil, err
	}
	j.promises, j.search.Objectives = j.plan.Objectives, j.plan.Objectives
	searching, cells := c.Find, j.cells
	switch {
	case j.way != nil:
		o, steps, err := c.prepare(j)
		if err != nil {
			return nil, err
		}
		j.variable, j.promises, cells = j.way.Variable, o.Base.Objectives, steps.Cells
		if searching = steps.Search != nil; searching {
			j.search = *steps.Search
		}
	case c.Find:
		j.variable = cmp.Or(j.search.Variable, sweep.Rate)
	default:
		j.variable = j.axes[mainAxis(j.axes)].name
	}
	if searching {
		check.add(j.search.Check())
		c.judged(j, &check)
		cells = append(cells, first(j))
	} else {
		c.idle(&check)
	}
	if runs := float64(len(cells)) * float64(j.repeats); runs > mostRuns {
		check.addf("--repeat %d of %d points makes %.0f runs: at most %d", j.repeats, len(cells), runs, mostRuns)
	}
	possible(cells, j.variable, &check)
	return j, check.err()
}

// begun is the sweep before its first point.
func (c *sweepCmd) begun(j *sweepJob) *result.Sweep {
	plan := &j.plan
	s := &result.Sweep{Name: c.Name, Version: plan.Version, Seed: plan.Seed, Axes: []string{}, Variable: j.variable,
		Command: secret.ForTarget(plan.Client.BaseURL, plan.Client.Header, plan.Client.Key).Args(plan.Command), Planned: len(j.cells) * j.repeats}
	for i := range j.cells {
		of := &j.cells[i].Plan.Client
		s.Command = secret.ForTarget(of.BaseURL, of.Header, of.Key).Args(s.Command)
	}
	for _, x := range j.axes {
		s.Axes = append(s.Axes, x.name)
	}
	if j.gpus > 0 {
		s.GPUs = timeline.Some(int64(j.gpus))
	} else if plan.Pricing != nil {
		s.GPUs = plan.Pricing.GPUs
	}
	if plan.Hardware != nil {
		s.Hardware = plan.Hardware.Name
	}
	for _, o := range j.promises {
		s.Objectives = append(s.Objectives, o.Text)
	}
	return s
}

// grid measures points one after the other.
func (c *sweepCmd) grid(view progress, j *sweepJob, cells []sweep.Cell, s *result.Sweep) *sweep.Grid {
	return &sweep.Grid{Variable: s.Variable, Cells: cells, Repeats: j.repeats, Seed: j.plan.Seed, SettleTime: j.settle, Ordered: c.Ordered,
		Begins: func(cell *sweep.Cell, made, planned int) {
			c.tell(view, beginLine(cell, s.Variable, made, planned, s.Started))
		},
		Told: func(p result.Point) { c.tell(view, "      "+report.SweepPoint(s, &p)) }}
}

// tell is progress: a line a point or probe.
func (c *sweepCmd) tell(view progress, line string) {
	if !c.Quiet {
		view.say(line)
	}
}

// possible looks at all points before the first one is made: an hour of a sweep
// is not to end at a point that can't be.
func possible(cells []sweep.Cell, variable string, check *checker) {
	bad := 0
	var first error
	for i := range cells {
		p := cells[i].Plan
		p.Client.API = cmp.Or(p.Client.API, api.OpenAIChat) // it is looked for later
		if err := bench.Check(p); err != nil {
			if bad++; bad == 1 {
				first = fmt.Errorf("%s: %w", pointWords(&cells[i], variable), err)
			}
		}
	}
	switch {
	case bad == 1:
		check.add(first)
	case bad > 1:
		check.addf("%d of %d points can't be measured; %w", bad, len(cells), first)
	}
}

// pointWords names a point.
func pointWords(c *sweep.Cell, variable string) string {
	if len(c.Settings) == 0 {
		return variable + " " + c.Text
	}
	words := make([]string, len(c.Settings))
	for i, x := range c.Settings {
		words[i] = x.Name + " " + x.Value
	}
	return strings.Join(words, " ")
}

// beginLine names the point that is next, and says how long the rest may take: as long
// for each as the ones before.
func beginLine(c *sweep.Cell, variable string, made, planned int, from time.Time) string {
	line := fmt.Sprintf("%d/%d  %s", made+1, planned, pointWords(c, variable))
	if made > 0 && !from.IsZero() {
		left := time.Since(from) / time.Duration(made) * time.Duration(planned-made)
		line += fmt.Sprintf("   about %s left", left.Round(time.Second))
	}
	return line
}

// reached points the cells at the server that the plan was found to have, and
// asks each further one which API it has.
func (c *sweepCmd) reached(cells []sweep.Cell, plan bench.Plan) {
	known := map[string]*api.API{c.URL: plan.Client.API}
	for i := range cells {
		p := &cells[i].Plan
		if c.Demo {
			p.Client.BaseURL = plan.Client.BaseURL
			p.Requests, p.Duration = plan.Requests, plan.Duration
		}
		url := p.Client.BaseURL
		if c.Demo {
			url = c.URL
		}
		if known[url] == nil {
			one := c.benchCmd
			one.URL = url
			one.detect(p)
			known[url] = p.Client.API
		}
		p.Client.API = known[url]
	}
}

// conclude shows the sweep and settles the exit code.
func (c *sweepCmd) conclude(a *app, s *result.Sweep, err error) error {
	if errors.Is(err, sweep.ErrLate) {
		err = nil
		if c.Strict {
			err = &codedError{code: exitInvalid, text: s.Found.Why + " (--strict)"}
		}
	}
	if errors.Is(err, bench.ErrInterrupted) {
		err = fmt.Errorf("%w; %s", err, kept(s))
	}
	if len(s.Points) == 0 {
		return err
	}
	if c.HTML.Asked {
		err = worse(err, writeFile(c.HTML.path(s.Dir, result.Page), true, func(w io.Writer) error { return report.SweepHTML(w, s) }))
	}
	format := cmp.Or(c.Format, "table")
	if format != "table" && !c.Quiet {
		a.warn("saved %s", s.Dir)
	}
	err = worse(err, a.showSweep(format, s, c.NoColor))
	return worse(err, c.verdict(s))
}

// kept says what is left of a sweep that was stopped, and how to see it.
func kept(s *result.Sweep) string {
	made := len(s.Points)
	if made == 0 {
		return "nothing was measured"
	}
	text := fmt.Sprintf("%d of %s", made, typeset.Plural(int64(s.Planned), "point"))
	if s.Searched() {
		text = fmt.Sprintf("the runs of the search so far (%d)", made)
	}
	return fmt.Sprintf("kept: %s, see %s", text, report.Command(s.Dir))
}

// verdict is the exit code of what was measured: an invalid point says nothing of
// objectives, and a sweep has missed them where all its points have, or failed. The probes of a
// search are no points to judge; it says itself what they show.
func (c *sweepCmd) verdict(s *result.Sweep) error {
	points, invalid := 0, 0
	var all exit.Facts
	var at exit.Gates // points by what became of their objectives together
	for i := range s.Points {
		p := &s.Points[i]
		all = all.And(exit.OfRequests(&p.Requests))
		if p.Place == 0 || p.Run == "" {
			continue
		}
		points++
		if verdict, _ := asked(p.Goodput, &p.Validity); verdict == validity.Invalid {
			invalid++
		}
		_, silent := p.Silent()
		switch g := objectivesOf(p.Goodput, &p.Validity); {
		case g.Missed > 0, p.TargetFailed, silent:
			at.Missed++
		case g.Open > 0:
			at.Open++
		case g.Void > 0:
			at.Void++
		case g.Met > 0:
			at.Met++
		}
	}
	switch { // one gate in all: does any load keep the objectives?
	case s.Searched() && s.Found.NoneHolds():
		all.Gates.Missed = 1
	case s.Searched() && s.Found.Holds.OK(), at.Met > 0:
		all.Gates.Met = 1
	case at.Void > 0 && at.Open == 0:
		all.Gates.Void = 1
	case s.Searched(), at.Open > 0:
		all.Gates.Open = 1
	case at.Missed > 0 && at.Missed == points:
		all.Gates.Missed = 1
	}
	all.Strict = c.Strict
	if invalid > 0 {
		all.Measurement, all.Doubt = validity.Invalid, fmt.Sprintf("points are invalid: %d of %d, see their checks", invalid, points)
	}
	return decided(all)
}

// showSweep prints a sweep to stdout.
func (a *app) showSweep(format string, s *result.Sweep, noColor bool) error {
	switch format {
	case "json":
		return report.SweepJSON(a.stdout, s)
	case "csv":
		return report.SweepCSV(a.stdout, s)
	case "markdown":
		return report.SweepMarkdown(a.stdout, s)
	}
	screen := a.screen(a.stdout, noColor)
	return report.SweepTerminal(a.stdout, s, report.Options{
		Width: screen.width, Whole: !screen.terminal, Color: screen.color, ASCII: screen.ascii, Dir: s.Dir, Link: screen.link(s.Dir),
	})
}
