package objective

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// WeighCut is Weigh for a request that was cut off while it was answered, so many
// milliseconds after it was due. known is false where what came until then decides
// nothing: a first token that came in time did so for good, the pace of a stream is its
// pace so far or, if that is less, with its next token at this moment, and a limit that
// has passed can't be kept any more; but an answer that goes on may still end in time.
// whole: answers come in one piece, without a first token to wait for.
func (o *Objective) WeighCut(all []Objective, r *metric.Record, waitedMS float64, whole bool) (value, near float64, known bool) {
	got := soFar(r, waitedMS)
	least := got // had everything that is missing come at this moment
	missing := []*timeline.Opt[float64]{&least.E2EMS, &least.CloseMS, &least.TTFTMS, &least.TTFOMS}
	if whole {
		missing = missing[:2]
	}
	for _, v := range missing {
		*v = timeline.Some(v.Or(waitedMS))
	}
	if last, ok := r.E2EMS.Get(); ok {
		least.MaxGapMS = timeline.Some(math.Max(r.MaxGapMS.Or(0), waitedMS-last))
		least.Stalls = r.Stalls
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
func soFar(r *metric.Record, waitedMS float64) metric.Record {
	got := *r
	got.Outcome = timeline.OK
	got.Flags &^= timeline.NoAnswer
	none := timeline.Opt[float64]{}
	got.E2EMS, got.CloseMS, got.ServiceE2EMS, got.E2ETPS, got.NormE2ETPS, got.CostUSD, got.MaxGapMS = none, none, none, none, none, none, none
	got.OutputTokens, got.ReasoningTokens, got.Stalls = timeline.Opt[int64]{}, timeline.Opt[int64]{}, timeline.Opt[int64]{}
	slow(&got, r, waitedMS)
	return got
}

// slow takes a stream that has stopped for the slow one that it is by now: of n gaps in
// the time from its first token to its last, as TPOT tells them, one more would end now.
func slow(got, r *metric.Record, waitedMS float64) {
	first, a := r.TTFTMS.Get()
	last, b := r.E2EMS.Get()
	tpot, c := r.TPOTMS.Get()
	if !a || !b || !c || !(tpot > 0) || !(last > first) {
		return
	}
	gaps := (last - first) / tpot
	factor := (waitedMS - first) / (gaps + 1) / tpot
	if factor <= 1 {
		return
	}
	for _, v := range []*timeline.Opt[float64]{&got.TPOTMS, &got.TPOTAdjMS} {
		*v = timeline.Map(*v, func(x float64) float64 { return x * factor })
	}
	for _, v := range []*timeline.Opt[float64]{&got.DecodeTPS, &got.NormDecodeTPS} {
		*v = timeline.Map(*v, func(x float64) float64 { return x / factor })
	}
}
