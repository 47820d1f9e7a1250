package objective

import (
	"math"
	"slices"

	"tokenmeter/record/metric"
)

// OfRequests reports whether single requests decide the objective. A figure of
// the whole run (a throughput, a cost), of sessions and a share of tasks are not
// decided by any of them.
func (o *Objective) OfRequests() bool {
	class := o.subject().class
	return class != ofRun && class != ofSession && o.Metric != "task_success"
}

// Weigh is what one request adds to a test that goes on while requests come in.
// For an objective on a share (a percentile, an error rate, goodput) value is 1
// for a good request and 0 for a bad one; of gaps it is the share of the
// request's gaps that hold. For one on a mean it is how far the request is
// beyond the limit, below 0 on the good side and +Inf for a failure.
//
// near says how near the limit the request came: 1 is at the limit, more is
// beyond it, +Inf is a failure. Goodput counts a request as good under all the
// objectives of the list. ok is false when the objective does not apply.
func (o *Objective) Weigh(all []Objective, r *metric.Record) (value, near float64, ok bool) {
	if o.Metric == "goodput" {
		return o.weighGood(all, r)
	}
	verdict, v := o.judge(r)
	if verdict == NotEvaluable {
		return 0, 0, false
	}
	if v == o.worst() {
		return o.weighed(verdict == Good, math.Inf(1)), math.Inf(1), true
	}
	switch o.subject().class {
	case ofRequest:
		near = o.nearness(v)
		if o.Stat == "mean" {
			return o.beyond(v), near, true
		}
		return o.weighed(o.Holds(v), 0), near, true
	case ofGaps:
		return o.weighGaps(r)
	}
	good := verdict == Good
	return o.weighed(good, 0), 1 - o.weighed(good, 0), true
}

func (o *Objective) weighed(good bool, failed float64) float64 {
	switch {
	case o.Stat == "mean":
		return failed
	case good:
		return 1
	}
	return 0
}

// beyond is the signed distance to the limit, positive on the bad side.
func (o *Objective) beyond(v float64) float64 {
	if o.below() {
		return v - o.Limit
	}
	return o.Limit - v
}

// nearness is value over limit, turned so that more is worse.
func (o *Objective) nearness(v float64) float64 {
	if !o.below() {
		v, limit := o.Limit, v
		if limit <= 0 {
			return math.Inf(1)
		}
		return v / limit
	}
	if o.Limit <= 0 {
		return math.Inf(1)
	}
	return v / o.Limit
}

func (o *Objective) weighGaps(r *metric.Record) (value, near float64, ok bool) {
	gaps := o.gapsOf(r)
	sum, good := 0.0, 0
	for _, g := range gaps {
		sum += g
		if o.Holds(g) {
			good++
		}
	}
	mean := sum / float64(len(gaps))
	if o.Stat == "mean" {
		return o.beyond(mean), o.nearness(mean), true
	}
	return float64(good) / float64(len(gaps)), o.nearness(mean), true
}

// Gaps is how many values a request brings into the pool that an objective on gaps
// between tokens is judged by; 0 where it brings none, or the objective is on no gaps.
func (o *Objective) Gaps(r *metric.Record) int { return len(o.gapsOf(r)) }

// gapsOf are those values, of the record.
func (o *Objective) gapsOf(r *metric.Record) []float64 {
	switch o.Metric {
	case "itl":
		return r.ITLMS
	case "icl":
		return r.ICLMS
	}
	return nil
}

func (o *Objective) weighGood(all []Objective, r *metric.Record) (value, near float64, ok bool) {
	good, applies := GoodOf(all, r).Get()
	if !applies {
		return 0, 0, false
	}
	for i := range all {
		if all[i].Metric == "goodput" || !all[i].OfRequests() {
			continue
		}
		if _, n, ok := all[i].Weigh(all, r); ok {
			near = math.Max(near, n)
		}
	}
	if good {
		return 1, near, true
	}
	return 0, near, true
}

// FeelsWaiting reports whether the objective, or for goodput one of the list, is on a
// time that is longer for a request that waits in a queue.
func (o *Objective) FeelsWaiting(all []Objective) bool {
	if o.Metric != "goodput" {
		return slices.Contains([]string{"ttft", "turn_ttft", "ttfo", "e2e", "close", "first_byte", "service_ttft", "service_e2e", "network", "e2e_tps", "norm_e2e_tps"}, o.Metric)
	}
	return slices.ContainsFunc(all, func(c Objective) bool { return c.Metric != "goodput" && c.OfRequests() && c.FeelsWaiting(nil) })
}

// OfPace reports whether the objective is on the pace at which an answer is written,
// as one share of requests. The pace remembers no more than the requests in flight, where
// a waiting time remembers all that came since the queue was last empty.
func (o *Objective) OfPace() bool {
	return o.Stat != "mean" && slices.Contains([]string{"tpot", "tpot_adj", "decode_tps", "norm_decode_tps"}, o.Metric)
}
