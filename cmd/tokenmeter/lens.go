package main

import (
	"errors"
	"slices"
	"strings"

	"tokenmeter/reader/report"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// lens shows a run under the definitions of other tools.
func (c *reportCmd) lens(a *app, f *run.Folder, sum *run.Run) error {
	if sum.Told != nil {
		return errors.New("a lens needs requests, and this run has another tool's figures of the whole alone: leave out --lens")
	}
	facts := lens.Facts{Summary: &sum.Summary, Imported: sum.Tags["imported"] != "", Limits: lensLimits(sum.Objectives)}
	if sum.Load.Kind == "closed" {
		facts.Concurrency = sum.Load.Concurrency
	}
	if sum.Goodput != nil {
		facts.GoodFraction, facts.GoodPerS = sum.Goodput.Fraction, sum.Goodput.RequestsPerS
	}
	var broken error
	requests := func(yield func(*timeline.Timeline) bool) {
		for tl, err := range f.Timelines() {
			if err != nil {
				broken = err
				return
			}
			if !yield(tl) {
				return
			}
		}
	}
	var names []string
	for _, name := range strings.Split(c.Lens, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	tables, err := lens.Apply(names, requests, facts)
	if err != nil {
		return err
	}
	if broken != nil {
		return broken
	}
	if c.Format == "json" {
		return typeset.JSON(a.stdout, tables)
	}
	s := a.screen(a.stdout, c.NoColor)
	show := report.Lens
	if slices.Contains(names, "all") {
		show = report.Lenses
	}
	return show(a.stdout, tables, report.Options{Width: s.width, Color: s.color, ASCII: s.ascii})
}

// lensLimits are the objectives that the tools can express.
func lensLimits(texts []string) lens.Limits {
	var l lens.Limits
	objectives, err := objective.ParseAll(texts)
	if err != nil {
		return l
	}
	for _, o := range objectives {
		if o.Op != "<" && o.Op != "<=" {
			continue
		}
		switch o.Metric {
		case "ttft":
			l.TTFTMS = timeline.Some(o.Limit)
		case "tpot":
			l.TPOTMS = timeline.Some(o.Limit)
		case "e2e":
			l.E2EMS = timeline.Some(o.Limit)
		}
	}
	return l
}
