package objective

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Gaps gives the pooled gaps of a run, by the metric's name in files.
// *metric.Collector is one.
type Gaps interface {
	Gaps(name string) *stat.Counted
}

// Goodput returns the results; nil without objectives. The summary gives the
// run's own figures and the window; gaps may be nil when no objective is about
// them.
func (j *Judge) Goodput(s *metric.Summary, gaps Gaps) *Goodput {
	if len(j.objectives) == 0 {
		return nil
	}
	g := &Goodput{Good: j.good, Bad: j.bad, ExcludedBy: map[string]int64{}}
	for name, n := range j.excludedBy {
		g.ExcludedBy[name] = n
		g.Excluded += n
	}
	j.order.Prepare()
	if bad := j.order.Series(&j.verdicts); len(bad.Values) > 0 {
		good, ci, _ := shareOf(bad)
		g.Fraction, g.FractionCI95 = timeline.Some(good), &ci
	}
	g.RequestsPerS = timeline.Map(s.Throughput.WindowS, func(s float64) float64 { return float64(g.Good) / s })
	for i := range j.objectives {
		g.Objectives = append(g.Objectives, j.result(i, g, s, gaps))
	}
	return g
}

func (j *Judge) result(i int, g *Goodput, s *metric.Summary, gaps Gaps) ObjectiveResult {
	o, t := &j.objectives[i], &j.tallies[i]
	r := ObjectiveResult{Text: o.Text, Metric: o.Metric, Limit: o.Limit}
	r.Percentile = timeline.Maybe(o.Percentile, o.Percentile > 0)
	switch subject := o.subject(); subject.class {
	case ofRatio:
		j.ratio(o, t, &r)
	case ofRun:
		j.ofRun(o, subject, g, s, &r)
	case ofGaps:
		r.Attained = t.attained()
		j.ofGaps(o, t, pooled(gaps, subject.key), s.Metrics[subject.key], &r)
	case ofSession:
		j.ofSessions(o, &r)
	default:
		r.Attained = t.attained()
		j.ofValues(o, j.order.Series(&t.values), &r)
	}
	if o.Criterion {
		r.State, r.Met, r.Settled = "", timeline.Opt[bool]{}, timeline.Opt[bool]{}
	}
	return r
}

func (t *tally) attained() timeline.Opt[float64] {
	return timeline.Maybe(float64(t.good)/float64(t.good+t.bad), t.good+t.bad > 0)
}

func pooled(gaps Gaps, key string) *stat.Counted {
	if gaps == nil {
		return nil
	}
	return gaps.Gaps(key)
}

// ratio fills the result of an objective on a share.
func (j *Judge) ratio(o *Objective, t *tally, r *ObjectiveResult) {
	series := &t.verdicts
	switch o.Metric {
	case "goodput":
		series = &j.verdicts
	case "error_rate":
		// What the client itself broke is not charged to the server.
		series = &j.outcomes
	}
	bad := j.order.Series(series)
	switch o.Metric {
	case "check_pass":
		if t.good+t.bad == t.failures { // no request had a check
			bad = &stat.Series{}
		}
	case "task_success":
		bad = &stat.Series{Values: j.taskVerdicts(o)}
	}
	if r.N = int64(len(bad.Values)); r.N == 0 {
		r.State = Open
		return
	}
	good, ci, beyond := shareOf(bad)
	value, lo, hi := good, 1-beyond.Hi, 1-beyond.Lo
	if o.Metric == "error_rate" {
		value, lo, hi = beyond.Value, beyond.Lo, beyond.Hi
		ci = [2]float64{1 - ci[1], 1 - ci[0]}
	}
	r.Attained, r.Value, r.CI95 = timeline.Some(good), timeline.Some(value), &ci
	r.Worth = timeline.Some(beyond.Effective)
	j.decide(r, o.Holds(lo) && o.Holds(hi), !o.Holds(lo) && !o.Holds(hi), o.Holds(value))
}

// ofRun fills the result of an objective on a figure of the run.
func (j *Judge) ofRun(o *Objective, s *subject, g *Goodput, sum *metric.Summary, r *ObjectiveResult) {
	if s.name == goodputRate {
		r.Value = g.RequestsPerS
	} else {
		r.Value = s.run(sum)
	}
	r.N = sum.Requests.OK + sum.Requests.Failed
	v, ok := r.Value.Get()
	if !ok {
		r.State = Open
		return
	}
	r.reach(o.Holds(v))
}
