package objective

import (
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Verdict is what one objective says of one request.
type Verdict uint8

// The verdicts. NotEvaluable leaves numerator and denominator.
const (
	NotEvaluable Verdict = iota
	Good
	Bad
)

// Check judges one request by one objective. A failed request is bad, whatever
// the metric (unless the objective is valid: success); a cancelled one and a
// figure that does not apply can't be judged.
func (o *Objective) Check(r *metric.Record) Verdict {
	verdict, _ := o.judge(r)
	return verdict
}

// CheckAmong judges one request by the i-th of a list. Goodput asks all of them.
func CheckAmong(all []Objective, i int, r *metric.Record) Verdict {
	if all[i].Metric != "goodput" {
		return all[i].Check(r)
	}
	good, applies := GoodOf(all, r).Get()
	switch {
	case !applies:
		return NotEvaluable
	case good:
		return Good
	}
	return Bad
}

// judge also returns the request's value, ±Inf when it is bad without one.
func (o *Objective) judge(r *metric.Record) (Verdict, float64) {
	s := o.subject()
	if (s.turns || s.class == ofSession) && r.SessionName() == "" {
		return NotEvaluable, 0
	}
	if turnedAway(r) && s.class != ofRun && o.Valid != "success" {
		return Bad, o.worst()
	}
	if o.outlasted(s, r) {
		return Bad, o.worst()
	}
	if r.Outcome.Cancelled() || s.class == ofRun && s.name != goodputRate {
		return NotEvaluable, 0
	}
	if r.Outcome != timeline.OK {
		if o.Valid == "success" {
			return NotEvaluable, 0
		}
		return Bad, o.worst()
	}
	if s.class != ofRequest && s.class != ofGaps {
		return o.ratioVerdict(r), 0
	}
	v, holds, ok := o.valueOf(s, r)
	if !ok {
		// A stream of reasoning alone never answered: that is a miss.
		if s.name == "ttfo" && r.Flags.Has(timeline.NoAnswer) {
			return Bad, o.worst()
		}
		return NotEvaluable, 0
	}
	if holds {
		return Good, v
	}
	return Bad, v
}

// turnedAway reports whether the request was due and waited for a place under the
// cap until the end came: its user got nothing, so it kept no promise. What became
// due only with the end, or was stopped by the user, is not judged.
func turnedAway(r *metric.Record) bool {
	return r.Outcome == timeline.CancelledRunEnd && r.DelayMS > 0 && r.Unsent()
}

// outlasted reports whether the run's end cut a request off that had by then
// waited longer than the limit for what the objective is about: whatever would
// have come, it came too late. One that waited less long could still have kept
// the promise and is not judged.
func (o *Objective) outlasted(s *subject, r *metric.Record) bool {
	if r.Outcome != timeline.CancelledRunEnd || r.Unsent() || s.class != ofRequest || !o.below() {
		return false
	}
	missing := false
	switch s.name {
	case "ttft", "turn_ttft":
		missing = !r.TTFTMS.OK()
	case "ttfo":
		missing = !r.TTFOMS.OK()
	case "e2e":
		missing = true
	}
	return missing && !o.Holds(r.CloseMS.Or(0))
}

// worst is the value of a request that failed.
func (o *Objective) worst() float64 {
	if o.below() {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// ratioVerdict is what a share counts. Goodput, the error rate and a task count
// a request that did not fail as good.
func (o *Objective) ratioVerdict(r *metric.Record) Verdict {
	switch o.Metric {
	case "error_rate", "goodput", goodputRate, sessionE2E:
		return Good
	case "check_pass":
		switch {
		case r.Check == nil:
			return NotEvaluable
		case *r.Check == "pass":
			return Good
		}
		return Bad
	}
	if r.Task == nil {
		return NotEvaluable
	}
	return Good
}

// valueOf is the request's own value; of gaps the objective's statistic over
// the request's gaps.
func (o *Objective) valueOf(s *subject, r *metric.Record) (v float64, holds, ok bool) {
	if s.class == ofRequest {
		v, ok = s.value(r).Get()
		return v, o.Holds(v), ok
	}
	return o.statOf(stat.Sorted(slices.Sorted(slices.Values(o.gapsOf(r)))))
}

// GoodOf says whether a request met every objective that applies to it; empty
// when none does, when there are none, or when it was cancelled.
func GoodOf(objectives []Objective, r *metric.Record) timeline.Opt[bool] {
	applies, good := false, true
	for i := range objectives {
		switch objectives[i].Check(r) {
		case Good:
			applies = true
		case Bad:
			applies, good = true, false
		}
	}
	return timeline.Maybe(good, applies)
}

// NeedLists reports whether records must come with their lists of gaps.
func NeedLists(objectives []Objective) bool {
	return slices.ContainsFunc(objectives, func(o Objective) bool { return o.subject().class == ofGaps })
}
