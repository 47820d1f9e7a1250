package lens

import (
	"tokenmeter/record/metric"
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
		End:        "the chunk with usage, else [DONE], else the end of the body",
		Failures:   "left out; its error_rate is 0 whatever failed; an answer without content or usage, or with an event that is no JSON, is counted nowhere; no TPOT where the output took under 1 ms",
	},
	open: func(Facts) reader { return &genaiBenchReader{} },
}

type genaiBenchReader struct {
	ttft, e2e, output, tpot, speed, input stat.Sample
	answers
	completed, failed, unseen, abnormal int64
	span                                timeline.Span
}

func (r *genaiBenchReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	r.span.Add(onRun(tl, start), onRun(tl, closeUS(tl)))
	if !withoutError(tl) {
		r.failed++
		return
	}
	endUS, counted := genaiBenchEnd(tl)
	n, known := tl.Tokenized.Get()
	if counted {
		n, known = usageOrTokenizer(tl)
	}
	c := read(tl, hasContentOrReasoning, nil)
	if tl.Flags.Has(timeline.MalformedEvent) {
		r.unseen++
		return
	}
	if c.n == 0 || c.firstUS > endUS {
		if !counted || n <= 1 {
			r.unseen++ // an exception ends it outside all counts
			return
		}
		c.firstUS = endUS
	}
	r.completed++
	r.count(tl, n, true, known)
	ttft, e2e := since(start, c.firstUS)/1000, since(start, endUS)/1000
	output := e2e - ttft
	r.ttft.Add(ttft)
	r.e2e.Add(e2e)
	r.output.Add(output)
	switch {
	case output < 1e-3:
		r.abnormal++
	case n > 1:
		r.tpot.Add(output / float64(n-1))
		r.speed.Add(float64(n-1) / output)
	}
	if in, ok := tl.Usage.Input.Get(); ok && ttft > 0 {
		r.input.Add(float64(in) / ttft)
	}
}

// genaiBenchEnd is where it stops reading, since due: at the usage that comes with
// the finish reason or after it, else at [DONE], else with the body. It counts by
// that usage alone.
func genaiBenchEnd(tl *timeline.Timeline) (us int64, counted bool) {
	// A reason that has no event came with the last text, as where the length ended it.
	finishUS, alone, finished, usageUS := int64(0), false, tl.FinishReason != "", int64(-1)
	for ev := range tl.Events.All() {
		switch {
		case ev.Kind == timeline.Finish && !alone:
			finishUS, alone, finished = ev.AtUS, true, true
		case ev.Kind.Bears() && !alone:
			finishUS, usageUS = ev.AtUS, -1 // a usage before it told how far the answer was
		case ev.Kind == timeline.UsageEvent && finished && usageUS < 0:
			usageUS = ev.AtUS
		case ev.Kind == timeline.Done:
			us = ev.AtUS
		}
	}
	_, told := usage(tl)
	switch {
	case usageUS >= 0:
		return usageUS, true
	case told && finished:
		return finishUS, true
	case us == 0: // no [DONE]
		us = closeUS(tl)
	}
	return us, told && tl.Outcome == timeline.OK // of a record without such events
}

func (r *genaiBenchReader) report(t *table) {
	d := r.span.Seconds()
	t.row("num_completed_requests", "requests", whole(r.completed), "requests.ok", "a cut stream counts as completed")
	t.row("num_error_requests", "requests", whole(r.failed), "requests.failed", "the same")
	t.row("error_rate", "ratio", timeline.Some(0.0), "error_rate", "divides before it has counted the requests: always 0")
	t.row("requests_per_second", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "over its whole run, which ends when it looks, once a second")
	r.rates(t, "mean_output_throughput_tokens_per_s", "mean_total_tokens_throughput_tokens_per_s", d, noCount)
	names := [3]string{"%s.mean", "%s.p50", "%s.p99"}
	t.middle(names, "ttft", "s", &r.ttft, "ttft_ms", "starts at the send")
	t.middle(names, "e2e_latency", "s", &r.e2e, "e2e_ms", genaiBenchEnds)
	t.middle(names, "output_latency", "s", &r.output, "", "E2E − TTFT")
	t.middle(names, "tpot", "s", &r.tpot, "tpot_ms", genaiBenchEnds)
	t.middle(names, "output_inference_speed", "tokens/s", &r.speed, "decode_tps", genaiBenchEnds)
	input, why := r.perPrompt(&r.input, overTTFT)
	t.middle(names, "input_throughput", "tokens/s", input, "", why)
	t.noteIf(r.abnormal > 0, "%s with all output within 1 ms: abnormal to it, out of tpot and output_inference_speed", metric.Plural(r.abnormal, "answer"))
	t.noteIf(r.unseen > 0, "%s without content or usage, or with an event that is no JSON, ended it with an exception and is counted nowhere", metric.Plural(r.unseen, "answer"))
}

const genaiBenchEnds = "starts at the send and ends with the usage or [DONE], not with the last token"
