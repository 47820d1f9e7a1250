package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: NVIDIA, "NIM for LLM Benchmarking Guide", chapter Metrics.
var nim = lens{
	name: "nim", tool: "NVIDIA NIM benchmarking guide", asOf: "2026-08",
	differs: Differs{
		FirstToken: "first answer that is not empty",
		Clock:      "the send",
		TPOT:       "called inter-token latency: (E2E − TTFT) / (n − 1), one value a request",
		ITL:        "–",
		Tokens:     "as the tool counts: the text tokenised again, or usage",
		End:        "last token",
		Failures:   "not said; left out here",
	},
	open: func(Facts) reader { return &nimReader{} },
}

type nimReader struct {
	ttft, e2e, itl, perUser stat.Sample
	answers
	completed int64
	span      timeline.Span // first send to last token
}

func (r *nimReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	c := read(tl, hasToken, nil)
	if tl.Outcome != timeline.OK || tl.Streamed && c.n == 0 {
		return
	}
	end := c.lastUS
	if !tl.Streamed {
		end = closeUS(tl)
	}
	r.completed++
	r.span.Add(onRun(tl, start), onRun(tl, end))
	e2e := since(start, end)
	r.e2e.Add(e2e)
	n, known := usageOrTokenizer(tl)
	r.count(tl, n, true, known)
	if known && e2e > 0 {
		r.perUser.Add(float64(n) * 1000 / e2e)
	}
	if c.n == 0 {
		return
	}
	ttft := since(start, c.firstUS)
	r.ttft.Add(ttft)
	if n > 1 {
		r.itl.Add((e2e - ttft) / float64(n-1))
	}
}

func (r *nimReader) report(t *table) {
	d := r.span.Seconds()
	avgAndPercentiles(t, "time to first token", &r.ttft, "ttft_ms", "starts at the send")
	avgAndPercentiles(t, "end-to-end request latency", &r.e2e, "e2e_ms", "starts at the send")
	avgAndPercentiles(t, "inter-token latency", &r.itl, "tpot_ms", "our TPOT under another name: one mean a request, so stalls do not show")
	system, why := r.rate(d, "from the first send to the last token of successes: a failure at the end is not inside")
	t.row("total tokens per second of the system", "tokens/s", system, "success_output_tps", why)
	t.row("tokens per second of a user avg", "tokens/s", mean(&r.perUser), "e2e_tps.mean", "n / E2E: TTFT is inside, so it is below 1 / TPOT")
	t.row("requests per second", "requests/s", ratio(float64(r.completed), d), "requests_per_s", "another window")
}
