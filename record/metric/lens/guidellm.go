package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var guidellm = lens{
	name: "guidellm", tool: "GuideLLM", asOf: "0.8.1, 2026-11",
	differs: Differs{
		FirstToken: "first chunk with content, reasoning or a tool call",
		Clock:      "the send",
		TPOT:       "(last token − send) / n: TTFT is inside",
		ITL:        "(last − first token) / (n − 1), one value a request, weighted by n − 1; no real gaps",
		Tokens:     "usage, else the length that was asked for, else the chunk count",
		End:        "[DONE], else the end of the request",
		Failures:   "a group of their own, with them answers without any output token and those with an event that is no JSON",
	},
	open: func(f Facts) reader { return &guidellmReader{limits: f.Limits} },
	ends: true,
}

type guidellmReader struct {
	limits Limits

	latency, ttft, ttfo stat.Sample
	tpot, itl           weighted
	successful, errored int64
	good, bad           int64
	out                 int64
	span                timeline.Span
}

func (r *guidellmReader) add(tl *timeline.Timeline) {
	endUS := doneUS(tl)
	r.span.Add(onRun(tl, startUS(tl)), onRun(tl, endUS))
	if n, _ := usage(tl); !withoutError(tl) || tl.Flags.Has(timeline.MalformedEvent) || tl.Outcome == timeline.EmptyOutput && n == 0 {
		r.errored++
		r.bad++
		return
	}
	r.successful++
	start := startUS(tl)
	latency := since(start, endUS)
	r.latency.Add(latency / 1000)
	c := read(tl, hasSpoken, nil)
	n, ok := usage(tl)
	if !ok {
		n = tl.Requested.Or(c.n) // the length that was asked for, where the data had one
	}
	r.out += n
	ttft, tpot, itl := 0.0, 0.0, 0.0
	last := c.lastUS
	if c.n > 0 {
		ttft = since(start, c.firstUS)
	} else {
		last = endUS
	}
	if n > 0 {
		tpot = since(start, last) / float64(n)
	}
	if c.n > 0 && n > 1 {
		itl = since(c.firstUS, c.lastUS) / float64(n-1)
	}
	if c.n > 0 { // up to 0.7 what was missing was recorded as 0
		r.ttft.Add(ttft)
	}
	r.tpot.add(tpot, float64(n))
	r.itl.add(itl, max(float64(n-1), 0))
	if a := read(tl, isSpokenAnswer, nil); a.n > 0 {
		r.ttfo.Add(since(start, a.firstUS))
	}
	r.judge(c.n > 0, n > 1, ttft, itl, latency)
}

// judge leaves a request out that lacks what a limit is on.
func (r *guidellmReader) judge(hasTTFT, hasITL bool, ttft, itl, e2e float64) {
	switch {
	case r.limits.TTFTMS.OK() && !hasTTFT, r.limits.TPOTMS.OK() && !(hasTTFT && hasITL):
	case within(r.limits.TTFTMS, ttft) && within(r.limits.TPOTMS, itl) && within(r.limits.E2EMS, e2e):
		r.good++
	default:
		r.bad++
	}
}

func (r *guidellmReader) report(t *table) {
	d := r.span.Seconds()
	t.row("requests.successful", "requests", whole(r.successful), "requests.ok", "a cut stream counts as successful")
	t.row("requests.errored", "requests", whole(r.errored), "requests.failed", "the same")
	t.row("requests_per_second.mean", "requests/s", ratio(float64(r.successful), d), "requests_per_s", "another window, another notion of success")
	t.row("output_tokens_per_second.mean", "tokens/s", ratio(float64(r.out), d), "success_output_tps",
		"from token times spread evenly over each request; the mean is tokens / window all the same")
	fraction, why := opt{}, noLimit
	if r.limits.any() {
		fraction = ratio(float64(r.good), float64(r.good+r.bad))
		why = "its limit tpot_ms is on its inter-token latency, which is our TPOT"
	}
	t.row("goodput.attainment", "ratio", fraction, "goodput.fraction", why)
	dist := func(name, unit string, mean opt, q func(float64) opt, ours, why string) {
		t.row(name+".mean", unit, mean, withStat(ours, "mean"), why)
		t.row(name+".median", unit, q(0.5), withStat(ours, "p50"), why)
		t.row(name+".p95", unit, q(0.95), withStat(ours, "p95"), why)
		t.row(name+".p99", unit, q(0.99), withStat(ours, "p99"), why)
	}
	dist("time_to_first_token_ms", "ms", mean(&r.ttft), rank(&r.ttft), "ttft_ms", "starts at the send")
	dist("time_to_first_output_token_ms", "ms", mean(&r.ttfo), rank(&r.ttfo), "ttfo_ms", "starts at the send")
	dist("time_per_output_token_ms", "ms", r.tpot.mean(), r.tpot.quantile, "tpot_ms", "TPOT includes TTFT, and long answers weigh more")
	dist("inter_token_latency_ms", "ms", r.itl.mean(), r.itl.quantile, "tpot_ms",
		"this is the mean of a request, our TPOT, weighted by n − 1; stalls do not show in it")
	dist("request_latency", "s", mean(&r.latency), rank(&r.latency), "e2e_ms", "ends with [DONE], not with the last token")
}

// rank is the percentile of a sample whose values count alike.
func rank(s sample) func(float64) opt {
	var w weighted
	return func(p float64) opt {
		if w.values == nil {
			for i := range s.Len() {
				w.add(s.At(i), 1)
			}
		}
		return w.quantile(p)
	}
}
