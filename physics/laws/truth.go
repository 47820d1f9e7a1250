package laws

import (
	_ "embed"
	"encoding/json"
	"math"
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
