package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/api"
	"tokenmeter/bench"
	"tokenmeter/report"
	"tokenmeter/run"
	"tokenmeter/secret"
	"tokenmeter/sweep"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
)

// Run sweeps, or searches.
func (c *sweepCmd) Run(a *app) error {
	var check checker
	way := c.method(&check)
	axes := c.axes(&check)
	search := c.search(&check)
	settle := c.settle(&check)
	repeats := check.count("--repeat", c.Repeats, 1)
	plan, err := c.plan(a)
	c.misfits(&plan, axes, way, &check)
	var cells []sweep.Cell
	if err == nil && way == nil {
		cells = c.cells(a, axes, &check)
	}
	possible(cells, axes, &check)
	if err := errors.Join(check.err(), err); err != nil {
		return &usageError{err}
	}
	if way != nil {
		if _, err := way.Prepare(methodOptions(plan, axes)); err != nil {
			return &usageError{err}
		}
	}
	search.Objectives = plan.Objectives
	if c.Find {
		if err := search.Check(); err != nil {
			return &usageError{err}
		}
	}
	if !c.Quiet {
		c.warnSecrets(a)
	}
	if c.Demo {
		given := c.Requests != "" || c.Duration != ""
		stop, err := c.demo(&plan)
		if err != nil {
			return err
		}
		defer stop()
		if !given && c.Find {
			plan.Requests, plan.Duration = 0, 0
		}
	}
	c.detect(&plan)
	c.reached(cells, plan)
	s := &result.Sweep{Name: c.Name, Version: plan.Version, Seed: plan.Seed, Axes: []string{},
		Command: secret.ForTarget(plan.Client.BaseURL, plan.Client.Header, plan.Client.Key).Args(plan.Command), Planned: len(cells) * max(repeats, 1)}
	for i := range cells {
		of := &cells[i].Plan.Client
		s.Command = secret.ForTarget(of.BaseURL, of.Header, of.Key).Args(s.Command)
	}
	for _, x := range axes {
		s.Axes = append(s.Axes, x.name)
	}
	switch {
	case way != nil:
		s.Variable = way.Variable
	case c.Find:
		s.Variable = search.Variable
		if s.Variable == "" {
			s.Variable = sweep.Rate
		}
	default:
		s.Variable = axes[mainAxis(axes)].name
	}
	if n := check.count("--gpus", c.GPUs, 1); n > 0 {
		s.GPUs = timeline.Some(int64(n))
	} else if plan.Pricing != nil {
		s.GPUs = plan.Pricing.GPUs
	}
	for _, o := range plan.Objectives {
		s.Objectives = append(s.Objectives, o.Text)
	}
	if err := sweep.Create(c.Out, "", s, c.Force); err != nil {
		return err
	}
	plan.Force, plan.Name = false, ""
	view := a.progress(c.Quiet, c.NoColor, c.Demo, plan)
	ctx, end := interruptible(func() {
		view.say("stopping; what was measured is being saved (once more: leave at once)")
	})
	defer end()
	switch {
	case way != nil:
		err = c.follow(ctx, view, way, plan, axes, settle, s)
	case c.Find:
		err = c.find(ctx, view, search, plan, settle, s)
	default:
		grid := sweep.Grid{Variable: s.Variable, Cells: cells, Repeats: repeats, Seed: plan.Seed, SettleTime: settle, Ordered: c.Ordered}
		grid.Begins = func(cell *sweep.Cell, made, planned int) { view.say(beginLine(cell, s.Variable, made, planned)) }
		err = grid.Run(ctx, s)
	}
	view.close()
	return c.conclude(a, s, err)
}

// possible looks at all points before the first one is made: an hour of a sweep
// is not to end at a point that can't be.
func possible(cells []sweep.Cell, axes []axis, check *checker) {
	bad := 0
	var first error
	for i := range cells {
		p := cells[i].Plan
		if p.Client.API == nil {
			p.Client.API = api.OpenAIChat // it is looked for later
		}
		if err := bench.Check(p); err != nil {
			if bad++; bad == 1 {
				first = fmt.Errorf("%s: %w", pointWords(&cells[i], axes[mainAxis(axes)].name), err)
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

// find searches and keeps every probe as a point of the sweep.
func (c *sweepCmd) find(ctx context.Context, view progress, search sweep.Search, plan bench.Plan, settle time.Duration, s *result.Sweep) error {
	began := time.Now()
	subject := &sweep.Server{Plan: plan, Variable: s.Variable, Dir: s.Dir, SettleTime: settle, SettleTotal: search.MaxTime / 10}
	if settle == 0 {
		subject.SettleTime = min(time.Minute, search.MaxTime/20) // the time is for the search
	}
	subject.Made = func(load float64, r *run.Run, unsettled string) {
		p := sweep.PointOf(r, load)
		p.Text, p.Run, p.Unsettled = fmt.Sprintf("%g", load), filepath.Base(r.Dir), unsettled
		s.Insert(p)
		if s.Target == (run.Target{}) {
			s.Target = r.Target
		}
	}
	search.Now = func() time.Duration { return time.Since(began) }
	search.Told = func(p sweep.Probe) { view.say(probeLine(s.Variable, p)) }
	found, err := search.Run(ctx, subject)
	s.Found = found.Result(s.Objectives)
	s.Conclude()
	s.Planned = len(s.Points)
	if err == nil || errors.Is(err, sweep.ErrLate) {
		now := time.Now().UTC().Round(0)
		s.Finished, s.Partial = &now, false
	}
	if errors.Is(err, sweep.ErrLate) {
		why := err.Error()
		if s.Found.Why != "" {
			why = s.Found.Why + "; " + why
		}
		s.Found.Why = why
	}
	if saveErr := sweep.Save(s); err == nil {
		err = saveErr
	}
	return err
}

func beginLine(c *sweep.Cell, variable string, made, planned int) string {
	return fmt.Sprintf("%d/%d  %s", made+1, planned, pointWords(c, variable))
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

func probeLine(variable string, p sweep.Probe) string {
	line := fmt.Sprintf("%s %.4g  %s", variable, p.Load, p.Says)
	if p.Repeat {
		line += " again"
	}
	if share, ok := p.GoodShare(); ok {
		line += fmt.Sprintf("  %.1f %% good of %d", 100*share, p.Requests)
	}
	if p.Grows {
		line += ", requests pile up"
	}
	for _, note := range []string{p.Unsettled, p.Note} {
		if note != "" {
			line += "; " + note
		}
	}
	return line
}

// conclude shows the sweep and settles the exit code.
func (c *sweepCmd) conclude(a *app, s *result.Sweep, err error) error {
	if errors.Is(err, sweep.ErrLate) {
		err = nil
		if c.Strict {
			err = &codedError{code: exitInvalid, text: s.Found.Why + " (--strict)"}
		}
	}
	if len(s.Points) == 0 {
		return err
	}
	if c.HTML {
		err = worse(err, writeFile(filepath.Join(s.Dir, "sweep.html"), true, func(w io.Writer) error { return report.SweepHTML(w, s) }))
	}
	format := c.Format
	if format == "" {
		format = "table"
	}
	if format != "table" && !c.Quiet {
		a.warn("saved %s", s.Dir)
	}
	err = worse(err, a.showSweep(format, s, c.NoColor))
	return worse(err, sweepVerdict(s, c.Find))
}

// sweepVerdict: a search that found no load that holds has failed.
func sweepVerdict(s *result.Sweep, find bool) error {
	if find && s.Found != nil && !s.Found.Holds.OK() && s.Found.Fails.OK() {
		return &codedError{code: exitMissed, said: true}
	}
	return nil
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
		Width: screen.width, Color: screen.color, ASCII: screen.ascii, Dir: s.Dir, Link: screen.terminal && screen.color,
	})
}
