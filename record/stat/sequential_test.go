package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func choose(n, k int64) float64 { return math.Exp(lnChoose(n, k)) }

// Under every member of the hypothesis the expectation of a block's factor is
// at most 1, summed over all outcomes: that is what makes it valid at any time.
func TestTwoSharesExpectation(t *testing.T) {
	before := [][2]Pair{{{0, 0}, {0, 0}}, {{90, 100}, {60, 100}}, {{99, 100}, {98, 100}}, {{5, 50}, {1, 40}}}
	for _, margin := range []float64{0, 0.01, -0.01, 0.1, -0.2} {
		for _, above := range []bool{false, true} {
			for _, seen := range before {
				for _, size := range [][2]int64{{1, 1}, {4, 1}, {2, 5}} {
					for pa := 0.0; pa <= 1.0001; pa += 0.05 {
						for pb := 0.0; pb <= 1.0001; pb += 0.05 {
							if diff := pb - pa; !above && diff < margin || above && diff > margin {
								continue
							}
							if e := expectation(margin, above, seen, size, math.Min(pa, 1), math.Min(pb, 1)); e > 1+1e-9 {
								t.Fatalf("margin %v above %v seen %v size %v shares %.2f %.2f: expectation %v", margin, above, seen, size, pa, pb, e)
							}
						}
					}
				}
			}
		}
	}
}

func expectation(margin float64, above bool, seen [2]Pair, size [2]int64, pa, pb float64) float64 {
	e := 0.0
	for ka := range size[0] + 1 {
		for kb := range size[1] + 1 {
			w := TwoShares{Margin: margin, Above: above}
			w.Add(ka, size[0], kb, size[1], seen)
			p := choose(size[0], ka) * math.Pow(pa, float64(ka)) * math.Pow(1-pa, float64(size[0]-ka)) *
				choose(size[1], kb) * math.Pow(pb, float64(kb)) * math.Pow(1-pb, float64(size[1]-kb))
			e += p * math.Exp(w.log)
		}
	}
	return e
}

func TestTwoSharesPower(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := TwoShares{}
	var seen [2]Pair
	for i := range 4000 {
		var k [2]int64
		for side, p := range []float64{0.99, 0.95} {
			if rng.Float64() < p {
				k[side] = 1
			}
		}
		w.Add(k[0], 1, k[1], 1, seen)
		for side := range seen {
			seen[side].Num += float64(k[side])
			seen[side].Den++
		}
		if w.P() < 0.025 {
			t.Logf("found after %d", i)
			return
		}
	}
	t.Errorf("99 %% against 95 %%: p = %v after 4,000 of each", w.P())
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
