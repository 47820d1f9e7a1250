package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: sgl-project/genai-bench 0.0.5, genai_bench/metrics/request_metrics_collector.py
// and aggregated_metrics_collector.py.
var genaiBench = lens{
	name: "genai-bench", tool: "SGLang genai-bench", asOf: "0.0.5, 2026-07",
	differs: Differs{
		FirstToken: "first chunk with content or reasoning; tool calls are not seen",
		Clock:      "before the POST",
		TPOT:       "(E2E − TTFT) / (n − 1)",
		ITL:        "–",
		Tokens:     "usage, else the text tokenised again",
		End:        "last chunk with content or reasoning",
		Failures:   "left out; its error_rate is 0 whatever failed; answers faster than 1,000 tokens/s are thrown away as abnormal",
	},
	open: func(Facts) reader { return &genaiBenchReader{} },
}

type genaiBenchReader struct {
	ttft, e2e, output, tpot, speed, input stat.Sample
	completed, failed, thrown             int64
	in, out, uncounted, noInput           int64
	span                                  timeline.Span
}

func (r *genaiBenchReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	r.span.Add(onRun(tl, start), onRun(tl, closeUS(tl)))
	c := read(tl, hasContentOrReasoning, nil)
	if !withoutError(tl) || c.n == 0 {
		r.failed++
		return
	}
	ttft, e2e := since(start, c.firstUS)/1000, since(start, c.lastUS)/1000
	n, known := usageOrTokenizer(tl)
	tpot := opt{}
	if n > 1 {
		tpot = timeline.Some((e2e - ttft) / float64(n-1))
		if tpot.Or(0) < 1e-3 {
			r.thrown++
			return
		}
	}
	r.completed++
	if !known {
		r.uncounted++
	}
	r.out += n
	r.ttft.Add(ttft)
	r.e2e.Add(e2e)
	r.output.Add(e2e - ttft)
	if v, ok := tpot.Get(); ok {
		r.tpot.Add(v)
		r.speed.Add(1 / v)
	}
	in, ok := tl.Usage.Input.Get()
	if !ok {
		r.noInput++
	}
	if r.in += in; ok && ttft > 0 {
		r.input.Add(float64(in) / ttft)
	}
}

func (r *genaiBenchReader) report(t *table) {
	d := r.span.Seconds()
	t.row("num_completed_requests", "requests", whole(r.completed), "requests.ok", "a cut stream counts as completed")
	t.row("num_error_requests", "requests", whole(r.failed), "requests.failed", "the same")
	t.row("error_rate", "ratio", timeline.Some(0.0), "error_rate", "divides before it has counted the requests: always 0")
	t.row("requests_per_second", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "over the whole run, warm-up inside")
	tokenRates(t, "mean_output_throughput_tokens_per_s", "mean_total_tokens_throughput_tokens_per_s",
		rates{r.in, r.out, r.noInput, r.uncounted, d}, noCount)
	figures := func(name, unit string, s sample, ours, why string) {
		t.row(name+".mean", unit, mean(s), withStat(ours, "mean"), why)
		t.row(name+".p50", unit, linear(s, 0.5), withStat(ours, "p50"), why)
		t.row(name+".p99", unit, linear(s, 0.99), withStat(ours, "p99"), why)
	}
	figures("ttft", "s", &r.ttft, "ttft_ms", "starts at the send")
	figures("e2e_latency", "s", &r.e2e, "e2e_ms", "starts at the send")
	figures("output_latency", "s", &r.output, "", "E2E − TTFT")
	figures("tpot", "s", &r.tpot, "tpot_ms", "the same formula; answers below 1 ms are thrown away")
	figures("output_inference_speed", "tokens/s", &r.speed, "decode_tps", "the same formula; bursts are not left out")
	figures("input_throughput", "tokens/s", &r.input, "", "ISL / TTFT: network and queue are inside, cached tokens too")
	t.noteIf(r.thrown > 0, "%s faster than 1,000 tokens/s thrown away as abnormal, out of every figure above", some(r.thrown, "answer"))
}
