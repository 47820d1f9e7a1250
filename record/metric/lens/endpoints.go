package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: mlcommons/endpoints, src/inference_endpoint: metrics/report.py and
// async_utils/services/metrics_aggregator/metrics_table.py.
var mlperfEndpoints = lens{
	name: "mlperf-endpoints", tool: "MLPerf Endpoints", asOf: "2026-10",
	differs: Differs{
		FirstToken: "first chunk with content, reasoning or a tool call",
		Clock:      "when the request was issued to a worker",
		TPOT:       "(end − first chunk) / tokens after the first chunk",
		ITL:        "called chunk_delta: gaps between chunks",
		Tokens:     "the text tokenised again; of what follows the first chunk once more",
		End:        "end of the answer",
		Failures:   "counted as completed, and apart as failed",
	},
	open: func(Facts) reader { return &endpointsReader{} },
}

type endpointsReader struct {
	ttft, latency, tpot        stat.Sample
	completed, failed, several int64
	span                       timeline.Span
	answers
}

func (r *endpointsReader) add(tl *timeline.Timeline) {
	start, end := startUS(tl), closeUS(tl)
	r.completed++
	r.span.Add(onRun(tl, start), onRun(tl, end))
	r.latency.Add(since(start, end) * 1e6)
	if !withoutError(tl) {
		r.failed++
		return
	}
	n, known := r.tokenized(tl)
	c := read(tl, hasToken, nil)
	if c.n == 0 {
		return
	}
	r.ttft.Add(since(start, c.firstUS) * 1e6)
	if !known {
		return
	}
	after, ok := afterFirst(tl, n, c.n)
	if !ok {
		r.several++
		return
	}
	if after > 0 {
		r.tpot.Add(since(c.firstUS, end) * 1e6 / float64(after))
	}
}

func (r *endpointsReader) report(t *table) {
	d := r.span.Seconds()
	t.row("n_samples_completed", "requests", whole(r.completed), "", "failures are completed too")
	t.row("n_samples_failed", "requests", whole(r.failed), "requests.failed", "a cut stream is no failure")
	t.row("duration_ns", "ns", timeline.Map(r.span.Length(), func(s float64) float64 { return s * 1e9 }), "", "first issue to the last completion, failures included")
	t.row("qps", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "failures count too; with Poisson arrivals it is (completed − 1) / (first issue to the end of the last issued) instead")
	output, why := r.rate(d, "over another window")
	t.row("tps", "tokens/s", output, "success_output_tps", why)
	figures := func(name string, s sample, ours, why string) {
		t.row(name+".avg", "ns", mean(s), withStat(ours, "mean"), why)
		t.row(name+".median", "ns", floorIndex(s, 0.5), withStat(ours, "p50"), why)
		t.row(name+".percentiles.99", "ns", floorIndex(s, 0.99), withStat(ours, "p99"), "the value at floor(0.99 (n − 1)), never above ours; "+why)
		t.row(name+".std_dev", "ns", sampleDeviation(s), withStat(ours, "sd"), why)
	}
	figures("ttft", &r.ttft, "ttft_ms", "starts at the issue")
	tpotWhy := "from the first chunk to the end of the answer, over the tokens behind the first chunk"
	switch {
	case r.tpot.Len() > 0:
	case r.several > 0:
		tpotWhy = needsFirst
	case r.uncounted > 0:
		tpotWhy = noCount
	}
	figures("tpot", &r.tpot, "tpot_ms", tpotWhy)
	figures("latency", &r.latency, "e2e_ms", "ends with the answer; failures are inside")
	t.noteIf(r.standIn > 0, "%s counted by the server; Endpoints tokenises the text again", metric.Plural(r.standIn, "answer"))
	t.noteIf(r.several > 0 && r.tpot.Len() > 0, "%s left out of TPOT: how many tokens its first chunk held is not known", metric.Plural(r.several, "answer"))
}
