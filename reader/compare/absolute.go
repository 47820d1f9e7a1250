package compare

import (
	"slices"
	"strings"

	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// objectivesOf are the gates that limit a value.
func objectivesOf(gates []Gate) []objective.Objective {
	var list []objective.Objective
	for _, g := range gates {
		if g.Objective != nil {
			list = append(list, *g.Objective)
		}
	}
	return list
}

// absolute judges the candidate's own value as an objective.
func (out *GateResult) absolute(g *Gate, runs []*Run, o *Options) {
	r, ok := judged(g.Objective, runs, o)
	if !ok {
		out.State, out.Says = GateRefused, "the records of the candidate are not known"
		return
	}
	out.Value, out.Settled = r.Value, r.Settled
	if v, ok := r.Value.Get(); ok {
		out.Shown = shownValue(v, r.CI95, g.Objective.Metric)
	}
	switch r.State {
	case objective.Met:
		out.Held, out.State, out.Says = timeline.Some(true), Held, "inside the limit"
	case objective.Missed:
		out.Held, out.State, out.Says = timeline.Some(false), Broken, "beyond the limit"
	default:
		out.State, out.Says = GateRefused, "too few requests to tell"
		return
	}
	switch {
	case anyInvalid(runs, g.Objective.Metric) && out.State == Held:
		out.Held, out.State = timeline.Opt[bool]{}, GateRefused
		out.Says += ", but the measurement is invalid"
	case anyInvalid(runs, g.Objective.Metric):
		out.Says += ", but the measurement is invalid"
	case !out.Settled.Or(true):
		out.Says += ", but not settled"
	}
}

// anyInvalid reports whether a run's measurement of the metric is invalid.
func anyInvalid(runs []*Run, metric string) bool {
	return slices.ContainsFunc(runs, func(r *Run) bool {
		v := validity.Validity{Verdict: r.Facts.Validity, Figures: r.Facts.Figures}
		return v.Of(metric) == validity.Invalid
	})
}

// shownValue writes a value and its interval with its unit.
func shownValue(v float64, ci *[2]float64, name string) string {
	unit, scale := "", 1.0
	if m := measureNamed(name); m != nil && m.kind == ofShare {
		unit, scale = " %", 100
	} else if m != nil {
		unit = " " + m.unit
	}
	digits := func(v float64) string { return strings.TrimPrefix(signed(v*scale), "+") }
	text := digits(v) + unit
	if ci != nil {
		text += " [" + digits(ci[0]) + ", " + digits(ci[1]) + "]"
	}
	return text
}

// judged is an objective's result over all requests of the runs.
func judged(o *objective.Objective, runs []*Run, opts *Options) (objective.ObjectiveResult, bool) {
	if slices.ContainsFunc(runs, isTold) {
		return objective.ObjectiveResult{}, false
	}
	if o.Metric == "goodput" {
		return goodputOf(o, runs, opts)
	}
	first := runs[0]
	at := slices.IndexFunc(first.judged, func(j objective.Objective) bool { return j.Text == o.Text })
	if at < 0 {
		return objective.ObjectiveResult{}, false
	}
	all := objective.NewJudge(first.judged, opts.AllowLowN)
	for _, r := range runs {
		if r.judge == nil || len(r.judged) != len(first.judged) {
			return objective.ObjectiveResult{}, false
		}
		all.Follow(r.judge)
	}
	sum := first.summary
	if len(runs) > 1 {
		sum.Throughput = meanThroughput(runs)
	}
	return all.Goodput(&sum, gapsOf(runs)).Objectives[at], true
}

// goodputOf holds the share of good requests by the run's own objectives.
func goodputOf(o *objective.Objective, runs []*Run, opts *Options) (objective.ObjectiveResult, bool) {
	r := objective.ObjectiveResult{State: objective.Open}
	var list []series
	for _, run := range runs {
		if s := run.series["goodput"]; s != nil {
			list = append(list, s)
		}
	}
	iv := stat.ShareInterval(longRunShare(list), Confidence)
	if !iv.Given {
		return r, true
	}
	r.N, r.Value, r.Worth, r.CI95 = int64(iv.N), timeline.Some(iv.Value), timeline.Some(iv.Effective), &[2]float64{iv.Lo, iv.Hi}
	lo, hi := o.Holds(iv.Lo), o.Holds(iv.Hi)
	if r.Settled = timeline.Some(lo == hi); lo != hi && !opts.AllowLowN {
		return r, true
	}
	r.State = objective.Missed
	if o.Holds(iv.Value) {
		r.State = objective.Met
	}
	return r, true
}

// gapsOf gives the pooled gaps of several runs.
type gapsOf []*Run

func (g gapsOf) Gaps(name string) *stat.Counted {
	c := &stat.Counted{}
	var all []stat.Ordered
	for _, r := range g {
		if l, ok := r.series[name].(*listed); ok {
			all = append(all, l.ordered())
		}
	}
	if len(all) == 0 {
		return nil
	}
	o := merged(all)
	if counted, ok := o.(*stat.Counted); ok {
		return counted
	}
	for i := range o.Len() {
		c.Append(o.At(i), 1)
	}
	return c
}
