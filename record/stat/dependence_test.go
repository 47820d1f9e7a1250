package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/base/random"
)

// The known answers were computed with numpy and scipy, apart from this package:
// three series by a congruential generator, their intervals at 95 %.
func reference(n int, step func(z, v int) (int, float64)) *Series {
	values := make([]float64, n)
	state, z := 1, 0
	for i := range values {
		state = (state*1103515245 + 12345) % (1 << 31)
		z, values[i] = step(z, (state>>16)&1023)
	}
	return &Series{Values: values}
}

func independentSeries() *Series {
	return reference(400, func(_, v int) (int, float64) { return 0, float64(100 + v) })
}

func TestKnownIntervals(t *testing.T) {
	wander := reference(1000, func(z, v int) (int, float64) { z = z*9/10 + v; return z, float64(z) })
	queue := reference(3000, func(z, v int) (int, float64) { z = max(0, z+v-540); return z, float64(z + 100) })
	type known struct {
		p           float64 // 0: the mean
		moments, df float64
		lo, hi      float64
		given       bool
		design      float64
	}
	for _, c := range []struct {
		name   string
		series *Series
		sum    float64
		want   []known
	}{
		{"independent", independentSeries(), 239506, []known{
			{0, 400, 48, 572.039, 627.414, true, 0.920974},
			{0.5, 400, 48, 546, 658, true, 0.877451},
			{0.95, 400, 48, 1009, 1073, true, 0.84926},
			{0.99, 400, 48, 1079, 1117, false, 0.920062},
		}},
		{"wandering", wander, 4.99308e6, []known{
			{0, 49.6645, 4.98289, 4664.18, 5358.19, false, 35.5466},
			{0.5, 49.6645, 9.35407, 4735, 5219, false, 18.7621},
			{0.95, 49.6645, 2.09795, 5393, 6679, false, 17.5662},
			{0.99, 49.6645, 0.751167, 3825, 7148, false, 11.1501},
		}},
		{"queue", queue, 3.01626e6, []known{
			{0, 58.4513, 5.69742, 672.703, 1680.9, true, 85.7635},
			{0.5, 58.4513, 20.9947, 530, 985, true, 33.1573},
			{0.95, 54.6183, 1.18906, 237, 5830, false, 94.4202},
			{0.99, 58.4513, 0.626804, 100, 5670, false, 38.7895},
		}},
	} {
		total := 0.0
		for _, v := range c.series.Values {
			total += v
		}
		if !close64(total, c.sum, 1e-5) {
			t.Fatalf("%s: not the reference's series: sum %v", c.name, total)
		}
		for _, w := range c.want {
			got := c.series.Mean(0.95)
			if w.p > 0 {
				got = c.series.Quantile(w.p, 0.95)
			}
			if !close64(got.Moments, w.moments, 1e-5) || !close64(got.DF, w.df, 1e-5) ||
				!close64(got.Lo, w.lo, 1e-5) || !close64(got.Hi, w.hi, 1e-5) || got.Given != w.given ||
				!close64(got.Effective, math.Min(float64(got.N), float64(got.N)/w.design), 1e-5) {
				t.Errorf("%s at %v: got %+v\nwant %+v", c.name, w.p, got, w)
			}
		}
	}
}

func TestKnownQuantities(t *testing.T) {
	series := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	at := func(i int) float64 { return series[i] }
	waves := cosinesOf(momentsOf(8, at), at, 3)
	for i, want := range []float64{-6.44232, 0, -0.673455} {
		if math.Abs(waves[i]-want) > 1e-5 {
			t.Errorf("wave %d of 1…8: %v, want %v", i+1, waves[i], want)
		}
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	fisher := func(f float64) float64 { return BetaInc(8, 16, 16*f/(16*f+32)) }
	near("P(F(16, 32) < lower border)", fisher(flatFrom), 0.05, 1e-7)
	near("P(F(16, 32) < upper border)", fisher(flatTo), 0.75, 1e-7)
	near("P(F(8, 16) < its border)", BetaInc(4, 8, 8*steepFrom/(8*steepFrom+16)), 0.75, 1e-7)
	near("beta 2.5 %", BetaQuantile(0.025, 95.5, 5.5), 0.893900, 1e-6)
	near("beta 97.5 %", BetaQuantile(0.975, 95.5, 5.5), 0.980668, 1e-6)
	near("t, df 2.4", StudentQuantile(0.975, 2.4), 3.683504, 1e-6)
	near("t, df 5.6", StudentQuantile(0.975, 5.6), 2.489910, 1e-6)
	// Student's t as printed in every textbook, three decimals.
	for df, want := range map[float64]float64{1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 16: 2.120, 30: 2.042, 48: 2.011, 120: 1.980} {
		near("Student's table", StudentQuantile(0.975, df), want, 5e-4)
	}
	// Clopper and Pearson's limits as tabulated (0, 1, 5 of 10; 10 of 100).
	for _, c := range []struct{ k, n, lo, hi float64 }{
		{0, 10, 0, 0.3085}, {1, 10, 0.0025, 0.4450}, {5, 10, 0.1871, 0.8129}, {10, 100, 0.0490, 0.1762},
	} {
		iv := exactShare(c.k/c.n, c.n, 0.95, Interval{})
		near("Clopper-Pearson, lower", iv.Lo, c.lo, 5e-5)
		near("Clopper-Pearson, upper", iv.Hi, c.hi, 5e-5)
	}
}

func TestBetaQuantileInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-2, 12).Draw(t, "ln a"))
		b := math.Exp(rapid.Float64Range(-2, 12).Draw(t, "ln b"))
		p := rapid.Float64Range(1e-6, 1-1e-6).Draw(t, "p")
		x := BetaQuantile(p, a, b)
		// Where x is within rounding of an end its neighbours bracket p.
		below, above := BetaInc(a, b, math.Nextafter(x, 0)*(1-1e-12)), BetaInc(a, b, math.Min(1, x*(1+1e-12)))
		if !(x >= 0 && x <= 1) || below > p+1e-8 || above < p-1e-8 {
			t.Fatalf("BetaQuantile(%v, %v, %v) = %v, where I is %v to %v", p, a, b, x, below, above)
		}
	})
}

func TestIntervalsOfOddSeries(t *testing.T) {
	alike := make([]float64, 200)
	for i := range alike {
		alike[i] = 7
	}
	s := Series{Values: alike}
	if iv := s.Quantile(0.95, 0.95); !iv.Given || iv.Lo != 7 || iv.Hi != 7 {
		t.Errorf("all alike: %+v", iv)
	}
	if iv := s.Mean(0.95); !iv.Given || iv.Lo != 7 || iv.Hi != 7 {
		t.Errorf("mean of all alike: %+v", iv)
	}
	failures := Series{Values: append([]float64{math.Inf(1), math.Inf(1)}, alike...)}
	if iv := failures.Mean(0.95); iv.Given || iv.Why != NotFinite {
		t.Errorf("mean with failures: %+v", iv)
	}
	empty := Series{}
	for name, iv := range map[string]Interval{"mean": empty.Mean(0.95), "quantile": empty.Quantile(0.5, 0.95),
		"share": Share(nil, 0.95), "beyond": empty.Beyond(1, 0.95)} {
		if iv.Given || iv.Why != NoValues {
			t.Errorf("%s of nothing: %+v", name, iv)
		}
	}
	if iv := Share(make([]bool, 300), 0.95); !iv.Given || iv.Lo != 0 || math.Abs(iv.Hi-(1-math.Pow(0.025, 1.0/300))) > 1e-12 || iv.Why != BurstsUnseen {
		t.Errorf("no failure in 300: %+v", iv)
	}
}

// A lone failure shows as little as none of whether failures come in bursts. Failures here
// go on with a chance that makes bursts of that length on average (a chain of two states,
// whose share of failures is known), so few that most runs meet two or three: what is said
// without a condition may be wrong in 6 % of runs.
func TestShareOfFewBursts(t *testing.T) {
	const n, runs = 1000, 500
	for _, c := range []struct{ length, bursts float64 }{{2, 3}, {3, 2}, {3, 3}, {5, 2}} {
		begins, ends := c.bursts/n, 1/c.length
		truth := begins / (begins + ends)
		src := random.New(18, uint64(10*c.length+c.bursts))
		wrong, lone := 0, 0
		for range runs {
			is, failing, seen := make([]bool, n), src.Float64() < truth, 0
			for i := range is {
				if is[i] = failing; failing {
					seen++
				}
				if u := src.Float64(); failing {
					failing = u >= ends
				} else {
					failing = u < begins
				}
			}
			iv := Share(is, 0.95)
			if (iv.Why == BurstsUnseen) != (seen <= 1) {
				t.Fatalf("%d failures: %+v", seen, iv)
			}
			if !(iv.Lo <= truth && truth <= iv.Hi) {
				if iv.Why == "" {
					wrong++
				} else if seen == 1 {
					lone++
				}
			}
		}
		// Three standard errors of a count of 6 %.
		if most := 0.06*runs + 3*math.Sqrt(0.06*0.94*runs); float64(wrong) > most {
			t.Errorf("%g bursts of %g: wrong in %d of %d runs", c.bursts, c.length, wrong, runs)
		}
		t.Logf("%g bursts of %g: wrong in %d of %d runs without a condition, and in %d with one failure", c.bursts, c.length, wrong, runs, lone)
	}
}

// Whatever the series, an answer is ordered, holds its figure, has no NaN, and
// widens with the level asked for.
func TestIntervalsHoldTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1e4), rapid.Just(3.0), rapid.Just(math.Inf(1))), 1, 400).Draw(t, "values")
		s := Series{Values: values}
		if rapid.Bool().Draw(t, "open loop") {
			for range values {
				s.InFlight = append(s.InFlight, float64(rapid.IntRange(0, 9).Draw(t, "in flight")))
			}
		}
		p := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.99, 0.1}).Draw(t, "p")
		for name, ask := range map[string]func(level float64) Interval{
			"mean":     s.Mean,
			"quantile": func(level float64) Interval { return s.Quantile(p, level) },
			"beyond":   func(level float64) Interval { return s.Beyond(3, level) },
		} {
			narrow, wide := ask(0.8), ask(0.99)
			for _, iv := range []Interval{narrow, wide} {
				if math.IsNaN(iv.Lo) || math.IsNaN(iv.Hi) || math.IsNaN(iv.NeedFactor) || math.IsNaN(iv.Effective) || iv.Moments > float64(len(values)) {
					t.Fatalf("%s: %+v", name, iv)
				}
				if iv.Given && !(iv.Lo <= iv.Value && iv.Value <= iv.Hi) {
					t.Fatalf("%s: the figure is outside: %+v", name, iv)
				}
			}
			if narrow.Given && wide.Given && (wide.Lo > narrow.Lo+1e-9 || wide.Hi < narrow.Hi-1e-9) {
				t.Fatalf("%s: 99 %% within 80 %%: %+v, %+v", name, wide, narrow)
			}
		}
	})
}

func TestShareDifferencePoolsTheBursts(t *testing.T) {
	burst, none := make([]bool, 1000), make([]bool, 1000)
	for i := 400; i < 412; i++ {
		burst[i] = true
	}
	scattered := make([]bool, 1000)
	for i := 20; i < 1000; i += 80 {
		scattered[i] = true
	}
	share := func(is []bool) LRV {
		pieces := make([]Pair, len(is))
		for i := range is {
			pieces[i].Den = 1
			if is[i] {
				pieces[i].Num = 1
			}
		}
		return LongRunShare(pieces)
	}
	if d := ShareDifference(share(none), share(burst), 0.95); !d.Given || d.Lo > 0 {
		t.Errorf("one burst of 12 is no difference: %+v", d)
	}
	if d := ShareDifference(share(none), share(scattered), 0.95); !d.Given || !(d.Lo > 0) {
		t.Errorf("12 scattered failures against none: %+v", d)
	}
	if d := ShareDifference(share(none), share(none), 0.95); d.Given {
		t.Errorf("two sides without a failure: %+v", d)
	}
}

func TestDifferenceOfIntervals(t *testing.T) {
	a := Interval{Value: 10, Lo: 7, Hi: 14, Given: true}
	b := Interval{Value: 20, Lo: 17, Hi: 23, Given: true}
	d := DifferenceOf(a, b)
	if d.Value != 10 || d.Lo != 10-5 || math.Abs(d.Hi-(10+math.Sqrt(18))) > 1e-12 || !d.Given {
		t.Errorf("difference %+v", d)
	}
	q := QuotientOf(a, b)
	if q.Value != 2 || !(q.Lo < 2 && q.Hi > 2) {
		t.Errorf("quotient %+v", q)
	}
	b.Given, b.Why = false, TooFewMoments
	if d := DifferenceOf(a, b); d.Given || d.Why != TooFewMoments {
		t.Errorf("a side without an interval: %+v", d)
	}
}

func TestDriftOfKnownSeries(t *testing.T) {
	steady := reference(2000, func(_, v int) (int, float64) { return 0, float64(100 + v) })
	if d := steady.Drift(0.95); !d.Tested || d.Alarm {
		t.Errorf("independent values: %+v", d)
	}
	for i := range steady.Values {
		steady.Values[i] += float64(i) / 4
	}
	moved := &Series{Values: steady.Values}
	if d := moved.Drift(0.95); !d.Alarm {
		t.Errorf("half as slow again over the run: %+v", d)
	}
}

func BenchmarkIntervals(b *testing.B) {
	s := reference(100_000, func(z, v int) (int, float64) { z = max(0, z+v-540); return z, float64(z + 100) })
	for b.Loop() {
		again := Series{Values: s.Values}
		again.Mean(0.95)
		for _, p := range []float64{0.5, 0.9, 0.95, 0.99} {
			again.Quantile(p, 0.95)
		}
	}
}
