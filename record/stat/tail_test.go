package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The bound is below the true share in no more samples than alpha allows, for
// exponential tails and lighter ones, and with values that come in bunches.
func TestExceedanceBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func() float64 { return 10 + rng.NormFloat64() }
	for _, c := range []struct {
		name  string
		draw  func() float64
		limit float64
		share float64
	}{
		{"exponential, 1 in 100", rng.ExpFloat64, math.Log(100), 0.01},
		{"exponential, 1 in 10", rng.ExpFloat64, math.Log(10), 0.1},
		{"normal, 1 in 100", normal, 10 - NormalQuantile(0.01), 0.01},
		{"uniform, 1 in 20", rng.Float64, 0.95, 0.05},
	} {
		for _, n := range []int{16, 40, 200} {
			for _, bunch := range []int{1, 10} {
				const rounds, alpha = 2000, 0.05
				below := 0
				for range rounds {
					x := make([]float64, 0, n*bunch)
					for range n {
						v := c.draw()
						for range bunch {
							x = append(x, v)
						}
					}
					if b, ok := ExceedanceBound(x, float64(n), c.limit, alpha); !ok || b < c.share {
						below++
					}
				}
				if below > rounds*alpha*1.3 {
					t.Errorf("%s, %d in bunches of %d: below in %d of %d", c.name, n, bunch, below, rounds)
				}
			}
		}
	}
}

func TestExceedanceBoundEdges(t *testing.T) {
	near := make([]float64, 100)
	for i := range near {
		near[i] = 0.4 + float64(i)/1000
	}
	for _, c := range []struct {
		x              []float64
		effective, lim float64
		lo, hi         float64
		ok             bool
	}{
		{nil, 0, 1, 1, 1, false},
		{near, 15, 1, 1, 1, false},
		{near, 40, 1, 0, 0.001, true},   // far away
		{near, 40, 0.45, 1, 1, true},    // in the middle of them
		{near, 40, 0.52, 0.01, 1, true}, // just beyond
		{make([]float64, 50), 50, 1, 0, 0, true},
		{append(make([]float64, 50), math.Inf(1)), 51, 1, 1, 1, true},
	} {
		got, ok := ExceedanceBound(c.x, c.effective, c.lim, 0.01)
		if ok != c.ok || got < c.lo || got > c.hi {
			t.Errorf("%d values worth %g, limit %g: %g %v, want %g to %g", len(c.x), c.effective, c.lim, got, ok, c.lo, c.hi)
		}
	}
	// R: qchisq(c(0.001, 0.05), c(16, 60)).
	for _, c := range []struct{ p, df, want float64 }{{0.001, 16, 3.942}, {0.05, 60, 43.188}} {
		if got := chiSquaredQuantile(c.p, c.df); math.Abs(got-c.want) > 0.03*c.want {
			t.Errorf("chi-squared %g with %g: %g, want %g", c.p, c.df, got, c.want)
		}
	}
}

// Under any share on the other side of the target the expectation of the evidence
// is at most 1, at every number of values: summed over all outcomes.
func TestShareEvidenceExpectation(t *testing.T) {
	for _, target := range []float64{0.5, 0.9, 0.99} {
		for _, n := range []int64{1, 5, 30, 200} {
			for _, share := range []float64{0.01, target / 2, target * 0.99, target, (1 + target) / 2, 1} {
				above, below := 0.0, 0.0
				for k := range n + 1 {
					p := math.Exp(lnChoose(n, k)) * math.Pow(share, float64(k)) * math.Pow(1-share, float64(n-k))
					a, b := ShareEvidence(float64(k), float64(n), target)
					above, below = above+p*math.Exp(a), below+p*math.Exp(b)
				}
				if share <= target && above > 1+1e-9 || share >= target && below > 1+1e-9 {
					t.Errorf("share %g, target %g, %d: above %g, below %g", share, target, n, above, below)
				}
			}
		}
	}
}

// Where x is at the bound between the two fractions, to the last digit, both sides
// of it may seem to be beyond.
func TestBetaIncAtTheMean(t *testing.T) {
	for a := 0.05; a < 400; a *= 1.07 {
		for b := 0.05; b < 400; b *= 1.09 {
			x := (a + 1) / (a + b + 2)
			for _, at := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, 1), 1 - (b+1)/(a+b+2)} {
				if got := BetaInc(a, b, at) + BetaInc(b, a, 1-at); math.Abs(got-1) > 1e-9 {
					t.Fatalf("%g, %g at %g: the sides add up to %g", a, b, at, got)
				}
			}
		}
	}
}

func lnChoose(n, k int64) float64 {
	ln := func(x int64) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return ln(n) - ln(k) - ln(n-k)
}
