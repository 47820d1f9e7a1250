package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawConfig makes any configuration that is valid.
func drawConfig(t *rapid.T) Config {
	cfg := Config{
		Law:       Linear{Base: ms, PerSequence: 20 * time.Microsecond, PerPrefillToken: 10 * time.Microsecond, PerContextToken: 10},
		Batching:  Batching(rapid.IntRange(0, 2).Draw(t, "batching")),
		Instances: rapid.IntRange(1, 3).Draw(t, "instances"),
		Seed:      rapid.Uint64().Draw(t, "seed"),
	}
	cfg.MaxSequences = rapid.IntRange(1, 8).Draw(t, "sequences")
	cfg.MaxBatchTokens = rapid.IntRange(8, 200).Draw(t, "tokens")
	cfg.BlockTokens = rapid.IntRange(1, 16).Draw(t, "block")
	if rapid.Bool().Draw(t, "limited") {
		// Room for the longest request of drawRequests, and not much more.
		cfg.Blocks = ceil(180, cfg.BlockTokens) + rapid.IntRange(0, 20).Draw(t, "blocks")
		cfg.PrefixCache = rapid.Bool().Draw(t, "prefix")
	}
	if cfg.Batching != Static && rapid.Bool().Draw(t, "speculates") {
		cfg.Speculation = &Speculation{Draft: rapid.IntRange(1, 5).Draw(t, "draft"), Acceptance: rapid.Float64Range(0, 1).Draw(t, "acceptance")}
	}
	if cfg.Instances > 1 && cfg.Batching != Static && rapid.Bool().Draw(t, "split") {
		cfg.Split = &Split{Prefill: 1, Latency: ms}
	}
	cfg.Jitter = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "jitter")
	return cfg
}

func drawRequests(t *rapid.T, blockTokens int) (all []*Request) {
	n := rapid.IntRange(1, 40).Draw(t, "requests")
	at := time.Duration(0)
	for range n {
		at += time.Duration(rapid.IntRange(0, 20000).Draw(t, "gap")) * time.Microsecond
		r := request(at, rapid.IntRange(1, 120).Draw(t, "prompt"), rapid.IntRange(1, 60).Draw(t, "output"))
		if group := rapid.IntRange(0, 3).Draw(t, "group"); group > 0 {
			// Groups have their first 40 tokens in common.
			tokens := make([]uint32, r.PromptTokens)
			for i := range tokens {
				tokens[i] = uint32(i + i/40*1000*group)
			}
			r.Blocks = NameBlocks(tokens, max(blockTokens, 1))
		}
		all = append(all, r)
	}
	return all
}

func TestEveryTokenIsMadeOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := drawConfig(rt)
		all := drawRequests(rt, cfg.BlockTokens)
		made := map[*Request]int{}
		last := map[*Request]time.Duration{}
		var clock time.Duration
		e, err := New(cfg, func(ev Event) {
			if ev.Kind != Tokens {
				return
			}
			if ev.Tokens < 1 || ev.At < clock || ev.At < ev.Request.Arrival || ev.At < last[ev.Request] {
				rt.Fatalf("%+v after %v", ev, clock)
			}
			clock = ev.At
			last[ev.Request] = ev.At
			made[ev.Request] += ev.Tokens
			if ev.Last != (made[ev.Request] == ev.Request.OutputTokens) {
				rt.Fatalf("last is %v after %d of %d tokens", ev.Last, made[ev.Request], ev.Request.OutputTokens)
			}
			if cfg.MaxSequences < ev.Batch {
				rt.Fatalf("%d sequences in a batch of %d", ev.Batch, cfg.MaxSequences)
			}
		})
		if err != nil {
			rt.Fatal(err)
		}
		// Blocks are conserved at every moment, and nobody works too much.
		for _, r := range all {
			for {
				at, ok := e.Next()
				if !ok || at >= r.Arrival {
					break
				}
				step(rt, e, cfg)
			}
			if err := e.Submit(r); err != nil {
				rt.Fatal(err)
			}
		}
		for _, ok := e.Next(); ok; _, ok = e.Next() {
			step(rt, e, cfg)
		}
		total := 0
		for _, r := range all {
			if made[r] != r.OutputTokens || r.Made != r.OutputTokens || r.First < r.Start || r.End < r.First {
				rt.Fatalf("%d of %d tokens: %+v", made[r], r.OutputTokens, r)
			}
			total += made[r]
		}
		s := e.Stats()
		if s.OutputTokens != total || e.live != 0 || s.BlocksUsed != 0 || s.Waiting+s.Running != 0 || s.QueuedTokens != 0 {
			rt.Fatalf("made %d, live %d, %+v", total, e.live, s)
		}
	})
}

func step(t *rapid.T, e *Engine, cfg Config) {
	e.Step()
	for _, in := range e.instances {
		b := in.blocks
		if b.limited() {
			used := 0
			for _, n := range b.uses {
				if n > 0 {
					used++
				}
			}
			if used+b.free != len(b.uses) {
				t.Fatalf("%d used and %d free of %d blocks", used, b.free, len(b.uses))
			}
		}
		// Work is conserved: nobody waits for an instance that does nothing.
		if cfg.Batching != Static && !in.busy && !in.armed && in.queue.live > 0 {
			t.Fatalf("%d wait at an idle instance", in.queue.live)
		}
		if in.busy && in.batch.Tokens() == 0 {
			t.Fatal("a step of nothing")
		}
	}
}

func TestLittlesLaw(t *testing.T) {
	// The area under the number in the system is the sum of the times in it. The
	// engine counts the first, the requests know the second.
	rapid.Check(t, func(rt *rapid.T) {
		cfg := drawConfig(rt)
		all := drawRequests(rt, cfg.BlockTokens)
		e, err := New(cfg, nil)
		if err != nil {
			rt.Fatal(err)
		}
		var area, clock time.Duration
		in := 0
		k := 0
		for {
			at, ok := e.Next()
			for k < len(all) && (!ok || all[k].Arrival <= at) {
				area += time.Duration(in) * (all[k].Arrival - clock)
				clock = all[k].Arrival
				if err := e.Submit(all[k]); err != nil {
					rt.Fatal(err)
				}
				in = e.live
				k++
				at, ok = e.Next()
			}
			if !ok {
				break
			}
			area += time.Duration(in) * (at - clock)
			clock = at
			e.Step()
			in = e.live
		}
		var sojourn time.Duration
		for _, r := range all {
			sojourn += r.E2E()
		}
		if area != sojourn {
			rt.Fatalf("area %v, times %v", area, sojourn)
		}
	})
}

func TestALawIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Deployment{
			Model:       Models()[rapid.IntRange(0, len(Models())-1).Draw(t, "model")].Name,
			Accelerator: Accelerators()[rapid.IntRange(0, len(Accelerators())-1).Draw(t, "accelerator")].Name,
			Devices:     rapid.IntRange(1, 8).Draw(t, "devices"),
			Weights:     rapid.SampledFrom([]Precision{BF16, FP8, INT4, Q4}).Draw(t, "weights"),
		}
		l, err := d.Law()
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		for range rapid.IntRange(0, 300).Draw(t, "decodes") {
			b.addDecode(1, 1, 1000, 128)
		}
		b.addPrefill(rapid.IntRange(0, 5000).Draw(t, "done"), rapid.IntRange(1, 5000).Draw(t, "chunk"))
		base := l.Step(&b)
		if base <= 0 {
			t.Fatalf("a step of %v", base)
		}
		more := b
		more.addDecode(1, 1, 1, 128)
		if l.Step(&more) < base {
			t.Error("one more sequence is faster")
		}
		more = b
		more.addPrefill(0, 1)
		if l.Step(&more) < base {
			t.Error("one more prompt token is faster")
		}
		more = b
		more.DecodeContext += 1000
		if l.Step(&more) < base {
			t.Error("more context is faster")
		}
		better := *l
		better.Accelerator.Bandwidth *= 1 + rapid.Float64Range(0, 3).Draw(t, "bandwidth")
		if better.Step(&b) > base {
			t.Error("more bandwidth is slower")
		}
		better = *l
		better.Accelerator.BF16 *= 2
		better.Accelerator.FP8 *= 2
		better.Accelerator.FP4 *= 2
		if better.Step(&b) > base {
			t.Error("more arithmetic is slower")
		}
		limit, _ := d.Bound()
		if limit.Step(&b) > base {
			t.Error("the bound is slower than the estimate")
		}
	})
}

// poisson makes a reproducible open load.
func poisson(n int, rate float64, prompt, output int, seed uint64) []*Request {
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []*Request
	at := 0.0
	for range n {
		at += rng.ExpFloat64() / rate
		all = append(all, request(time.Duration(at*1e9), 1+rng.IntN(2*prompt), 1+rng.IntN(2*output)))
	}
	return all
}

func TestMoreLoadNeverHelps(t *testing.T) {
	law := must(Deployment{Model: "llama-3.1-8b", Accelerator: "h100"}.Law())
	for _, batching := range []Batching{Chunked, PrefillFirst} {
		var before float64
		for _, rate := range []float64{1, 2, 5, 10, 15, 20, 30} {
			all := poisson(500, rate, 500, 200, 9) // the same requests, closer together
			e, _ := New(Config{Law: law, Batching: batching, MaxSequences: 64, MaxBatchTokens: 2048, Blocks: 20000}, nil)
			if err := e.Run(slices.Values(all)); err != nil {
				t.Fatal(err)
			}
			var mean float64
			for _, r := range all {
				mean += r.E2E().Seconds() / float64(len(all))
			}
			if mean < before {
				t.Errorf("batching %d: %.3f s at %v/s after %.3f s at less", batching, mean, rate, before)
			}
			before = mean
		}
	}
}

func TestSameSeedSameTimes(t *testing.T) {
	times := func(seed uint64) (all []time.Duration) {
		requests := poisson(300, 20, 100, 50, 3)
		e, _ := New(Config{Law: linear, MaxSequences: 16, MaxBatchTokens: 512, Jitter: 0.3, Seed: seed, Speculation: &Speculation{Draft: 3, Acceptance: 0.7}}, nil)
		if err := e.Run(slices.Values(requests)); err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			all = append(all, r.First, r.End)
		}
		return all
	}
	if a, b := times(1), times(1); !slices.Equal(a, b) {
		t.Error("one seed, two results")
	}
	if a, b := times(1), times(2); slices.Equal(a, b) {
		t.Error("the seed changes nothing")
	}
}
