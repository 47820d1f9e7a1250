package objective

import (
	"tokenmeter/metric"
	"tokenmeter/timeline"
)

// WeighCut is Weigh for a request that was cut off, so many milliseconds after it
// was due. known is false where what came until then decides nothing: a first
// token that came in time did so for good, the pace of a stream is its pace so far,
// and a limit that has passed can't be kept any more, but an answer that goes on
// may still end in time.
func (o *Objective) WeighCut(all []Objective, r *metric.Record, waitedMS float64) (value, near float64, known bool) {
	got := soFar(r)
	least := got // had everything that is missing come at this moment
	for _, v := range []*timeline.Opt[float64]{&least.TTFTMS, &least.TTFOMS, &least.E2EMS, &least.CloseMS} {
		*v = timeline.Some(v.Or(waitedMS))
	}
	value, near, known = o.Weigh(all, &least)
	if known && near > 1 {
		return value, near, true
	}
	switch o.subject().class {
	case ofRequest, ofGaps:
		return o.Weigh(all, &got)
	}
	return 0, 0, false
}

// soFar is the record of a request that was cut off without what only its end tells.
func soFar(r *metric.Record) metric.Record {
	got := *r
	got.Outcome = timeline.OK
	got.Flags &^= timeline.NoAnswer
	none := timeline.Opt[float64]{}
	got.E2EMS, got.CloseMS, got.ServiceE2EMS, got.E2ETPS, got.NormE2ETPS, got.CostUSD = none, none, none, none, none, none
	got.OutputTokens, got.ReasoningTokens = timeline.Opt[int64]{}, timeline.Opt[int64]{}
	return got
}
