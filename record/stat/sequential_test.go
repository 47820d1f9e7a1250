package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Whatever was seen before, the next factor's expectation is at most 1 for any
// law between −1 and 1 with a mean of zero or less: it is linear in the value.
func TestBetExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var b Bet
		for range rng.IntN(30) {
			b.Add(2*rng.Float64() - 1)
		}
		for _, law := range []struct{ lo, hi, p float64 }{{-1, 1, 0.5}, {-0.1, 1, 1.0 / 11}, {-1, 0.25, 0.8}, {-1, 0, 0.5}} {
			up, down := b, b
			up.Add(law.hi)
			down.Add(law.lo)
			if e := law.p*math.Exp(up.log-b.log) + (1-law.p)*math.Exp(down.log-b.log); e > 1+1e-12 {
				t.Fatalf("after %v values %+v: expectation %v", b.n, law, e)
			}
		}
	}
}

// Ten blocks that are all lost settle it at one in a hundred; fair coins do so
// in no more than one of a hundred games, however long.
func TestBetPower(t *testing.T) {
	var b Bet
	for range 10 {
		b.Add(1)
	}
	if b.P() > 0.01 {
		t.Errorf("p = %v after ten values of 1", b.P())
	}
	rng := rand.New(rand.NewPCG(5, 6))
	won := 0
	const games = 1000
	for range games {
		var b Bet
		for range 500 {
			b.Add(float64(2*rng.IntN(2) - 1))
		}
		if b.P() <= 0.01 {
			won++
		}
	}
	if won > 10+3*4 { // three standard deviations above the bound
		t.Errorf("%d of %d fair games were won", won, games)
	}
}

// The bound holds at all times together: a random walk that is looked at after
// every step leaves it in at most the share it says.
func TestMixtureBoundHolds(t *testing.T) {
	const walks, steps = 400, 4000
	crossed := 0
	rng := rand.New(rand.NewPCG(7, 8))
	for range walks {
		s := 0.0
		for i := range steps {
			s += rng.NormFloat64()
			if math.Abs(s) > MixtureBound(float64(i+1), 400, 0.1) {
				crossed++
				break
			}
		}
	}
	if crossed > walks*10/100+3*6 {
		t.Errorf("%d of %d walks left the 10 %% bound", crossed, walks)
	}
	if !math.IsInf(MixtureBound(-1, 1, 0.05), 1) || !math.IsInf(MixtureBound(1, 0, 0.05), 1) {
		t.Error("nonsense has a bound")
	}
}
