package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// differences holds values computed with scipy, statsmodels and arch by
// tools/oracle/difference.py.
type differences struct {
	Tests []struct {
		A, B           []float64
		Welch, Student struct {
			T, DF, P float64
			CI       [2]float64
		}
		Permutation map[string]float64
		TOST        *float64
	}
	Ratios []struct {
		Num, Den   []float64
		Value, Var float64
	}
	Shares []struct {
		K, N     [2]int64
		Newcombe [2]float64
		Fisher   float64
	}
	Holm    []struct{ P, Want []float64 }
	Lengths []struct {
		X    []float64
		Phi  float64
		Want float64
	}
	Bootstrap struct {
		X  []float64
		CI [2]float64
	}
	Bounds []struct{ V, Kappa, Alpha, Want float64 }
}

func readDifferences(t *testing.T) (d differences) {
	t.Helper()
	data, err := os.ReadFile("testdata/difference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// units are runs of equal size with these means.
func units(means []float64) []Pair {
	parts := make([]Pair, len(means))
	for i, m := range means {
		parts[i] = Pair{m * 200, 200}
	}
	return parts
}

func ratioOf(t *testing.T, parts []Pair) Ratio {
	t.Helper()
	r, ok := RatioOf(parts)
	if !ok {
		t.Fatal("no ratio")
	}
	return r
}

func TestRatioDifferenceOracle(t *testing.T) {
	for i, c := range readDifferences(t).Tests {
		want := c.Welch
		if min(len(c.A), len(c.B)) < 3 {
			want = c.Student
		}
		got, ok := RatioDifference(ratioOf(t, units(c.A)), ratioOf(t, units(c.B)), 0.95)
		if !ok || !close64(got.T, want.T, 1e-9) || !close64(got.DF, want.DF, 1e-9) || !close64(got.P, want.P, 1e-8) ||
			!close64(got.Lo, want.CI[0], 1e-8) || !close64(got.Hi, want.CI[1], 1e-8) {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
		if c.TOST == nil {
			continue
		}
		// Two one-sided tests at 5 % say "equivalent" exactly when the 90 %
		// interval lies inside the margin.
		ci, _ := RatioDifference(ratioOf(t, units(c.A)), ratioOf(t, units(c.B)), 0.90)
		if inside := ci.Lo > -0.8 && ci.Hi < 0.8; inside != (*c.TOST < 0.05) {
			t.Errorf("%d: inside the margin %v, two one-sided tests p = %v", i, inside, *c.TOST)
		}
	}
}

func TestRatioOracle(t *testing.T) {
	for i, c := range readDifferences(t).Ratios {
		parts := make([]Pair, len(c.Num))
		for j := range parts {
			parts[j] = Pair{c.Num[j], c.Den[j]}
		}
		if got := ratioOf(t, parts); !close64(got.Value, c.Value, 1e-12) || math.Abs(got.Var-c.Var) > 1e-9*c.Var {
			t.Errorf("%d: %+v, want %v, variance %v", i, got, c.Value, c.Var)
		}
	}
}

func TestPermutationOracle(t *testing.T) {
	difference := func(a, b []float64) float64 {
		ma, _ := sampleOf(a).Moments()
		mb, _ := sampleOf(b).Moments()
		return mb.Mean - ma.Mean
	}
	for i, c := range readDifferences(t).Tests {
		got := Permute(c.A, c.B, 10_000, 1, difference)
		want := c.Permutation
		if !got.Exact || !close64(got.TwoSided(), want["two-sided"], 1e-12) ||
			!close64(got.Less, want["less"], 1e-12) || !close64(got.Greater, want["greater"], 1e-12) {
			t.Errorf("%d: %+v, want %v", i, got, want)
		}
		random := Permute(c.A, c.B, 1, 1, difference)
		if random.Exact {
			t.Errorf("%d: one arrangement is not all of them", i)
		}
	}
}

func TestPermutationAtRandom(t *testing.T) {
	c := readDifferences(t).Tests[3]
	difference := func(a, b []float64) float64 { return ratioOf(t, units(b)).Value - ratioOf(t, units(a)).Value }
	exact := Permute(c.A, c.B, 10_000, 1, difference)
	drawn := Permute(c.A, c.B, 900, 7, difference) // 924 arrangements
	if drawn.Exact || math.Abs(drawn.Greater-exact.Greater) > 0.01 {
		t.Errorf("drawn %+v, exact %+v", drawn, exact)
	}
	if again := Permute(c.A, c.B, 900, 7, difference); again != drawn {
		t.Errorf("the same seed gave %+v and %+v", drawn, again)
	}
}

func TestSharesOracle(t *testing.T) {
	for _, c := range readDifferences(t).Shares {
		lo, hi, ok := NewcombeDifference(float64(c.K[0]), float64(c.N[0]), float64(c.K[1]), float64(c.N[1]), 0.95)
		if !ok || math.Abs(lo-c.Newcombe[0]) > 1e-9 || math.Abs(hi-c.Newcombe[1]) > 1e-9 {
			t.Errorf("%v of %v: %v to %v, want %v", c.K, c.N, lo, hi, c.Newcombe)
		}
	}
}

func TestHolmWeighted(t *testing.T) {
	for _, c := range readDifferences(t).Holm {
		for i, got := range HolmWeighted(c.P, slices.Repeat([]float64{0.3}, len(c.P))) {
			if !close64(got, c.Want[i], 1e-12) {
				t.Errorf("Holm(%v) = %v, want %v", c.P, got, c.Want[i])
			}
		}
	}
	// By hand: 0.03/3 is the smallest, so it is tried at 3/4 of the level:
	// 0.03 · 4/3 = 0.04; the other then has the whole level: 0.02, raised to 0.04.
	if got := HolmWeighted([]float64{0.02, 0.03}, []float64{1, 3}); !close64(got[0], 0.04, 1e-12) || !close64(got[1], 0.04, 1e-12) {
		t.Errorf("weighted Holm %v, want 0.04 twice", got)
	}
}

func TestMixtureBoundOracle(t *testing.T) {
	for _, c := range readDifferences(t).Bounds {
		if got := MixtureBound(c.V, c.Kappa, c.Alpha); !close64(got, c.Want, 1e-6) {
			t.Errorf("variance %v: bound %v, want %v", c.V, got, c.Want)
		}
	}
}

// RatioDifference tests b − a with the standard error of RatioError.
func RatioDifference(a, b Ratio, conf float64) (d ratioDifference, ok bool) {
	se, df, ok := RatioError(a, b)
	if !ok || !(se > 0) || !(conf > 0 && conf < 1) {
		return ratioDifference{}, false
	}
	diff := b.Value - a.Value
	return ratioDifference{TDifference(diff, se, df, conf), diff / se, df}, true
}

// ratioDifference is a test with its statistic and degrees of freedom.
type ratioDifference struct {
	Difference
	T, DF float64
}
