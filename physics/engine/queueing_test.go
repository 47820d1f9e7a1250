package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// single is an engine as a plain queue: one server, one step a request.
func single(t *testing.T, all []*Request) {
	t.Helper()
	law := LawFunc(func(b *Batch) time.Duration { return time.Duration(b.PrefillTokens) * time.Microsecond })
	e, err := New(Config{Law: law, MaxSequences: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(slices.Values(all)); err != nil {
		t.Fatal(err)
	}
}

// arrivals makes a Poisson stream at a load rho for service times of a mean of 10 ms.
func arrivals(n int, rho float64, service func(*rand.Rand) float64) (all []*Request) {
	rng := rand.New(rand.NewPCG(11, 12))
	at := 0.0
	for range n {
		at += rng.ExpFloat64() * 10_000 / rho
		all = append(all, request(time.Duration(at*1e3), max(2, int(service(rng))), 1))
	}
	return all
}

func meanWait(all []*Request) (ms float64) {
	for _, r := range all {
		ms += (r.Start - r.Arrival).Seconds() * 1e3 / float64(len(all))
	}
	return ms
}

func TestQueueingTheory(t *testing.T) {
	const n = 150_000
	exponential := func(rng *rand.Rand) float64 { return rng.ExpFloat64() * 10_000 }
	fixed := func(*rand.Rand) float64 { return 10_000 }
	for _, rho := range []float64{0.3, 0.6, 0.8} {
		// Pollaczek and Khinchine: the mean wait is ρS(1 + c²) / 2(1 − ρ).
		all := arrivals(n, rho, fixed)
		single(t, all)
		near(t, "M/D/1", meanWait(all), rho*10/(2*(1-rho)), 0.03)
		all = arrivals(n, rho, exponential)
		single(t, all)
		near(t, "M/M/1", meanWait(all), rho*10/(1-rho), 0.05)
	}
}
