package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var inferencePerf = lens{
	name: "inference-perf", tool: "inference-perf", asOf: "0.7.0, 2026-11",
	differs: Differs{
		FirstToken: "first chunk with content, if there is more than one token; reasoning is not seen",
		Clock:      "a worker's send",
		TPOT:       "(last − first token) / (n − 1)",
		ITL:        "gaps between token stamps; tokens of one chunk share a stamp, so gaps of 0 inside a chunk",
		Tokens:     "the text tokenised again; usage with use_server_output_tokens",
		End:        "after the answer was tokenised",
		Failures:   "left out, of goodput too; an error inside a stream counts as success",
	},
	open: func(f Facts) reader { return &inferencePerfReader{limits: f.Limits} },
}

type inferencePerfReader struct {
	limits Limits

	ttft, tpot, ntpot, latency stat.Sample
	itl                        stat.Ints
	unknownPerChunk            int64
	successes, failures, good  int64
	span                       timeline.Span
	answers
}

func (r *inferencePerfReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	r.span.Add(onRun(tl, start), onRun(tl, closeUS(tl)))
	if !readToTheEnd(tl) {
		r.failures++
		return
	}
	r.successes++
	n, exact, known := contentTokens(tl)
	r.count(tl, n, exact, known)
	latency := since(start, closeUS(tl))
	r.latency.Add(latency / 1000)
	switch {
	case n > 0:
		r.ntpot.Add(latency / 1000 / float64(n))
	case known:
		r.ntpot.Add(0) // an answer without tokens is in the sample as 0
	}
	ttft, tpot := opt{}, opt{}
	c := read(tl, hasContent, nil)
	// One chunk with several tokens has several stamps, all alike.
	if c.n > 1 || c.n == 1 && n > 1 {
		ttft = timeline.Some(since(start, c.firstUS))
		r.ttft.Add(ttft.Or(0) / 1000)
		if n > 1 {
			tpot = timeline.Some(since(c.firstUS, c.lastUS) / float64(n-1))
			r.tpot.Add(tpot.Or(0) / 1000)
		}
		r.gaps(tl)
	}
	if has(r.limits.TTFTMS, ttft) && has(r.limits.TPOTMS, tpot) && within(r.limits.E2EMS, latency) {
		r.good++
	}
}

// contentTokens are those of the content, which it tokenises: without reasoning, of which our
// own count has what was streamed and the server's may stand in, and without calls of tools.
// known is false where these can't be told from it.
func contentTokens(tl *timeline.Timeline) (n int64, exact, known bool) {
	n, exact, known = tokenizer(tl)
	thought, told := tl.Usage.Reasoning.Get()
	if !tl.Streamed {
		if exact && thought < n { // more was not in the text
			n -= thought
		}
		return n, exact, known
	}
	var content, thoughts, others int64
	for ev := range counted(tl, hasToken) {
		switch ev.Kind {
		case timeline.Text:
			content++
		case timeline.Reasoning:
			thoughts++
		default:
			others++
		}
	}
	switch {
	case content == 0 && thoughts+others > 0:
		return 0, true, true
	case others > 0, exact && thoughts > 0 && (!told || thought > n):
		return 0, false, false
	case exact && thoughts > 0:
		n -= thought
	}
	return n, exact, known
}

// gaps adds the differences of the stamps of the tokens.
func (r *inferencePerfReader) gaps(tl *timeline.Timeline) {
	counts, ok := tokensOfContent(tl)
	if !ok {
		r.unknownPerChunk++
		return
	}
	lastUS := int64(-1)
	for ev := range counted(tl, hasContent) {
		k := counts(ev)
		if k == 0 {
			continue
		}
		if lastUS >= 0 {
			r.itl.Add(ev.AtUS - lastUS)
		}
		r.itl.AddN(0, uint64(k-1))
		lastUS = ev.AtUS
	}
}

// tokensOfContent says how many tokens a chunk holds, where that is known.
func tokensOfContent(tl *timeline.Timeline) (func(timeline.Event) int64, bool) {
	v := metric.ValuesOf(tl)
	var told, all int64
	for ev := range tl.Events.Generation() {
		all++
		if ev.Tokens.OK() {
			told++
		}
	}
	switch {
	case told == all:
		return func(ev timeline.Event) int64 { return ev.Tokens.Or(0) }, true
	case v.StreamedTokens.OK() && v.StreamedTokens.Or(0) == all:
		return func(timeline.Event) int64 { return 1 }, true
	}
	return nil, false
}

func (r *inferencePerfReader) report(t *table) {
	d := r.span.Seconds()
	names := [3]string{"latency.%s.mean", "latency.%s.median", "latency.%s.p99"}
	t.row("successes.count", "requests", whole(r.successes), "requests.ok", "an error inside a stream, a cut stream and an empty answer are successes")
	t.row("failures.count", "requests", whole(r.failures), "requests.failed", "the same")
	t.row("throughput.requests_per_sec", "requests/s", ratio(float64(r.successes), d), "requests_per_s", "another window, another notion of success")
	output, why := r.rate(d, "successes only, over another window")
	t.row("throughput.output_tokens_per_sec", "tokens/s", output, "success_output_tps", why)
	good, why := opt{}, noLimit
	if r.limits.any() {
		good = ratio(100*float64(r.good), float64(r.successes))
		why = "a share of successes only: with failures it reads too high"
	}
	t.row("goodput.goodput_percentage", "%", good, "", why)
	t.middle(names, "request_latency", "s", &r.latency, "e2e_ms", "includes tokenising the answer, which this record cannot know; ends with the body")
	t.middle(names, "normalized_time_per_output_token", "s", &r.ntpot, "tpot_ms", "E2E / n: TTFT is inside; an answer without tokens is a 0")
	t.middle(names, "time_to_first_token", "s", &r.ttft, "ttft_ms", "does not see reasoning; none for one token")
	t.middle(names, "time_per_output_token", "s", &r.tpot, "tpot_ms", "from content to content: reasoning tokens count in n, not in the time")
	itlWhy := "gaps of 0 between tokens of one chunk, so the median can be 0"
	var itl sample = r.itl.Frozen(1e6)
	if r.unknownPerChunk > 0 {
		itl, itlWhy = &stat.Sample{}, "needs the tokens of each chunk: the text would have to be tokenised again"
	}
	t.middle(names, "inter_token_latency", "s", itl, "itl_ms|icl_ms", itlWhy)
	t.noteIf(r.standIn > 0, "%s counted by the server, as with use_server_output_tokens", metric.Plural(r.standIn, "answer"))
}
