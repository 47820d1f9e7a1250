package objective

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Judge holds objectives against the requests of a run. The result does not
// depend on the order of the requests. Not safe for concurrent use.
type Judge struct {
	objectives []Objective
	allowLowN  bool
	lists      bool
	order      metric.Order
	tallies    []tally
	good, bad  int64
	verdicts   metric.Ordered // of requests to which an objective applies: 1 is bad
	excludedBy map[string]int64
	failed     int64          // by the server, not by the client
	outcomes   metric.Ordered // of the requests that ended: 1 is failed
	tasks      map[string]*task
}

// tally is what one objective has seen.
type tally struct {
	good, bad int64
	failures  int64          // bad without a value
	values    metric.Ordered // of single requests, with more the worse; failures are +Inf
	verdicts  metric.Ordered // of what has no such value: 1 is bad
	gaps      metric.Ordered // of objectives on gaps: how many an answer has; 0: it failed
	beyond    metric.Ordered // and how many of them are bad
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
	now := j.take(r)
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
		t.add(now, o, r, verdict, v)
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
	if !r.Outcome.Cancelled() || turnedAway(r) {
		j.verdicts.Add(now, badness(good))
	}
	return timeline.Some(good)
}

func badness(good bool) float64 {
	if good {
		return 0
	}
	return 1
}

// add keeps what an objective makes of a request.
func (t *tally) add(now uint32, o *Objective, r *metric.Record, verdict Verdict, v float64) {
	failed := verdict == Bad && v == o.worst()
	if failed {
		t.failures++
	}
	switch o.subject().class {
	case ofRequest:
		if !o.below() {
			v = -v
		}
		t.values.Add(now, v)
		return
	case ofGaps:
		var gaps []float64
		if !failed {
			gaps = o.gapsOf(r)
		}
		bad := 0
		for _, gap := range gaps {
			if !o.Holds(gap) {
				bad++
			}
		}
		t.gaps.Add(now, float64(len(gaps)))
		t.beyond.Add(now, float64(bad))
	}
	t.verdicts.Add(now, badness(verdict == Good))
}

// take keeps what the order and shares are made of, and returns the request's number.
func (j *Judge) take(r *metric.Record) (now uint32) {
	dueUS := int64(math.Round(r.DueS * 1e6))
	now = j.order.Add(dueUS, dueUS+int64(1e3*r.CloseMS.Or(r.E2EMS.Or(0))), r.Request)
	if !r.Outcome.Cancelled() && r.Outcome != timeline.ClientResource {
		j.outcomes.Add(now, badness(r.Outcome == timeline.OK))
		if r.Outcome != timeline.OK {
			j.failed++
		}
	}
	if r.Task != nil {
		j.takeTask(r)
	}
	return now
}

func (j *Judge) takeTask(r *metric.Record) {
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

// OpenLoop says that requests came at times of their own, so that how many were in
// flight is news.
func (j *Judge) OpenLoop(open bool) { j.order.OpenLoop = open }

// Merge takes what o has seen of the same run; both must have the same objectives.
func (j *Judge) Merge(o *Judge) { j.merge(o, j.order.Merge(&o.order)) }

// Follow takes what o has seen of another run.
func (j *Judge) Follow(o *Judge) { j.merge(o, j.order.Follow(&o.order)) }

func (j *Judge) merge(o *Judge, grown uint32) {
	j.verdicts.Merge(&o.verdicts, grown)
	j.outcomes.Merge(&o.outcomes, grown)
	for i := range j.tallies {
		a, b := &j.tallies[i], &o.tallies[i]
		a.good += b.good
		a.bad += b.bad
		a.failures += b.failures
		a.values.Merge(&b.values, grown)
		a.verdicts.Merge(&b.verdicts, grown)
		a.gaps.Merge(&b.gaps, grown)
		a.beyond.Merge(&b.beyond, grown)
	}
	j.good += o.good
	j.bad += o.bad
	j.failed += o.failed
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
