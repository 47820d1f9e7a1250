package laws

import (
	"math"
	"slices"

	"tokenmeter/base/random"
)

// All are the laws of the bench.
func All() []*Law { return table }

// ByName finds a law; nil: there is none of that name.
func ByName(name string) *Law {
	if i := slices.IndexFunc(table, func(l *Law) bool { return l.Name == name }); i >= 0 {
		return table[i]
	}
	return nil
}

var table = []*Law{
	{Name: "free", Says: "M/M/∞: nobody waits, latencies are independent", Work: exponential(0.02), Rate: 35,
		Objective: "p95 e2e < 80ms", LimitS: 0.08, Allowed: 0.05, theory: mmInf(0.02)},
	{Name: "mm1", Says: "M/M/1: one at a time, 20 ms on average", Slots: 1, Work: exponential(0.02), Rate: 35,
		Objective: "p95 e2e < 200ms", LimitS: 0.2, Allowed: 0.05, theory: mm(1, 0.02)},
	{Name: "mm8", Says: "M/M/8: eight at a time, 160 ms each on average", Slots: 8, Work: exponential(0.16), Rate: 42.5,
		Objective: "p95 e2e < 600ms", LimitS: 0.6, Allowed: 0.05, theory: mm(8, 0.16)},
	{Name: "md1", Says: "M/D/1: one at a time, 20 ms each", Slots: 1, Work: constant(0.02), Rate: 40,
		Objective: "p95 e2e < 120ms", LimitS: 0.12, Allowed: 0.05, theory: md1(0.02)},
	{Name: "slots", Says: "16 slots with a queue; 320 ms each, log-normal", Slots: 16, Work: lognormal(0.32, 0.5), Rate: 42,
		Objective: "p95 e2e < 800ms", LimitS: 0.8, Allowed: 0.05},
	{Name: "refusing", Says: "20 slots without a queue: 429 when all are taken (Erlang's B)", Slots: 20, Refuses: true, Work: exponential(0.4), Rate: 35,
		Objective: "error rate < 5%", LimitS: math.Inf(1), Allowed: 0.05, theory: refusing(20, 0.4)},
	{Name: "bimodal", Says: "one at a time; 10 ms, and every tenth 110 ms", Slots: 1, Work: bimodal(0.01, 0.11, 0.1), Rate: 30,
		Objective: "p95 e2e < 300ms", LimitS: 0.3, Allowed: 0.05},
	{Name: "prefix", Says: "a cache of the 16 last of 64 prefixes: 4 ms to the first token, 44 ms without it; one at a time", Slots: 1, Work: cached(16, 64, 0.004, 0.044, 0.006), Rate: 25,
		Objective: "p95 e2e < 200ms", LimitS: 0.2, Allowed: 0.05},
	{Name: "drift", Says: "M/M/1, 5 % slower after every minute", Slots: 1, Work: exponential(0.02), Speed: slower(0.05), CycleS: math.Inf(1), Rate: 20,
		Objective: "p95 e2e < 200ms", LimitS: 0.2, Allowed: 0.05},
	{Name: "stall-30", Says: "M/D/1 of 10 ms that stops for 3 s in every 30 s", Slots: 1, Work: constant(0.01), Speed: stalls(30, 3), CycleS: 30, Rate: 50,
		Objective: "p95 e2e < 500ms", LimitS: 0.5, Allowed: 0.05},
	{Name: "stall-60", Says: "M/D/1 of 10 ms that stops for 3 s in every 60 s", Slots: 1, Work: constant(0.01), Speed: stalls(60, 3), CycleS: 60, Rate: 50,
		Objective: "p95 e2e < 500ms", LimitS: 0.5, Allowed: 0.05},
	{Name: "stall-120", Says: "M/D/1 of 10 ms that stops for 10 s in every 120 s", Slots: 1, Work: constant(0.01), Speed: stalls(120, 10), CycleS: 120, Rate: 50,
		Objective: "p95 e2e < 500ms", LimitS: 0.5, Allowed: 0.05},
	{Name: "switch-10", Says: "M/M/1: 20 ms for 10 s on average, then 45 ms for 2 s", Slots: 1, Work: exponential(0.02), Speed: switches([2]float64{10, 2}, [2]float64{1, 20.0 / 45}), CycleS: 12, Rate: 20,
		Objective: "p95 e2e < 300ms", LimitS: 0.3, Allowed: 0.05},
	{Name: "switch-60", Says: "M/M/1: 20 ms for 60 s on average, then 45 ms for 12 s", Slots: 1, Work: exponential(0.02), Speed: switches([2]float64{60, 12}, [2]float64{1, 20.0 / 45}), CycleS: 72, Rate: 20,
		Objective: "p95 e2e < 300ms", LimitS: 0.3, Allowed: 0.05},
	{Name: "bursts", Says: "M/M/1 that fails for half a second once in 25 s on average", Slots: 1, Work: exponential(0.02), Broken: switches([2]float64{24.5, 0.5}, [2]float64{0, 1}), CycleS: 25, Rate: 30,
		Objective: "p95 e2e < 200ms", LimitS: 0.2, Allowed: 0.05},
}

type work = func() func(*random.Source) (first, rest float64)

func stateless(f func(*random.Source) (first, rest float64)) work {
	return func() func(*random.Source) (float64, float64) { return f }
}

func exponential(meanS float64) work {
	return stateless(func(r *random.Source) (float64, float64) { return 0, meanS * r.Exp() })
}

func constant(s float64) work {
	return stateless(func(*random.Source) (float64, float64) { return 0, s })
}

// lognormal has that mean; sigma is that of its logarithm.
func lognormal(meanS, sigma float64) work {
	return stateless(func(r *random.Source) (float64, float64) {
		return 0, meanS * random.Exp(sigma*r.Normal()-sigma*sigma/2)
	})
}

func bimodal(shortS, longS, share float64) work {
	return stateless(func(r *random.Source) (float64, float64) {
		if r.Float64() < share {
			return 0, longS
		}
		return 0, shortS
	})
}

// cached keeps the prefixes that were used last. Prefix k is asked for 1/k times as
// often as the first (Zipf).
func cached(slots, prefixes int, hitS, missS, restS float64) work {
	upto := make([]float64, prefixes)
	sum := 0.0
	for k := range upto {
		sum += 1 / float64(k+1)
		upto[k] = sum
	}
	return func() func(*random.Source) (float64, float64) {
		var kept []int // the one used last is last
		return func(r *random.Source) (float64, float64) {
			u, prefix := r.Float64()*sum, 0
			for upto[prefix] <= u {
				prefix++
			}
			first := missS
			for i, k := range kept {
				if k == prefix {
					first = hitS
					kept = append(kept[:i], kept[i+1:]...)
					break
				}
			}
			if len(kept) == slots {
				kept = kept[1:]
			}
			kept = append(kept, prefix)
			return first, restS
		}
	}
}
