package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var sglang = lens{
	name: "sglang", tool: "sglang.bench_serving", asOf: "2026-08, its OpenAI backends",
	differs: Differs{
		FirstToken: "first chunk with content or reasoning; none: 0, and still a success",
		Clock:      "the send; a new session each request",
		TPOT:       "(E2E − TTFT) / (n − 1)",
		ITL:        "gaps between chunks with content or reasoning; a chunk counts as one token",
		Tokens:     "usage, else the length that was asked for",
		End:        "last line of the stream, [DONE] included",
		Failures:   "left out, and their number is not printed",
	},
	open: func(Facts) reader { return &sglangReader{} },
}

type sglangReader struct {
	ttft, tpot, e2e stat.Sample
	itl             stat.Ints
	answers
	completed int64
	asked     int64 // counted by the length that was asked for
	zero      int64 // recorded with TTFT 0
	latencies float64
	span      timeline.Span
}

func (r *sglangReader) add(tl *timeline.Timeline) {
	r.span.Add(onRun(tl, startUS(tl)), onRun(tl, closeUS(tl)))
	if !readToTheEnd(tl) || !tl.Streamed || tl.Flags.Has(timeline.MalformedEvent) {
		return
	}
	r.completed++
	c := read(tl, hasContentOrReasoning, func(us int64, _ timeline.Event) { r.itl.Add(us) })
	start := startUS(tl)
	ttft := 0.0
	if c.n > 0 {
		ttft = since(start, c.firstUS)
	} else {
		r.zero++
	}
	e2e := since(start, lastLineUS(tl))
	r.ttft.Add(ttft)
	r.e2e.Add(e2e)
	r.latencies += e2e / 1000
	n, ok := usage(tl)
	if !ok {
		if n, ok = tl.Requested.Get(); ok {
			r.asked++
		}
	}
	r.count(tl, n, true, ok)
	if n > 1 {
		r.tpot.Add((e2e - ttft) / float64(n-1))
	}
}

func (r *sglangReader) report(t *table) {
	d := r.span.Seconds()
	t.row("completed", "requests", whole(r.completed), "requests.ok", "an error inside a stream, a cut stream and an empty answer count as completed")
	t.row("duration", "s", r.span.Length(), "window_s", "first send to the end of the last body")
	t.row("request_throughput", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "another window, another notion of success")
	r.rates(t, "output_throughput", "total_throughput", d, "needs the length that was asked for: no usage came")
	t.row("concurrency", "requests", ratio(r.latencies, d), "", "Σ E2E / duration")
	t.middle(vllmRows, "ttft_ms", "ms", &r.ttft, "ttft_ms", "a missing first token is recorded as 0; a tool call is not seen")
	t.middle(vllmRows, "tpot_ms", "ms", &r.tpot, "tpot_ms", "runs on to [DONE], and over the asked length where no usage came")
	t.middle(vllmRows, "itl_ms", "ms", r.itl.Frozen(1000), "itl_ms|icl_ms", "gaps between chunks: k times too large with k tokens a chunk")
	t.middle(vllmRows, "e2e_latency_ms", "ms", &r.e2e, "e2e_ms", "ends with [DONE], not with the last token")
	t.noteIf(r.zero > 0, "%s without content in the TTFT sample as 0", metric.Plural(r.zero, "answer"))
	t.noteIf(r.asked > 0, "%s without usage counted with the length that was asked for", metric.Plural(r.asked, "answer"))
}
