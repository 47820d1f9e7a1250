package objective

import (
	"math"
	"strconv"

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
	tasks      metric.Joins
	sessions   metric.Joins // nil where no objective is on them
	followed   int          // runs that were taken after the first
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

// NotEvaluableName is the name in excluded_by of requests to which no
// objective applied.
const NotEvaluableName = "not_evaluable"

// NewJudge returns a judge. With allowLowN a percentile from too few requests
// gets a verdict all the same.
func NewJudge(objectives []Objective, allowLowN bool) *Judge {
	return &Judge{
		objectives: objectives, allowLowN: allowLowN, lists: NeedLists(objectives),
		tallies: make([]tally, len(objectives)), excludedBy: map[string]int64{}, tasks: metric.Joins{}, sessions: joinsFor(objectives),
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
		j.tasks.Take(*r.Task, r)
	}
	if name := r.SessionName(); name != "" && j.sessions != nil {
		j.sessions.Take(name, r)
	}
	return now
}

// OpenLoop says that requests came at times of their own, so that how many were in
// flight is news.
func (j *Judge) OpenLoop(open bool) { j.order.OpenLoop = open }

// Merge takes what o has seen of the same run; both must have the same objectives.
func (j *Judge) Merge(o *Judge) {
	j.merge(o, j.order.Merge(&o.order))
	j.tasks.Merge(o.tasks, "", 0)
	j.sessions.Merge(o.sessions, "", 0)
}

// Follow takes what o has seen of another run. Tasks and sessions that are called
// the same are others.
func (j *Judge) Follow(o *Judge) {
	grown, over := j.order.Follow(&o.order)
	j.merge(o, grown)
	j.followed++
	other := strconv.Itoa(j.followed) + "\x00"
	j.tasks.Merge(o.tasks, other, over)
	j.sessions.Merge(o.sessions, other, over)
}

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
}
