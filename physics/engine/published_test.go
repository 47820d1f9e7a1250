package engine

import (
	"testing"
	"time"
)

// closed keeps so many requests in flight until n are done, and returns them.
func closed(t testing.TB, cfg Config, concurrency, n, prompt, output int) (all []*Request) {
	t.Helper()
	var e *Engine
	sent := 0
	submit := func(at time.Duration) {
		if sent == n {
			return
		}
		sent++
		r := request(at, prompt, output)
		all = append(all, r)
		if err := e.Submit(r); err != nil {
			t.Fatal(err)
		}
	}
	e, err := New(cfg, func(ev Event) {
		if ev.Last {
			submit(ev.At)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for range concurrency {
		submit(0)
	}
	for _, ok := e.Next(); ok; _, ok = e.Next() {
		e.Step()
	}
	return all
}

// means of the middle of a closed loop: filling and draining are left out. The
// throughput is what Little's law makes of the times.
func means(all []*Request, concurrency int) (ttft, itl, tps float64) {
	var n, e2e, made float64
	for _, r := range all[concurrency : len(all)-concurrency] {
		ttft += r.TTFT().Seconds() * 1e3
		itl += r.TPOT().Seconds() * 1e3
		e2e += r.E2E().Seconds()
		made += float64(r.Made)
		n++
	}
	return ttft / n, itl / n, float64(concurrency) * made / e2e
}

func TestPublishedClosedLoop(t *testing.T) {
	// NVIDIA NIM: Llama 3.3 70B in fp8 on two H100, 5,000 tokens in, 500 out.
	// The law is the estimate any deployment gets. Its two efficiencies were
	// chosen from their usual ranges with this table in view: what is checked is
	// that two numbers explain eight loads, the knee and the queue beyond it.
	d := Deployment{Model: "llama-3.1-70b", Accelerator: "h100", Devices: 2, Weights: FP8, KV: FP8}
	law := must(d.Law())
	tokens := must(d.KVTokens())
	cfg := Config{Law: law, MaxSequences: 256, MaxBatchTokens: 8192, Blocks: tokens / 16}
	before := 0.0
	for _, c := range []struct {
		concurrency    int
		ttft, itl, tps float64
		loose          float64 // tolerance of TTFT
	}{
		{1, 406.77, 18.58, 51.67, 0.15}, {5, 546.7, 21.83, 218.48, 0.25}, {25, 688.69, 38.75, 623.4, 0.25}, {50, 834.51, 59.73, 814.37, 0.25},
		// Beyond the knee TTFT is the queue, which magnifies the error of the rate.
		{100, 7996.25, 92.91, 917.26, 0.35}, {150, 34794.22, 92.86, 920.9, 0.15}, {200, 61680.22, 93.06, 920.54, 0.15}, {250, 88605.32, 93.2, 920.12, 0.15},
	} {
		all := closed(t, cfg, c.concurrency, max(8*c.concurrency, 20), 5000, 500)
		ttft, itl, tps := means(all, c.concurrency)
		t.Logf("%3d users: TTFT %6.0f ms (published %6.0f), ITL %6.2f ms (%6.2f), %6.1f tokens/s (%6.1f)", c.concurrency, ttft, c.ttft, itl, c.itl, tps, c.tps)
		near(t, "TTFT", ttft, c.ttft, c.loose)
		near(t, "ITL", itl, c.itl, 0.05)
		near(t, "tokens/s", tps, c.tps, 0.06)
		if c.concurrency > 100 {
			// 50 more users are 50 × 500 tokens more in the queue.
			near(t, "50 more users, s", (ttft-before)/1e3, 27, 0.1)
		}
		before = ttft
	}
}

func TestPublishedRunningBatch(t *testing.T) {
	// At the plateau 920 tokens/s at 92.9 ms are about 85 sequences: what the
	// memory holds.
	d := Deployment{Model: "llama-3.1-70b", Accelerator: "h100", Devices: 2, Weights: FP8, KV: FP8}
	near(t, "sequences of 5,250 tokens", float64(must(d.KVTokens()))/5250, 920*0.0929, 0.05)
}

func TestPublishedThroughputsAreBelowTheBound(t *testing.T) {
	// MLPerf Inference v5.1, closed, Offline, tokens/s of the whole system: no
	// prompt, no cache, nothing but the products of the output tokens.
	for _, c := range []struct {
		model, accelerator string
		devices            int
		weights            Precision
		tps                float64
	}{
		{"llama-2-70b", "mi300x", 8, FP8, 27803.9}, {"llama-2-70b", "mi325x", 8, FP8, 34520.4}, {"mixtral-8x7b", "mi300x", 8, FP8, 53017.3},
		{"llama-2-70b", "h100", 16, FP8, 62351.6}, {"llama-2-70b", "h200", 8, FP8, 34548.2}, {"llama-2-70b", "b200", 8, FP4, 101527},
		{"llama-3.1-8b", "b200", 8, FP4, 136752}, {"llama-3.1-405b", "b200", 8, FP4, 1624}, {"deepseek-v3", "b200", 8, FP4, 33379},
		{"deepseek-v3", "gb200", 72, FP4, 289712}, {"deepseek-v3", "gb300", 72, FP4, 420659},
	} {
		law := must(Deployment{Model: c.model, Accelerator: c.accelerator, Weights: c.weights}.Bound())
		const batch = 4096
		bound := batch / law.Parts(decodes(batch, 0)).Products.Seconds()
		if share := c.tps / float64(c.devices) / bound; share > 0.6 {
			t.Errorf("%s on %s: %.0f tokens/s are %.0f %% of the bound", c.model, c.accelerator, c.tps, 100*share)
		}
	}
}

func TestPublishedLittlesLaw(t *testing.T) {
	// MLPerf's log of 8 × MI300X: 81.68 requests/s of 43.5796 s each.
	near(t, "in flight", 81.68*43.579602295, 3559.6, 0.0001)
	// The engine agrees with itself: an open load of the same rate and service.
	law := Linear{Base: 100 * time.Millisecond, PerSequence: 12 * time.Microsecond}
	all := poisson(20000, 81.68, 150, 150, 4)
	var area, clock time.Duration
	in := 0
	var e *Engine
	e, err := New(Config{Law: law}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		for at, ok := e.Next(); ok && at < r.Arrival; at, ok = e.Next() {
			area += time.Duration(in) * (at - clock)
			clock = at
			e.Step()
			in = e.live
		}
		area += time.Duration(in) * (r.Arrival - clock)
		clock = r.Arrival
		if err := e.Submit(r); err != nil {
			t.Fatal(err)
		}
		in = e.live
	}
	end := clock
	for _, ok := e.Next(); ok; _, ok = e.Next() {
		e.Step()
	}
	var w float64
	for _, r := range all {
		w += r.E2E().Seconds() / float64(len(all))
	}
	near(t, "L against λW", area.Seconds()/end.Seconds(), float64(len(all))/end.Seconds()*w, 0.05)
}
