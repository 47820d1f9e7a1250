package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// The formulas as glossaries print them, taken by the letter. Sources: the page
// "LLM inference metrics" of BentoML's handbook, Databricks' "LLM inference
// performance engineering", and pages that repeat them: generation time = tokens ×
// TPOT, total latency = TTFT + generation time.
var glossary = lens{
	name: "glossary", tool: "Glossaries, by the letter", asOf: "2026-11",
	differs: Differs{
		FirstToken: "first token",
		Clock:      "the send",
		TPOT:       "(E2E − TTFT) / n: the first token is counted, its time is not",
		ITL:        "the same as TPOT under another name",
		Tokens:     "as given: usage here",
		End:        "last token",
		Failures:   "not spoken of; left out here",
	},
	open: func(f Facts) reader { return &glossaryReader{limits: f.Limits} },
}

type glossaryReader struct {
	limits               Limits
	ttft, e2e, tpot, tps stat.Sample
	answers
	ok, good int64
	busyMS   float64 // the sum of all requests' times
	span     timeline.Span
}

func (r *glossaryReader) add(tl *timeline.Timeline) {
	c := read(tl, hasToken, nil)
	if tl.Outcome != timeline.OK || c.n == 0 {
		return
	}
	start := startUS(tl)
	r.ok++
	r.span.Add(onRun(tl, start), onRun(tl, c.lastUS))
	ttft, e2e := since(start, c.firstUS), since(start, c.lastUS)
	r.ttft.Add(ttft)
	r.e2e.Add(e2e)
	r.busyMS += e2e
	tpot := 0.0
	n, known := usageOrTokenizer(tl)
	if r.count(tl, n, true, known && n > 0); known && n > 0 {
		tpot = (e2e - ttft) / float64(n)
		r.tpot.Add(tpot)
		if e2e > 0 {
			r.tps.Add(float64(n) * 1000 / e2e)
		}
	}
	if within(r.limits.TTFTMS, ttft) && within(r.limits.TPOTMS, tpot) && within(r.limits.E2EMS, e2e) {
		r.good++
	}
}

func (r *glossaryReader) report(t *table) {
	d := r.span.Seconds()
	t.middle(vllmRows, "TTFT", "ms", &r.ttft, "ttft_ms", "starts at the send")
	why := "divides by n, ours by n − 1: (n − 1) / n of ours, half of it for two tokens"
	if r.tpot.Len() == 0 {
		why = noCount
	}
	t.middle(vllmRows, "TPOT", "ms", &r.tpot, "tpot_ms", why)
	t.middle(vllmRows, "total latency", "ms", &r.e2e, "e2e_ms", "starts at the send")
	t.row("tokens/s of a request, mean", "tokens/s", mean(&r.tps), "e2e_tps.mean", "n / E2E: TTFT is inside")
	system, why := r.rate(d, "over another window")
	apart, _ := r.rate(r.busyMS/1000, "")
	t.row("tokens/s of the system", "tokens/s", system, "success_output_tps", why)
	t.row("tokens / sum of the requests' times", "tokens/s", apart, "",
		"what some call the system's rate: it is one stream's, as if requests never ran beside each other")
	t.row("requests/s", "requests/s", ratio(float64(r.ok), d), "requests_per_s", "another window")
	good, why := opt{}, noLimit
	switch {
	case r.limits.TPOTMS.OK() && r.uncounted > 0:
		why = noCount
	case r.limits.any():
		good, why = ratio(float64(r.good), d), "a failed request is not spoken of: it is no good one, and in no share"
	}
	t.row("goodput", "requests/s", good, "goodput.requests_per_s", why)
}
