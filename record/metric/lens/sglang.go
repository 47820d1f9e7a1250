package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: python/sglang/benchmark/serving.py, async_request_openai_completions,
// async_request_openai_chat_completions and async_request_sglang_generate.
var sglang = lens{
	name: "sglang", tool: "sglang.bench_serving", asOf: "2026-11, its OpenAI backends and /generate",
	differs: Differs{
		FirstToken: "first chunk with content or reasoning; none: 0, and still a success",
		Clock:      "the send; a new session each request",
		TPOT:       "(E2E − TTFT) / (n − 1)",
		ITL:        "gaps between chunks with content or reasoning; a chunk counts as one token. Of /generate each gap is shared by its chunk's tokens, the one that ends the text too",
		Tokens:     "the length that was asked for, as no usage is; of /generate what the server counted",
		End:        "last line of the stream, [DONE] included",
		Failures:   "left out, and their number is not printed; a stream with a comment (`: ping`) is one",
	},
	open: func(f Facts) reader {
		// calculate_metrics in sglang/benchmark/serving.py, 0.5.23: input_requests[i].prompt_len
		return &sglangReader{answers: ownPrompts(f, "by SGLang's own count of the texts that it sends, without a chat template")}
	},
}

type sglangReader struct {
	ttft, tpot, e2e stat.Sample
	itl             stat.Ints
	answers
	completed int64
	asked     int64 // counted by the length that was asked for, which the server's count isn't
	zero      int64 // recorded with TTFT 0
	native    int64 // of /generate
	untold    int64 // of these, without the tokens of each chunk
	latencies float64
	span      timeline.Span
}

func (r *sglangReader) add(tl *timeline.Timeline) {
	r.span.Add(onRun(tl, startUS(tl)), onRun(tl, closeUS(tl)))
	_, commented := lastOf(tl, func(k timeline.Kind) bool { return k == timeline.Ping }) // it takes each line for JSON
	if !readToTheEnd(tl) || !tl.Streamed || tl.Flags.Has(timeline.MalformedEvent) || commented {
		return
	}
	r.completed++
	c := read(tl, hasContentOrReasoning, func(us int64, _ timeline.Event) {
		if tl.API != nativeSGLang {
			r.itl.Add(us)
		}
	})
	if tl.API == nativeSGLang {
		r.native++
		r.generated(tl)
	}
	start := startUS(tl)
	ttft := 0.0
	if c.n > 0 {
		ttft = since(start, c.firstUS)
	} else {
		r.zero++
	}
	endUS, _ := lastOf(tl, func(k timeline.Kind) bool { return k != timeline.UsageEvent }) // which it did not ask for
	e2e := since(start, endUS)
	r.ttft.Add(ttft)
	r.e2e.Add(e2e)
	r.latencies += e2e / 1000
	n, ok := usage(tl)
	if asked, told := tl.Requested.Get(); told && (!ok || tl.API != nativeSGLang) {
		if !ok || n != asked {
			r.asked++
		}
		n, ok = asked, true
	}
	r.count(tl, n, true, ok)
	if n > 1 {
		r.tpot.Add((e2e - ttft) / float64(n-1))
	}
}

const nativeSGLang = "sglang"

// generated adds the gaps of an answer of /generate. Its chunks repeat the text and tell
// how many tokens there are, so that the last one, which may add no text, counts too.
func (r *sglangReader) generated(tl *timeline.Timeline) {
	var beforeUS, tokens int64
	all, told := usage(tl)
	for ev := range tl.Events.All() {
		first := tokens == 0
		if !hasContent(ev.Kind) && (ev.Kind != timeline.Finish || first) {
			continue
		}
		n, known := ev.Tokens.Get()
		if ev.Kind == timeline.Finish && !known {
			n, known = all-tokens, told
		}
		if !known {
			r.untold++
			return
		}
		if tokens += n; n <= 0 {
			continue
		}
		if !first {
			r.itl.AddN((ev.AtUS-beforeUS+n/2)/n, uint64(n))
		}
		beforeUS = ev.AtUS
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
	gaps, why := &r.itl, "gaps between chunks: k times too large with k tokens a chunk"
	if r.native > 0 {
		why = "each chunk's gap shared by its tokens, the one that ends the text too"
	}
	if r.untold > 0 {
		gaps, why = &stat.Ints{}, "needs the tokens of each chunk: an answer does not tell them"
	}
	t.middle(vllmRows, "itl_ms", "ms", gaps.Frozen(1000), "itl_ms|icl_ms", why)
	t.middle(vllmRows, "e2e_latency_ms", "ms", &r.e2e, "e2e_ms", "ends with [DONE], not with the last token")
	t.noteIf(r.zero > 0, "%s without content in the TTFT sample as 0", metric.Plural(r.zero, "answer"))
	t.noteIf(r.asked > 0, "%s counted with the length that was asked for: SGLang's client asks for no usage, and has it from servers alone that send it unasked", metric.Plural(r.asked, "answer"))
}
