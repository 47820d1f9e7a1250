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
	g.Fraction, g.FractionCI95 = shareOf(g.Good, g.Good+g.Bad)
	if window, ok := s.Throughput.WindowS.Get(); ok {
		g.RequestsPerS = timeline.Some(float64(g.Good) / window)
	}
	for i := range j.objectives {
		g.Objectives = append(g.Objectives, j.result(i, g, s, gaps))
	}
	return g
}

func shareOf(part, whole int64) (timeline.Opt[float64], *[2]float64) {
	lo, hi, ok := stat.Wilson(part, whole, 0.95)
	if !ok {
		return timeline.Opt[float64]{}, nil
	}
	return timeline.Some(float64(part) / float64(whole)), &[2]float64{lo, hi}
}

func (j *Judge) result(i int, g *Goodput, s *metric.Summary, gaps Gaps) ObjectiveResult {
	o, t := &j.objectives[i], &j.tallies[i]
	r := ObjectiveResult{Text: o.Text, Metric: o.Metric, Limit: o.Limit}
	if o.Percentile > 0 {
		r.Percentile = timeline.Some(o.Percentile)
	}
	switch subject := o.subject(); subject.class {
	case ofRatio:
		j.ratio(o, t, g, &r)
	case ofRun:
		j.ofRun(o, subject, g, s, &r)
	case ofGaps:
		r.Attained, _ = shareOf(t.good, t.good+t.bad)
		if pool := pooled(gaps, subject.key); pool != nil {
			j.sample(o, extend(pool, failedGaps(t, pool.Len()), o.worst()), &r)
		} else {
			j.sample(o, stat.Sorted{}, &r)
		}
	default:
		r.Attained, _ = shareOf(t.good, t.good+t.bad)
		j.sample(o, extend(&t.values, t.failures, o.worst()), &r)
	}
	if o.Criterion {
		r.State, r.Met, r.Settled = "", timeline.Opt[bool]{}, timeline.Opt[bool]{}
	}
	return r
}

func pooled(gaps Gaps, key string) *stat.Counted {
	if gaps == nil {
		return nil
	}
	return gaps.Gaps(key)
}

func (r *ObjectiveResult) settle(met bool) {
	r.Met, r.State = timeline.Some(met), Missed
	if met {
		r.State = Met
	}
}

// ratio fills the result of an objective on a share.
func (j *Judge) ratio(o *Objective, t *tally, g *Goodput, r *ObjectiveResult) {
	part, whole := t.good, t.good+t.bad
	switch o.Metric {
	case "goodput":
		part, whole = g.Good, g.Good+g.Bad
	case "error_rate":
		// What the client itself broke is not charged to the server.
		part, whole = j.ended-j.failed, j.ended
	case "check_pass":
		if t.good+t.bad == t.failures { // no request had a check
			part, whole = 0, 0
		}
	case "task_success":
		part, whole = j.taskCounts(o)
	}
	r.N = whole
	r.Attained, r.CI95 = shareOf(part, whole)
	r.Value = r.Attained
	if attained, ok := r.Attained.Get(); ok && o.Metric == "error_rate" {
		r.Value = timeline.Some(float64(whole-part) / float64(whole))
		r.Attained = timeline.Some(attained)
		r.CI95 = &[2]float64{1 - r.CI95[1], 1 - r.CI95[0]}
	}
	v, ok := r.Value.Get()
	if !ok {
		r.State = Insufficient
		return
	}
	r.settle(o.Holds(v))
	r.Settled = timeline.Some(o.Holds(r.CI95[0]) == o.Holds(r.CI95[1]))
}

// taskCounts counts tasks of which every step succeeded in time. A task that
// the run's end cut off without a failure is not judged.
func (j *Judge) taskCounts(o *Objective) (good, judged int64) {
	for _, t := range j.tasks {
		if t.cancelled && !t.failed {
			continue
		}
		judged++
		if !t.failed && (o.WithinOp == "" || compare(t.end-t.due, o.WithinOp, o.Within)) {
			good++
		}
	}
	return good, judged
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
		r.State = Insufficient
		return
	}
	r.settle(o.Holds(v))
}
