package lens

import (
	"math"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: llmeter 0.2.0, runner.py, endpoints/openai.py, results.py and utils.py.
var llmeter = lens{
	name: "llmeter", tool: "AWS llmeter", asOf: "0.2.0, 2026-11",
	differs: Differs{
		FirstToken: "first chunk with content; reasoning and tool calls are not seen",
		Clock:      "before the SDK's call",
		TPOT:       "(TTLT − TTFT) / (n − 1)",
		ITL:        "–",
		Tokens:     "usage",
		End:        "last chunk with content, else [DONE]",
		Failures:   "left out of latencies unless content came before, inside requests_per_minute, which counts over the time between sends; a cut stream counts as success",
	},
	open: func(Facts) reader { return &llmeterReader{} },
	ends: true,
}

type llmeterReader struct {
	ttft, ttlt, tpot stat.Sample
	answers
	all, failed     int64
	span            timeline.Span
	firstUS, lastUS int64 // when it sent the first and the last request
}

func (r *llmeterReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	if sent := onRun(tl, start); r.all == 0 {
		r.firstUS, r.lastUS = sent, sent
	} else {
		r.firstUS, r.lastUS = min(r.firstUS, sent), max(r.lastUS, sent)
	}
	r.all++
	r.span.Add(onRun(tl, start), onRun(tl, closeUS(tl)))
	if !withoutError(tl) || tl.Flags.Has(timeline.MalformedEvent) {
		r.failed++
		// What had come before the failure counts all the same.
		if c := read(tl, hasContent, nil); c.n > 0 {
			r.ttft.Add(since(start, c.firstUS) / 1000)
			r.ttlt.Add(since(start, c.lastUS) / 1000)
		}
		return
	}
	n, known := usage(tl)
	r.count(tl, n, true, known)
	if !tl.Streamed {
		r.ttlt.Add(since(start, closeUS(tl)) / 1000)
		return
	}
	c := read(tl, hasContent, nil)
	if c.n == 0 {
		r.ttlt.Add(since(start, doneUS(tl)) / 1000)
		return
	}
	ttft, ttlt := since(start, c.firstUS)/1000, since(start, c.lastUS)/1000
	r.ttft.Add(ttft)
	r.ttlt.Add(ttlt)
	if n > 1 && ttft > 0 && ttlt > 0 {
		r.tpot.Add((ttlt - ttft) / float64(n-1))
	}
}

func (r *llmeterReader) report(t *table) {
	figures := func(name string, s sample, ours, why string) {
		t.row(name+"-average", "s", mean(s), withStat(ours, "mean"), why)
		t.row(name+"-p50", "s", linear(s, 0.5), withStat(ours, "p50"), why)
		t.row(name+"-p90", "s", exclusive(s, 9, 10), withStat(ours, "p90"), "by (N + 1) × p, which lies further out in small samples; "+why)
		t.row(name+"-p99", "s", exclusive(s, 99, 100), withStat(ours, "p99"), "by (N + 1) × p, beyond the largest value in small samples; "+why)
	}
	figures("time_to_first_token", &r.ttft, "ttft_ms", "does not see reasoning or tool calls; starts at the send")
	figures("time_to_last_token", &r.ttlt, "e2e_ms", "starts at the send")
	why := "starts at the first content, over all tokens of the answer"
	if r.tpot.Len() == 0 && r.uncounted > 0 {
		why = noCount
	}
	figures("time_per_output_token", &r.tpot, "tpot_ms", why)
	t.row("failed_requests", "requests", whole(r.failed), "requests.failed", "a cut stream and an empty answer are no failures")
	t.row("failed_requests_rate", "ratio", ratio(float64(r.failed), float64(r.all)), "error_rate", "the same")
	perMinute := ratio(60e6*float64(r.all), float64(r.lastUS-r.firstUS))
	t.row("requests_per_minute", "requests/min", perMinute, "",
		"all requests, failures too, over the time from the first send to the last: one too many for that time")
	output, whyOutput := r.rate(r.span.Seconds()/60, "60 × success_output_tps over another window")
	t.row("average_output_tokens_per_minute", "tokens/min", output, "", whyOutput)
}

// exclusive is the quantile i/m as Python's statistics.quantiles reckons it, which
// takes the sample for a part of a larger one: at i × (N + 1) / m, and on the line
// through the outermost two values beyond them.
func exclusive(s sample, i, m int64) opt {
	n := s.Len()
	switch n {
	case 0:
		return opt{}
	case 1:
		return timeline.Some(s.At(0))
	}
	j := min(max(i*(n+1)/m, 1), n-1)
	delta := float64(i*(n+1) - j*m)
	return timeline.Some(math.Max(0, (s.At(j-1)*(float64(m)-delta)+s.At(j)*delta)/float64(m)))
}
