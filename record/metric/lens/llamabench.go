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
		TPOT:       "tg: n / time of n decode steps, mean of the rates of repetitions (samples_ts)",
		ITL:        "–",
		Tokens:     "as many as were asked for",
		End:        "–",
		Failures:   "–",
	},
	open: func(f Facts) reader { return &llamaBenchReader{concurrency: f.Concurrency} },
	ends: true, begins: true,
}

// llamaBenchReader states what llama-bench would print if each request were
// one of its repetitions, and prints of a file of its own what it printed. It decodes
// one sequence without HTTP, sampling and tokenising: its figures bound a server's
// from above.
type llamaBenchReader struct {
	concurrency timeline.Opt[int64]
	pp, tg, pg  stat.Sample // pg: prompt and answer in one, as with -pg
}

func (r *llamaBenchReader) add(tl *timeline.Timeline) {
	if tl.Outcome != timeline.OK {
		return
	}
	c := read(tl, hasToken, nil)
	start := tl.SentUS.Or(startUS(tl))
	if !tl.Streamed {
		r.whole(tl, closeUS(tl)-start)
		return
	}
	if in, ok := tl.Usage.Input.Get(); ok && c.n > 0 && c.firstUS > start {
		if computed := in - tl.Usage.Cached.Or(0); computed > 0 {
			r.pp.Add(float64(computed) * 1e6 / float64(c.firstUS-start))
		}
	}
	if n, ok := usage(tl); ok && n > 1 && c.n > 1 && c.lastUS > c.firstUS {
		r.tg.Add(float64(n-1) * 1e6 / float64(c.lastUS-c.firstUS))
	}
}

// whole adds an answer of which only its end is known: all tokens that were computed, over
// the time that they took. Without a prompt to compute that is one of generation alone.
// Source: get_ts in tools/llama-bench/llama-bench.cpp.
func (r *llamaBenchReader) whole(tl *timeline.Timeline, us int64) {
	n, counted := usage(tl)
	in, told := tl.Usage.Input.Get()
	if !counted || !told || n == 0 || us <= 0 {
		return
	}
	computed := max(in-tl.Usage.Cached.Or(0), 0)
	rates := &r.pg
	if computed == 0 {
		rates = &r.tg
	}
	rates.Add(float64(computed+n) * 1e6 / float64(us))
}

func (r *llamaBenchReader) report(t *table) {
	pp, tg, pg := &r.pp, &r.tg, &r.pg
	whyPP := "prompt tokens that were not cached / service TTFT: HTTP, queue, tokenising and the first decode step are inside"
	whyTG := "mean of the rates of requests; decode_tps is the same rate"
	whyPG := "prompt tokens that were not cached and the answer's / the whole request, as with -pg: HTTP and queue are inside"
	if n, ok := r.concurrency.Get(); ok && n > 1 {
		pp, tg, pg = &stat.Sample{}, &stat.Sample{}, &stat.Sample{}
		whyPP = "llama-bench runs one sequence at a time; this run had several at once"
		whyTG = whyPP
	}
	t.row("pp avg_ts", "tokens/s", mean(pp), "", whyPP)
	t.row("pp stddev_ts", "tokens/s", sampleDeviation(pp), "", whyPP)
	t.row("tg avg_ts", "tokens/s", mean(tg), "decode_tps.mean", whyTG)
	t.row("tg stddev_ts", "tokens/s", sampleDeviation(tg), "decode_tps.sd", whyTG)
	if r.pg.Len() > 0 {
		if pg.Len() == 0 {
			whyPG = whyPP
		}
		t.row("pp+tg avg_ts", "tokens/s", mean(pg), "", whyPG)
		t.row("pp+tg stddev_ts", "tokens/s", sampleDeviation(pg), "", whyPG)
	}
	t.noteIf(true, "llama-bench has no server, no sampling and no tokenising: what it prints is an upper bound on a server's speed")
}
