package engine

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"
)

// stream makes an open load without keeping it.
func stream(n int, rate float64, prompt, output int, seed uint64) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		at := 0.0
		for range n {
			at += rng.ExpFloat64() / rate
			if !yield(request(time.Duration(at*1e9), 1+rng.IntN(2*prompt), 1+rng.IntN(2*output))) {
				return
			}
		}
	}
}

// BenchmarkMillionRequests runs 10⁶ requests of about 256 tokens in and 128 out
// through four instances with paged cache and chunked prefill.
func BenchmarkMillionRequests(b *testing.B) {
	law := must(Deployment{Model: "llama-3.1-8b", Accelerator: "h100"}.Law())
	cfg := Config{Law: law, Instances: 4, MaxSequences: 256, MaxBatchTokens: 4096, Blocks: 26000}
	for b.Loop() {
		n := 0
		e, err := New(cfg, func(ev Event) {
			if ev.Kind == Tokens {
				n += ev.Tokens
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Run(stream(1_000_000, 120, 256, 128, 1)); err != nil {
			b.Fatal(err)
		}
		s := e.Stats()
		b.ReportMetric(float64(n), "tokens/op")
		b.ReportMetric(float64(s.Steps), "steps/op")
		b.ReportMetric(float64(s.Sequences)/float64(s.Steps), "batch")
		b.ReportMetric(e.Now().Seconds(), "virtual-s/op")
	}
}

func BenchmarkRoofline(b *testing.B) {
	law := must(Deployment{Model: "deepseek-v3", Accelerator: "h200", Devices: 8, Weights: FP8}.Law())
	batch := decodes(64, 1000)
	for b.Loop() {
		law.Step(batch)
	}
}
