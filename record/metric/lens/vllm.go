package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: vllm 0.33.0, vllm/benchmarks/lib/endpoint_request_func.py and
// vllm/benchmarks/serve.py.
var vllm = lens{
	name: "vllm", tool: "vllm bench serve (Python)", asOf: "0.33.0, 2026-11",
	differs: Differs{
		FirstToken: "first chunk with content, `reasoning` or a tool call; one with empty content and no role too; of completions any with `choices`; `reasoning_content` and refusals are not seen",
		Clock:      "the send, after its own concurrency limit",
		TPOT:       "(E2E − TTFT) / (n − 1)",
		ITL:        "gaps between such chunks; a chunk counts as one token",
		Tokens:     "usage, else the text tokenised again",
		End:        "last such chunk, one with the finish reason and an empty text too",
		Failures:   "left out of latency, inside the duration; an error inside a stream counts as success",
	},
	open: func(f Facts) reader {
		return &vllmReader{limits: f.Limits, counts: withoutRole,
			from: "starts after the client's own queue", to: "ends with the last token, one without text too",
			gaps: "gaps between chunks, one without text too: k times too large with k tokens a chunk"}
	},
}

// Source: the client in Rust that vllm 0.33.0 brings along, which
// VLLM_USE_RUST_BENCH=1 chooses.
var vllmRust = lens{
	name: "vllm-rust", tool: "vllm bench serve (Rust)", asOf: "0.33.0, 2026-11",
	differs: Differs{
		FirstToken: "first chunk with `choices`, an empty role chunk too",
		Clock:      "the send, after its own concurrency limit",
		TPOT:       "(E2E − TTFT) / (n − 1)",
		ITL:        "gaps between chunks with `choices`, the finish chunk included; a chunk counts as one token",
		Tokens:     "usage, else chunks with `choices`",
		End:        "last chunk with `choices`",
		Failures:   "left out of latency, inside the duration; an error inside a stream counts as success",
	},
	open: func(f Facts) reader {
		return &vllmReader{limits: f.Limits, counts: hasChoice, perChunk: true,
			from: "counts the role chunk as first token and starts after the client's own queue",
			to:   "starts at the role chunk and ends with the finish chunk",
			gaps: "gaps between chunks from the role chunk to the finish chunk: k times too large with k tokens a chunk"}
	},
}

type vllmReader struct {
	limits         Limits
	counts         func(timeline.Kind) bool // which chunks of a chat are tokens to it
	perChunk       bool                     // without usage, chunks are counted
	from, to, gaps string                   // why TTFT, E2E and ITL differ from ours

	ttft, tpot, e2el stat.Sample
	itl              stat.Ints
	answers
	completed, failed int64
	good              int64
	span              timeline.Span
	okFromUS          int64 // the first send of a success, on the run's clock
	chunksByMS        map[int64]int64
}

func (r *vllmReader) add(tl *timeline.Timeline) {
	r.span.Add(onRun(tl, startUS(tl)), onRun(tl, closeUS(tl)))
	counts := r.counts
	if tl.API == "openai-completions" {
		counts = hasChoice
	}
	c := read(tl, counts, nil)
	if !readToTheEnd(tl) || c.n == 0 || tl.Flags.Has(timeline.MalformedEvent) {
		r.failed++
		return
	}
	if start := onRun(tl, startUS(tl)); r.completed == 0 || start < r.okFromUS {
		r.okFromUS = start
	}
	r.completed++
	read(tl, counts, func(us int64, _ timeline.Event) { r.itl.Add(us) })
	r.chunks(tl, counts)
	start := startUS(tl)
	ttft, e2el := since(start, c.firstUS), since(start, c.lastUS)
	r.ttft.Add(ttft)
	r.e2el.Add(e2el)
	n, known := usageOrTokenizer(tl)
	if r.perChunk && !tl.Usage.Output.OK() {
		n, known = c.n, true
	}
	r.count(tl, n, true, known)
	tpot := 0.0 // of one token, for its goodput only
	if n > 1 {
		tpot = (e2el - ttft) / float64(n-1)
		r.tpot.Add(tpot)
	}
	if within(r.limits.TTFTMS, ttft) && within(r.limits.TPOTMS, tpot) && within(r.limits.E2EMS, e2el) {
		r.good++
	}
}

// within reports a value not above its limit, or no limit at all.
func within(limit opt, v float64) bool {
	l, ok := limit.Get()
	return !ok || v <= l
}

// chunks counts chunks by millisecond, for the best second.
func (r *vllmReader) chunks(tl *timeline.Timeline, counts func(timeline.Kind) bool) {
	if r.chunksByMS == nil {
		r.chunksByMS = map[int64]int64{}
	}
	for ev := range counted(tl, counts) {
		r.chunksByMS[onRun(tl, ev.AtUS)/1000]++
	}
}

func (r *vllmReader) peak() opt {
	seconds := map[int64]int64{}
	best := int64(0)
	for at, n := range r.chunksByMS {
		s := (at - r.okFromUS/1000) / 1000
		seconds[s] += n
		best = max(best, seconds[s])
	}
	if best == 0 {
		return opt{}
	}
	return whole(best)
}

func (r *vllmReader) report(t *table) {
	t.row("completed", "requests", whole(r.completed), "requests.ok",
		"an error inside a stream, a cut stream and an empty answer with a role chunk count as completed")
	t.row("failed", "requests", whole(r.failed), "requests.failed", "the same")
	t.row("duration", "s", r.span.Length(), "window_s",
		"first send to the end of the last body, failures included; ours starts when the first request was due and ends with the last token")
	d := r.span.Seconds()
	t.row("request_throughput", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "another window, another notion of success")
	good, why := opt{}, noLimit
	if r.limits.any() {
		good, why = ratio(float64(r.good), d), "TPOT of one token counts as 0; "+r.from
	}
	t.row("request_goodput", "requests/s", good, "goodput.requests_per_s", why)
	r.rates(t, "output_throughput", "total_token_throughput", d, noCount)
	t.row("max_output_tokens_per_s", "tokens/s", r.peak(), "best_1s_tps",
		"counts chunks, not tokens, in whole seconds from the first send of a success")
	t.middle(vllmRows, "ttft_ms", "ms", &r.ttft, "ttft_ms", r.from)
	tpotWhy := r.to
	if r.tpot.Len() == 0 && r.uncounted > 0 {
		tpotWhy = noCount
	}
	t.middle(vllmRows, "tpot_ms", "ms", &r.tpot, "tpot_ms", tpotWhy)
	t.middle(vllmRows, "itl_ms", "ms", r.itl.Frozen(1000), "itl_ms|icl_ms", r.gaps)
	t.middle(vllmRows, "e2el_ms", "ms", &r.e2el, "e2e_ms", "starts after the client's own queue; "+r.to)
	t.noteIf(r.uncounted > 0 && r.tpot.Len() > 0, "%s without a token count, left out of TPOT", metric.Plural(r.uncounted, "request"))
}

// vllmRows are the names in vLLM's and SGLang's results.
var vllmRows = [3]string{"mean_%s", "median_%s", "p99_%s"}

// rates adds output and total throughput; missing says what an unknown
// count of output tokens would need.
func (a *answers) rates(t *table, outputName, totalName string, seconds float64, missing string) {
	output, total := opt{}, opt{}
	why, whyTotal := missing, missing
	if a.uncounted == 0 {
		output, why = ratio(float64(a.out), seconds), "successes only, over another window"
		whyTotal = why
		if a.noInput == 0 {
			total, whyTotal = ratio(float64(a.in+a.out), seconds), a.ofPrompts(why)
		} else {
			whyTotal = noPrompt
		}
	}
	t.row(outputName, "tokens/s", output, "success_output_tps", why)
	t.row(totalName, "tokens/s", total, "system_in_out_tps", whyTotal)
}
