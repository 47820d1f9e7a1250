package laws

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"
)

// Truth is what is known of a law at its Rate, and the rate up to which its objective
// holds. Times are in seconds, standard errors 0 where theory says it.
type Truth struct {
	MeanS, P50S, P95S, P99S     float64 // of the requests that did not fail
	Failed                      float64 // share
	MeanSE, P50SE, P95SE, P99SE float64
	FailedSE                    float64
	Capacity, CapacitySE        float64 // requests/s; 0: no load keeps the objective
	Requests                    int     // simulated for each figure; 0: by theory
	Seed                        uint64
}

//go:embed truths.json
var simulatedJSON []byte

var simulated = sync.OnceValue(func() (all map[string]Truth) {
	if err := json.Unmarshal(simulatedJSON, &all); err != nil {
		panic(err)
	}
	return all
})

// Truth returns the truth of a law; ok is false for one that never comes to rest. Its
// Capacity is that of the first moment then.
func (l *Law) Truth() (t Truth, ok bool) {
	if math.IsInf(l.CycleS, 1) {
		fresh := *l
		fresh.theory = mm(1, 0.02)
		return Truth{Capacity: fresh.capacity()}, false
	}
	if l.theory == nil {
		t, ok = simulated()[l.Name]
		return t, ok
	}
	f := l.theory(l.Rate)
	return Truth{MeanS: f.MeanS, P50S: f.Quantile(0.5), P95S: f.Quantile(0.95), P99S: f.Quantile(0.99), Failed: f.Failed, Capacity: l.capacity()}, true
}

// At returns the figures of a law at any load, by theory; ok is false where there is none.
func (l *Law) At(rate float64) (f Figures, ok bool) {
	if l.theory == nil {
		return f, false
	}
	return l.theory(rate), true
}

// capacity is where the share beyond the limit reaches what is allowed.
func (l *Law) capacity() float64 {
	beyond := func(rate float64) float64 { return l.theory(rate).Beyond(l.LimitS) }
	if beyond(1e6) <= l.Allowed {
		return math.Inf(1)
	}
	lo, hi := 0.0, 1e6
	for range 200 {
		mid := (lo + hi) / 2
		if b := beyond(mid); b >= 0 && b <= l.Allowed && l.stable(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// stable reports whether the server can do so much; what refuses is so at any load.
func (l *Law) stable(rate float64) bool {
	if l.Slots == 0 || l.Refuses {
		return true
	}
	idle := l.theory(1e-9)
	return rate*idle.MeanS < float64(l.Slots)
}

// Simulate measures a law at a load: so many requests after a start of a tenth of them.
// Standard errors are those of twenty batches.
func (l *Law) Simulate(rate float64, requests int, seed uint64) (t Truth, beyond, beyondSE float64) {
	const batches = 20
	t.Requests, t.Seed = requests, seed
	var latencies []float64
	per := requests / batches
	var mean, p50, p95, p99, failed, over spread
	n, failures, far, sum := 0, 0, 0, 0.0
	skip := requests / 10
	for r := range l.Poisson(seed, rate) {
		if skip > 0 {
			skip--
			continue
		}
		n++
		if r.Beyond(l.LimitS) {
			far++
		}
		if r.Failed {
			failures++
		} else {
			latencies = append(latencies, r.LatencyS)
			sum += r.LatencyS
		}
		if n < per {
			continue
		}
		slices.Sort(latencies)
		at := func(p float64) float64 { return latencies[int(p*float64(len(latencies)))] }
		mean.add(sum / float64(len(latencies)))
		p50.add(at(0.5))
		p95.add(at(0.95))
		p99.add(at(0.99))
		failed.add(float64(failures) / float64(n))
		over.add(float64(far) / float64(n))
		n, failures, far, sum, latencies = 0, 0, 0, 0, latencies[:0]
		if over.n == batches {
			break
		}
	}
	t.MeanS, t.MeanSE = mean.figure()
	t.P50S, t.P50SE = p50.figure()
	t.P95S, t.P95SE = p95.figure()
	t.P99S, t.P99SE = p99.figure()
	t.Failed, t.FailedSE = failed.figure()
	beyond, beyondSE = over.figure()
	return t, beyond, beyondSE
}

// spread keeps a mean and its standard error.
type spread struct{ n, sum, squares float64 }

func (s *spread) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }

func (s *spread) figure() (mean, se float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(math.Max(0, s.squares/s.n-mean*mean) / (s.n - 1))
}
