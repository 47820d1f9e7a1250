package objective

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// taskVerdicts are the tasks by the time they were due, 0 for those of which every
// step succeeded in time. A task that the run's end cut off without a failure is not
// judged.
func (j *Judge) taskVerdicts(o *Objective) (verdicts []float64) {
	for _, t := range j.tasks.InOrder() {
		failed := t.Failed || t.Wrong
		if t.Cancelled && !failed {
			continue
		}
		verdicts = append(verdicts, badness(!failed && (o.WithinOp == "" || compare(t.MS(), o.WithinOp, o.Within))))
	}
	return verdicts
}

// ofSessions fills the result of an objective on how long sessions take. One of which a
// request failed has taken for ever. One that the run's end cut off is bad when it had
// by then taken longer than the limit, and is not judged otherwise. Sessions stand in the
// order in which they began, with how many others were open then: neighbours share a
// server.
func (j *Judge) ofSessions(o *Objective, r *ObjectiveResult) {
	var series stat.Series
	var due, ends []int64
	good := 0
	for _, t := range j.sessions.InOrder() {
		v := t.MS()
		late := t.Cut && o.below() && !o.Holds(v)
		switch {
		case t.Failed && o.Valid == "success", t.Cancelled && !t.Failed && !late:
			continue
		case t.Failed, t.Cancelled:
			v = math.Inf(1)
		default:
			if o.Holds(v) {
				good++
			}
			if !o.below() {
				v = -v
			}
		}
		series.Values, due, ends = append(series.Values, v), append(due, t.DueUS), append(ends, t.EndUS)
	}
	if j.order.OpenLoop {
		series.InFlight = stat.InFlight(due, ends)
	}
	if n := len(series.Values); n > 0 {
		r.Attained = timeline.Some(float64(good) / float64(n))
	}
	j.ofValues(o, &series, r)
}

func joinsFor(objectives []Objective) metric.Joins {
	for i := range objectives {
		if objectives[i].subject().class == ofSession {
			return metric.Joins{}
		}
	}
	return nil
}
