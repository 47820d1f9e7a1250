package lens

import (
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var mlperf = lens{
	name: "mlperf", tool: "MLPerf Inference LoadGen (Server)", asOf: "6.0.17, 2026-08",
	differs: Differs{
		FirstToken: "when the system under test reports it",
		Clock:      "the scheduled time",
		TPOT:       "(latency − TTFT) / (n − 1), whole ns",
		ITL:        "–",
		Tokens:     "reported by the system under test",
		End:        "when the system under test reports the last token",
		Failures:   "none are allowed",
	},
	open: func(Facts) reader { return &mlperfReader{} },
}

type mlperfReader struct {
	latency, ttft, tpot []int64 // ns
	answers
	n, failed  int64
	lastIssued int64 // µs of the run: due time of the query issued last
	lastDone   int64 // and when it was complete
	first      int64
	any        bool
}

func (r *mlperfReader) add(tl *timeline.Timeline) {
	if tl.Outcome != timeline.OK {
		r.failed++
		return
	}
	c := read(tl, hasToken, nil)
	if c.n == 0 {
		return
	}
	r.n++
	if !r.any || tl.DueUS < r.first {
		r.first = tl.DueUS
	}
	switch done := onRun(tl, c.lastUS); {
	case !r.any || tl.DueUS > r.lastIssued:
		r.lastIssued, r.lastDone = tl.DueUS, done
	case tl.DueUS == r.lastIssued:
		r.lastDone = max(r.lastDone, done)
	}
	r.any = true
	latency, ttft := c.lastUS*1000, c.firstUS*1000
	r.latency = append(r.latency, latency)
	r.ttft = append(r.ttft, ttft)
	n, ok := usage(tl)
	r.count(tl, n, true, ok)
	if n > 1 {
		r.tpot = append(r.tpot, (latency-ttft)/(n-1))
	}
}

func (r *mlperfReader) report(t *table) {
	d := float64(r.lastDone-r.first) / 1e6
	tokens, why := r.rate(d, "the window ends with the query issued last, not with the last token")
	t.row("Completed tokens per second", "tokens/s", tokens, "system_output_tps", why)
	t.row("Completed samples per second", "samples/s", ratio(float64(r.n-1), d), "requests_per_s", "(N − 1) / T, T = when the query issued last was complete")
	r.metric(t, "First Token latency (ns)", r.ttft, "ttft_ms", "same clock, from the scheduled time; percentile = sorted[⌊N × p⌋]")
	r.metric(t, "Time per Output Token (ns)", r.tpot, "tpot_ms", "whole ns; bursts are not left out")
	r.metric(t, "latency (ns)", r.latency, "e2e_ms", "same clock; percentile = sorted[⌊N × p⌋]")
	t.noteIf(r.failed > 0, "%s failed: LoadGen would call the run invalid", metric.Plural(r.failed, "request"))
	t.noteIf(r.n < 662, "n = %d: an early-stopping estimate of p99 needs 662 queries", r.n)
}

func (r *mlperfReader) metric(t *table, name string, ns []int64, ours, why string) {
	slices.Sort(ns)
	var sum float64
	values := make(stat.Sorted, len(ns))
	for i, v := range ns {
		sum += float64(v)
		values[i] = float64(v)
	}
	t.row("Mean "+name, "ns", ratio(sum, float64(len(ns))), withStat(ours, "mean"), why)
	for _, p := range []struct {
		label, ours string
		p           float64
	}{{"50.00 percentile ", "p50", 0.5}, {"90.00 percentile ", "p90", 0.9}, {"99.00 percentile ", "p99", 0.99}} {
		t.row(p.label+name, "ns", loadgen(ns, p.p), withStat(ours, p.ours), why)
	}
	estimate := opt{}
	whyNot := "too few queries for a claim at 99 % confidence"
	if v, ok := stat.UpperBound(values, 0.99, 0.99); ok {
		estimate, whyNot = timeline.Some(v), "an upper bound of the percentile at 99 % confidence"
	}
	t.row("99.00 percentile early stopping estimate, "+name, "ns", estimate, withStat(ours, "p99"), whyNot)
}

// loadgen is LoadGen's percentile: no interpolation, index ⌊N × p⌋ from 0.
func loadgen(sorted []int64, p float64) opt {
	if len(sorted) == 0 {
		return opt{}
	}
	i := min(int(math.Floor(float64(len(sorted))*p+1e-9)), len(sorted)-1)
	return timeline.Some(float64(sorted[i]))
}
