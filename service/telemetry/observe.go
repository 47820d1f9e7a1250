package telemetry

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// Counts calls f with what a finished request adds to counters. own is the
// value of the metric's own label, empty without one.
func Counts(r *traffic.Request, f func(m *Metric, own string, n float64)) {
	f(Requests, string(r.Outcome), 1)
	if r.Unmeasured != "" {
		f(Unmeasured, string(r.Unmeasured), 1)
	}
	some := func(m *Metric, v timeline.Opt[int64]) {
		if n, ok := v.Get(); ok && n > 0 {
			f(m, "", float64(n))
		}
	}
	v := &r.Record
	some(InputTokens, v.InputTokens)
	some(CachedTokens, v.CachedTokens)
	some(OutputTokens, v.OutputTokens)
	some(Reasoning, v.ReasoningTokens)
	some(Wasted, r.Wasted)
	some(Stalls, v.Stalls)
	some(RequestBytes, timeline.Some(r.RequestBytes))
	some(ResponseBytes, timeline.Some(r.ResponseBytes))
}

// Figures calls f with the values of a finished request's distributions. times
// is how often a value counts; it is 1 but for gaps between tokens. With fine
// there are the gaps, too: a value a token.
func Figures(r *traffic.Request, fine bool, f func(m *Metric, v float64, times int64)) {
	if r.Unmeasured != "" {
		return
	}
	own := func(m *Metric, v timeline.Opt[int64]) {
		if us, ok := v.Get(); ok {
			f(m, float64(us)/1e6, 1)
		}
	}
	own(SendDelay, r.Delay.HeadUS)
	own(FirstDelay, r.Delay.FirstUS)
	own(WorstDelay, timeline.Maybe(r.Delay.MaxUS, r.Delay.Reads > 0))
	own(SlowReader, timeline.Maybe(r.SlowReaderUS, r.SlowReaderUS > 0))
	if r.Outcome != timeline.OK {
		return
	}
	v := &r.Record
	some := func(m *Metric, v timeline.Opt[float64]) {
		if x, ok := v.Get(); ok {
			f(m, x/m.PerUnit, 1)
		}
	}
	some(TTFT, v.TTFTMS)
	some(Delivered, v.DeliveredTTFTMS)
	some(TTFO, v.TTFOMS)
	some(TPOT, v.TPOTMS)
	some(MaxGap, v.MaxGapMS)
	some(E2E, v.E2EMS)
	some(DecodeSpeed, v.DecodeTPS)
	some(RequestSpeed, v.E2ETPS)
	count(Input, v.InputTokens, f)
	count(Output, v.OutputTokens, f)
	if fine {
		metric.Scan(r.Timeline,
			func(gap float64) { f(ICL, gap/ICL.PerUnit, 1) },
			func(gap float64, times int64) { f(ITL, gap/ITL.PerUnit, times) })
	}
}

func count(m *Metric, v timeline.Opt[int64], f func(m *Metric, v float64, times int64)) {
	if n, ok := v.Get(); ok {
		f(m, float64(n), 1)
	}
}
