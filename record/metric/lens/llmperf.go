package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var llmperf = lens{
	name: "llmperf", tool: "LLMPerf", asOf: "f1d6bed, 2024-12 (dormant)",
	differs: Differs{
		FirstToken: "first chunk with content",
		Clock:      "before the request",
		TPOT:       "–",
		ITL:        "(Σ gaps, TTFT included) / n: E2E / n, one value a request",
		Tokens:     "the text tokenised with the Llama tokenizer and a BOS",
		End:        "end of the stream",
		Failures:   "left out",
	},
	open: func(Facts) reader { return &llmperfReader{} },
}

type llmperfReader struct {
	itl, ttft, e2e, speed stat.Sample
	completed, failed     int64
	span                  timeline.Span
	answers
}

func (r *llmperfReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	r.span.Add(onRun(tl, start), onRun(tl, closeUS(tl)))
	if !withoutError(tl) {
		r.failed++
		return
	}
	r.completed++
	e2e := since(start, closeUS(tl)) / 1000
	r.e2e.Add(e2e)
	n, known := r.tokenized(tl)
	if known && e2e > 0 {
		r.speed.Add(float64(n) / e2e)
	}
	c := read(tl, hasContent, nil)
	if c.n == 0 {
		return
	}
	r.ttft.Add(since(start, c.firstUS) / 1000)
	if n > 0 {
		r.itl.Add(since(start, c.lastUS) / 1000 / float64(n))
	}
}

func (r *llmperfReader) report(t *table) {
	d := r.span.Seconds()
	names := [3]string{"results_%s_mean", "results_%s_quantiles_p50", "results_%s_quantiles_p99"}
	itlWhy := "gaps include TTFT: this is E2E / n, neither ITL nor TPOT"
	if r.itl.Len() == 0 && r.uncounted > 0 {
		itlWhy = noCount
	}
	t.middle(names, "inter_token_latency_s", "s", &r.itl, "tpot_ms", itlWhy)
	t.middle(names, "ttft_s", "s", &r.ttft, "ttft_ms", "does not see reasoning or tool calls; starts at the send")
	t.middle(names, "end_to_end_latency_s", "s", &r.e2e, "e2e_ms", "ends with the stream, not with the last token")
	t.middle(names, "request_output_throughput_token_per_s", "tokens/s", &r.speed, "e2e_tps", "ends with the stream")
	output, why := r.rate(d, "its window also includes building its clients, which this record cannot know")
	t.row("results_mean_output_throughput_token_per_s", "tokens/s", output, "success_output_tps", why)
	t.row("results_num_completed_requests_per_min", "requests/min", ratio(float64(r.completed), d/60), "", "60 × requests_per_s over another window")
	t.row("results_error_rate", "ratio", ratio(float64(r.failed), float64(r.completed+r.failed)), "error_rate", "an empty answer and a cut stream are no errors")
	t.noteIf(r.standIn > 0, "%s counted by the server; LLMPerf tokenises the text with the Llama tokenizer, a BOS included", metric.Plural(r.standIn, "answer"))
}
