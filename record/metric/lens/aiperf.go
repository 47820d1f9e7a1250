package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var aiperf = lens{
	name: "aiperf", tool: "NVIDIA AIPerf", asOf: "0.13, 2026-09",
	differs: Differs{
		FirstToken: "first chunk with content, reasoning or a tool call; refusals are not seen",
		Clock:      "just before the send; connecting is inside",
		TPOT:       "called inter_token_latency: (E2E − TTFT) / (n − 1), one value a request",
		ITL:        "called inter_chunk_latency: gaps between content chunks",
		Tokens:     "prompts and answers tokenised by itself, prompts without the chat template; usage with --use-server-token-count",
		End:        "last content chunk",
		Failures:   "left out of every figure but the error rate, and so are requests that were cancelled on purpose; an error inside a stream counts as success; a missing metric makes a request bad",
	},
	open: func(f Facts) reader {
		return newAIPerf(f)
	},
	hungUp: true,
}

// aiperfNative is AIPerf's engine in Rust, which stands in its repository and not in the
// wheel of 0.13. Where it differs from the Python one its developers wrote down in
// docs/dev/parity-audit/04-response-tokens.md (findings 1, 3, 4, 6) and 07-metrics.md
// (finding 3; "checked and consistent" is the rest), at commit e0569e65ff1a.
var aiperfNative = lens{
	name: "aiperf-native", tool: "NVIDIA AIPerf's native engine", asOf: "repository at e0569e65, 2026-07",
	differs: Differs{
		FirstToken: "first chunk with content, reasoning or a tool call; of an answer that is not streamed the whole of it",
		Clock:      "just before the send; connecting is inside",
		TPOT:       "called inter_token_latency: (E2E − TTFT) / (n − 1), with the body's end and n chunks",
		ITL:        "called inter_chunk_latency: gaps between content chunks",
		Tokens:     "chunks with content or reasoning are counted as tokens, prompts as of aiperf; usage with --use-server-token-count",
		End:        "end of the body",
		Failures:   "as of aiperf",
	},
	open: func(f Facts) reader {
		r := newAIPerf(f)
		r.native = true
		return r
	},
	hungUp: true,
}

// aiperfPrompts: records/inference_result_parser.py, compute_input_token_count; the
// template is counted with --apply-chat-template.
const aiperfPrompts = "as with --use-server-token-count; without it AIPerf tokenises their text, without the chat template, so that its ISL is mostly smaller"

type aiperfReader struct {
	limits           Limits
	native, imported bool

	ttft, ttst, ttfo, latency, itl   stat.Sample
	user, e2eTPS, prefill, effective stat.Sample
	chunkGaps                        stat.Ints
	ok, failed, good                 int64
	span, phase                      timeline.Span // of successes; of all requests, until each had returned
	answers
}

func newAIPerf(f Facts) *aiperfReader {
	r := &aiperfReader{limits: f.Limits, imported: f.Imported, answers: ownPrompts(f, aiperfPrompts)}
	r.own = true
	return r
}

func (r *aiperfReader) add(tl *timeline.Timeline) {
	r.phase.Add(onRun(tl, startUS(tl)), onRun(tl, closeUS(tl)))
	r.effective.Add(ms(r.ended(tl))) // of failures too
	// An error inside a stream is none to it, as long as a token came before: it looks
	// for "event: error", which APIs like OpenAI's do not send.
	if !readToTheEnd(tl) || tl.Outcome == timeline.EmptyOutput || tl.Streamed && read(tl, hasSpoken, nil).n == 0 {
		r.failed++
		return
	}
	r.ok++
	start := startUS(tl)
	second := int64(-1)
	c := read(tl, hasSpoken, func(us int64, _ timeline.Event) {
		if second < 0 {
			second = us
		}
		r.chunkGaps.Add(us)
	})
	end := c.lastUS
	if !tl.Streamed || r.native {
		end = closeUS(tl)
	}
	if r.native && !tl.Streamed {
		c = chunks{n: 1, firstUS: end, lastUS: end} // its one response is an arrival to it
	}
	latency := since(start, end)
	r.span.Add(onRun(tl, start), onRun(tl, end))
	r.latency.Add(latency)
	n, exact, known := tokenizer(tl)
	if r.native {
		n, exact, known = c.n, true, true
	}
	r.count(tl, n, exact, known)
	if known && latency > 0 {
		r.e2eTPS.Add(float64(n) * 1000 / latency)
	}
	ttft, itl := opt{}, opt{}
	if c.n > 0 {
		ttft = timeline.Some(since(start, c.firstUS))
		r.ttft.Add(ttft.Or(0))
		if in, told := r.input(tl); told && ttft.Or(0) > 0 {
			r.prefill.Add(float64(in) * 1000 / ttft.Or(0))
		}
		if second >= 0 {
			r.ttst.Add(ms(second))
		}
		if n > 1 {
			itl = timeline.Some((latency - ttft.Or(0)) / float64(n-1))
			r.itl.Add(itl.Or(0))
			if itl.Or(0) > 0 {
				r.user.Add(1000 / itl.Or(0))
			}
		}
	}
	if a := read(tl, isSpokenAnswer, nil); a.n > 0 {
		r.ttfo.Add(since(start, a.firstUS))
	}
	if has(r.limits.TTFTMS, ttft) && has(r.limits.TPOTMS, itl) && within(r.limits.E2EMS, latency) {
		r.good++
	}
}

// ended is when AIPerf takes a request for over, failed or not: at the last message
// of a stream; at its very start where the status was no 2xx, as it then notes no end
// (transports/aiohttp_client.py:165-172, records/record_processor_service.py:464).
func (r *aiperfReader) ended(tl *timeline.Timeline) int64 {
	switch {
	case r.native, tl.Outcome == timeline.CancelledUser:
		return closeUS(tl)
	case tl.HTTPStatus != 0 && tl.HTTPStatus/100 != 2:
		return startUS(tl)
	case tl.Streamed && tl.Events.Len() > 0:
		return lastLineUS(tl)
	}
	return closeUS(tl)
}

// has is within, where a missing metric fails its limit.
func has(limit, v opt) bool {
	x, ok := v.Get()
	return !limit.OK() || ok && within(limit, x)
}

func (r *aiperfReader) report(t *table) {
	d := r.phase.Seconds()
	t.row("request_count", "requests", whole(r.ok), "requests.ok", "a cut stream and an error inside one count as success")
	t.row("request_error_rate", "%", r.errorRate(), "", "absent when everything failed")
	t.row("benchmark_duration", "s", r.span.Length(), "window_s", "of successes only: a slow failure at the end is not inside")
	t.row("request_throughput", "requests/s", ratio(float64(r.ok), d), "requests_per_s", "over its phase, which ends when the last request has returned, also a failed one")
	r.rates(t, "output_token_throughput", "total_token_throughput", d, noCount)
	r.goodput(t, d)
	avgAndPercentiles(t, "time_to_first_token", &r.ttft, "ttft_ms", "starts at the send, not when the request was due")
	avgAndPercentiles(t, "time_to_second_token", &r.ttst, "", "a gap, not a time since the start: the first icl_ms of each request")
	avgAndPercentiles(t, "time_to_first_output_token", &r.ttfo, "ttfo_ms", "starts at the send")
	latencyWhy := "starts at the send"
	if r.native {
		latencyWhy = "starts at the send and ends with the body: usage and [DONE] are inside"
	}
	avgAndPercentiles(t, "request_latency", &r.latency, "e2e_ms", latencyWhy)
	itlWhy := "the same formula as our TPOT under another name: one mean a request, so stalls do not show"
	if r.native {
		itlWhy = "until the body's end, over the chunks but one"
	}
	if r.itl.Len() == 0 && r.uncounted > 0 {
		itlWhy = noCount
	}
	avgAndPercentiles(t, "inter_token_latency", &r.itl, "tpot_ms", itlWhy)
	avgAndPercentiles(t, "inter_chunk_latency", r.chunkGaps.Frozen(1000), "icl_ms", "the same, without our flag for coalesced arrivals")
	effectiveWhy := "from when the request was due, failures too; an answer of HTTP 4xx or 5xx ends when it began"
	if r.native {
		effectiveWhy = "from when the request was due to the end of the body, failures too"
	}
	if r.imported {
		r.effective, effectiveWhy = stat.Sample{}, "needs when the request was handed out, where the imported records have its send"
	}
	t.row("effective_latency avg", "ms", mean(&r.effective), "close_ms.mean|e2e_ms.mean", effectiveWhy)
	prefill, why := r.perPrompt(&r.prefill, overTTFT)
	t.row("prefill_throughput_per_user avg", "tokens/s", mean(prefill), "", why)
	t.row("output_token_throughput_per_user avg", "tokens/s", mean(&r.user), "decode_tps.mean", "bursts are not left out")
	t.row("e2e_output_token_throughput avg", "tokens/s", mean(&r.e2eTPS), "e2e_tps.mean", "starts at the send")
	t.noteIf(r.native, "it counts chunks as tokens: with several tokens a chunk its tokens and rates are too low, and inter_token_latency is too high")
	t.noteIf(r.standIn > 0, "%s counted by the server, as with --use-server-token-count; without it AIPerf tokenises the text again", metric.Plural(r.standIn, "answer"))
}

func (r *aiperfReader) errorRate() opt {
	return timeline.Maybe(100*float64(r.failed)/float64(r.ok+r.failed), r.ok > 0)
}

func (r *aiperfReader) goodput(t *table, seconds float64) {
	rate, share, why := opt{}, opt{}, noLimit
	if r.limits.any() {
		rate = ratio(float64(r.good), seconds)
		share = ratio(float64(r.good), float64(r.ok+r.failed))
		why = "a request without a metric is bad: one token has no inter-token latency"
	}
	t.row("goodput", "requests/s", rate, "goodput.requests_per_s", why)
	t.row("good_request_fraction", "ratio", share, "goodput.fraction", why)
}

// avgAndPercentiles adds the rows of AIPerf's and genai-perf's results.
func avgAndPercentiles(t *table, name string, s sample, ours, why string) {
	t.row(name+" avg", "ms", mean(s), withStat(ours, "mean"), why)
	t.row(name+" p50", "ms", linear(s, 0.5), withStat(ours, "p50"), why)
	t.row(name+" p99", "ms", linear(s, 0.99), withStat(ours, "p99"), why)
	t.row(name+" std", "ms", deviation(s), withStat(ours, "sd"), "divides by n, ours by n − 1; "+why)
}
