package objective

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Judge holds objectives against the requests of a run. The result does not
// depend on the order of the requests. Not safe for concurrent use.
type Judge struct {
	objectives []Objective
	allowLowN  bool
	lists      bool
	tallies    []tally
	good, bad  int64
	excludedBy map[string]int64
	failed     int64 // by the server, not by the client
	ended      int64
	tasks      map[string]*task
}

// tally is what one objective has seen.
type tally struct {
	good, bad int64
	failures  int64 // bad without a value
	values    stat.Sample
}

type task struct {
	due, end  float64 // ms on the run's clock
	failed    bool
	cancelled bool
}

// NotEvaluableName is the name in excluded_by of requests to which no
// objective applied.
const NotEvaluableName = "not_evaluable"

// NewJudge returns a judge. With allowLowN a percentile from too few requests
// gets a verdict all the same.
func NewJudge(objectives []Objective, allowLowN bool) *Judge {
	return &Judge{
		objectives: objectives, allowLowN: allowLowN, lists: NeedLists(objectives),
		tallies: make([]tally, len(objectives)), excludedBy: map[string]int64{}, tasks: map[string]*task{},
	}
}

// Add judges a timeline and returns whether the request was good.
func (j *Judge) Add(tl *timeline.Timeline) timeline.Opt[bool] {
	if len(j.objectives) == 0 || tl.Phase == timeline.Warmup {
		return timeline.Opt[bool]{}
	}
	var r metric.Record
	if j.lists {
		r = metric.Of(tl)
	} else {
		r = metric.ScalarsOf(tl)
	}
	return j.AddRecord(&r)
}

// AddRecord judges a record, which needs its lists of gaps where an objective
// is about them. Warm-up requests are left out.
func (j *Judge) AddRecord(r *metric.Record) timeline.Opt[bool] {
	if !r.Phase.Counts() || len(j.objectives) == 0 {
		return timeline.Opt[bool]{}
	}
	j.count(r)
	applies, good := false, true
	for i := range j.objectives {
		o, t := &j.objectives[i], &j.tallies[i]
		verdict, v := o.judge(r)
		switch verdict {
		case NotEvaluable:
			continue
		case Good:
			t.good++
		case Bad:
			t.bad++
			good = false
		}
		applies = true
		switch class := o.subject().class; {
		case verdict == Bad && v == o.worst():
			t.failures++
		case class == ofRequest:
			t.values.Add(v)
		}
	}
	switch {
	case r.Outcome.Cancelled() && !applies:
		j.excludedBy[string(r.Outcome)]++
	case !applies:
		j.excludedBy[NotEvaluableName]++
	case good:
		j.good++
	default:
		j.bad++
	}
	if !applies {
		return timeline.Opt[bool]{}
	}
	return timeline.Some(good)
}

// count keeps what shares are made of.
func (j *Judge) count(r *metric.Record) {
	if !r.Outcome.Cancelled() && r.Outcome != timeline.ClientResource {
		j.ended++
		if r.Outcome != timeline.OK {
			j.failed++
		}
	}
	if r.Task == nil {
		return
	}
	due := r.DueS * 1000
	end := due + r.E2EMS.Or(r.CloseMS.Or(0))
	t := j.tasks[*r.Task]
	if t == nil {
		t = &task{due: due, end: end}
		j.tasks[*r.Task] = t
	}
	t.due, t.end = min(t.due, due), max(t.end, end)
	t.failed = t.failed || r.Outcome.Failed() || (r.Check != nil && *r.Check == "fail")
	t.cancelled = t.cancelled || r.Outcome.Cancelled()
}

// Merge takes what o has seen; both must have the same objectives.
func (j *Judge) Merge(o *Judge) {
	for i := range j.tallies {
		a, b := &j.tallies[i], &o.tallies[i]
		a.good += b.good
		a.bad += b.bad
		a.failures += b.failures
		a.values.Merge(&b.values)
	}
	j.good += o.good
	j.bad += o.bad
	j.failed += o.failed
	j.ended += o.ended
	for name, n := range o.excludedBy {
		j.excludedBy[name] += n
	}
	for name, t := range o.tasks {
		have := j.tasks[name]
		if have == nil {
			c := *t
			j.tasks[name] = &c
			continue
		}
		have.due, have.end = min(have.due, t.due), max(have.end, t.end)
		have.failed = have.failed || t.failed
		have.cancelled = have.cancelled || t.cancelled
	}
}
