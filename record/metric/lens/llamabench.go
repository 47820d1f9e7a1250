package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var llamaBench = lens{
	name: "llama-bench", tool: "llama.cpp llama-bench", asOf: "2026-08",
	differs: Differs{
		FirstToken: "–: no server, no stream",
		Clock:      "–",
		TPOT:       "tg: n / time of n decode steps, mean of the rates of repetitions",
		ITL:        "–",
		Tokens:     "as many as were asked for",
		End:        "–",
		Failures:   "–",
	},
	open: func(f Facts) reader { return &llamaBenchReader{concurrency: f.Concurrency} },
}

// llamaBenchReader states what llama-bench would print if each request were
// one of its repetitions. It decodes one sequence without HTTP, sampling and
// tokenising: its figures bound a server's from above.
type llamaBenchReader struct {
	concurrency timeline.Opt[int64]
	pp, tg      stat.Sample
}

func (r *llamaBenchReader) add(tl *timeline.Timeline) {
	if tl.Outcome != timeline.OK {
		return
	}
	c := read(tl, hasToken, nil)
	start := tl.SentUS.Or(startUS(tl))
	if in, ok := tl.Usage.Input.Get(); ok && c.n > 0 && c.firstUS > start {
		if computed := in - tl.Usage.Cached.Or(0); computed > 0 {
			r.pp.Add(float64(computed) * 1e6 / float64(c.firstUS-start))
		}
	}
	if n, ok := usage(tl); ok && n > 1 && c.n > 1 && c.lastUS > c.firstUS {
		r.tg.Add(float64(n-1) * 1e6 / float64(c.lastUS-c.firstUS))
	}
}

func (r *llamaBenchReader) report(t *table) {
	pp, tg := &r.pp, &r.tg
	whyPP := "prompt tokens that were not cached / service TTFT: HTTP, queue, tokenising and the first decode step are inside"
	whyTG := "mean of the rates of requests; decode_tps is the same rate"
	if n, ok := r.concurrency.Get(); ok && n > 1 {
		pp, tg = &stat.Sample{}, &stat.Sample{}
		whyPP = "llama-bench runs one sequence at a time; this run had several at once"
		whyTG = whyPP
	}
	t.row("pp avg_ts", "tokens/s", mean(pp), "", whyPP)
	t.row("pp stddev_ts", "tokens/s", sampleDeviation(pp), "", whyPP)
	t.row("tg avg_ts", "tokens/s", mean(tg), "decode_tps.mean", whyTG)
	t.row("tg stddev_ts", "tokens/s", sampleDeviation(tg), "decode_tps.sd", whyTG)
	t.noteIf(true, "llama-bench has no server, no sampling and no tokenising: what it prints is an upper bound on a server's speed")
}
