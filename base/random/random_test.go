package random

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

func TestElementaryFunctionsAgreeWithMath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0x1p-53, 1e300).Draw(t, "x")
		if u := ulps(Ln(x), math.Log(x)); u > 2 {
			t.Fatalf("Ln(%g) = %g, math.Log %g: %g ulp apart", x, Ln(x), math.Log(x), u)
		}
		y := rapid.Float64Range(-700, 700).Draw(t, "y")
		if u := ulps(Exp(y), math.Exp(y)); u > 2 {
			t.Fatalf("Exp(%g) = %g, math.Exp %g: %g ulp apart", y, Exp(y), math.Exp(y), u)
		}
	})
}

func TestElementaryEdges(t *testing.T) {
	if Ln(1) != 0 || Exp(0) != 1 || !math.IsInf(Ln(0), -1) || !math.IsNaN(Ln(-1)) {
		t.Error("Ln(1), Exp(0), Ln(0) or Ln(-1)")
	}
	if !math.IsInf(Exp(710), 1) || Exp(-746) != 0 || !math.IsInf(Ln(math.Inf(1)), 1) {
		t.Error("limits of Exp or Ln")
	}
	if math.Abs(Ln(math.E)-1) > 1e-15 || math.Abs(Exp(1)-math.E) > 1e-15 {
		t.Error("e")
	}
}

// The streams must never change: a seed in an old run folder has to give the
// same lengths and arrival times. The vectors of SplitMix64 are published ones.
func TestMixVectors(t *testing.T) {
	// SplitMix64 seeded with 1234567 (Rosetta Code's reference outputs).
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431, 16408922859458223821} {
		if got := Mix(state); got != want {
			t.Fatalf("Mix(%d) = %d, want %d", state, got, want)
		}
		state += 0x9e3779b97f4a7c15
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(8) {
		for key := range uint64(500) {
			s := New(seed, key)
			v := s.Uint64()
			if seen[v] != "" {
				t.Fatalf("streams collide at seed %d key %d", seed, key)
			}
			seen[v] = "x"
		}
	}
	a, b := New(1, 2, 3), New(1, 3, 2)
	if a.Uint64() == b.Uint64() {
		t.Error("the order of keys must matter")
	}
}

// ks is the Kolmogorov-Smirnov statistic of a sorted sample against a CDF.
func ks(sorted []float64, cdf func(float64) float64) float64 {
	n, d := float64(len(sorted)), 0.0
	for i, x := range sorted {
		f := cdf(x)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}

// At a significance of 0.001 the critical value of D·√n is 1.949; the seeds are
// fixed, so the test is not a matter of luck once it passes.
func TestDistributions(t *testing.T) {
	const n, critical = 20000, 1.949
	cases := []struct {
		name string
		draw func(*Source) float64
		cdf  func(float64) float64
	}{
		{"uniform", (*Source).Float64, func(x float64) float64 { return x }},
		{"exponential", (*Source).Exp, distuv.Exponential{Rate: 1}.CDF},
		{"normal", (*Source).Normal, distuv.UnitNormal.CDF},
		{"gamma 0.25", func(s *Source) float64 { return s.Gamma(0.25) }, distuv.Gamma{Alpha: 0.25, Beta: 0.25}.CDF},
		{"gamma 1", func(s *Source) float64 { return s.Gamma(1) }, distuv.Gamma{Alpha: 1, Beta: 1}.CDF},
		{"gamma 4", func(s *Source) float64 { return s.Gamma(4) }, distuv.Gamma{Alpha: 4, Beta: 4}.CDF},
	}
	for _, c := range cases {
		for seed := range uint64(5) {
			s := New(seed)
			sample := make([]float64, n)
			for i := range sample {
				sample[i] = c.draw(&s)
			}
			slices.Sort(sample)
			if d := ks(sample, c.cdf) * math.Sqrt(n); d > critical {
				t.Errorf("%s, seed %d: D·√n = %.3f > %.3f", c.name, seed, d, critical)
			}
		}
	}
}

func TestBetween(t *testing.T) {
	s := New(7)
	var count [6]int
	for range 60000 {
		count[s.Between(10, 15)-10]++
	}
	chi := 0.0
	for _, c := range count {
		chi += math.Pow(float64(c)-10000, 2) / 10000
	}
	if chi > 20.515 { // χ² with 5 degrees of freedom at 0.001
		t.Errorf("χ² = %.1f, counts %v", chi, count)
	}
	if s.Between(3, 3) != 3 || s.Between(5, 1) != 5 {
		t.Error("degenerate ranges")
	}
	first, second := s.Between(math.MinInt64, math.MaxInt64), s.Between(math.MinInt64, math.MaxInt64)
	if first == second {
		t.Error("the full range")
	}
}
