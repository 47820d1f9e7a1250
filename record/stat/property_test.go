package stat

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func values(t *rapid.T, label string) []float64 {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Float64Range(0, 1e6), rapid.Float64Range(0, 1e-9),
		rapid.SampledFrom([]float64{0, 1, 2, 4, math.Inf(1), math.MaxFloat64, 5e-324})), 0, 60).Draw(t, label)
}

func sketchOf(vs []float64) *Sketch {
	s := &Sketch{}
	for _, v := range vs {
		s.Add(v)
	}
	return s
}

// bytesOf leaves out the sum, whose last digit may depend on the order.
func bytesOf(t *rapid.T, s *Sketch) []byte {
	c := *s
	c.sum = 0
	out, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSketchMergeIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := values(t, "a"), values(t, "b"), values(t, "c")
		left := sketchOf(a)
		left.Merge(sketchOf(b))
		left.Merge(sketchOf(c))
		right := sketchOf(c)
		right.Merge(sketchOf(b))
		bc := sketchOf(a)
		bc.Merge(right)
		whole := sketchOf(slices.Concat(b, a, c))
		if !bytes.Equal(bytesOf(t, left), bytesOf(t, bc)) || !bytes.Equal(bytesOf(t, left), bytesOf(t, whole)) {
			t.Fatal("merging in another order gives another sketch")
		}
	})
}

func TestSketchIsWithinOnePercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := slices.DeleteFunc(values(t, "values"), func(v float64) bool { return v < 1e-300 && v > 0 })
		if len(vs) == 0 {
			return
		}
		s := sketchOf(vs)
		slices.Sort(vs)
		for i, v := range vs {
			if got := s.At(int64(i)); got != v && math.Abs(got-v) > 0.008*v {
				t.Fatalf("value %d is %v, the sketch says %v", i, v, got)
			}
		}
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		want, _ := Quantile(Sorted(vs), p)
		if got, _ := s.Quantile(p); got != want && math.Abs(got-want) > 0.01*want {
			t.Fatalf("quantile %v is %v, the sketch says %v", p, want, got)
		}
	})
}

func TestSketchRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sketchOf(values(t, "values"))
		data, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Sketch
		if math.IsInf(s.sum, 1) {
			return
		}
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(data, again) || back.Len() != s.Len() {
			t.Fatal("a sketch changes on its way")
		}
	})
}

func FuzzSketchBinary(f *testing.F) {
	for _, vs := range [][]float64{{}, {0}, {1, 2, 3}, {1e-9, 1e9, math.Inf(1)}} {
		data, _ := sketchOf(vs).MarshalBinary()
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Sketch
		if s.UnmarshalBinary(data) != nil {
			return
		}
		for _, p := range []float64{0, 0.5, 0.99, 1} {
			if v, ok := s.Quantile(p); ok != (s.Len() > 0) || v != v || v < 0 {
				t.Fatalf("quantile %v is %v", p, v)
			}
		}
		if again, _ := s.MarshalBinary(); len(again) > len(data) {
			t.Fatalf("%d bytes became %d", len(data), len(again))
		}
	})
}

func TestQuantileBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := Sorted(rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 300).Draw(t, "values"))
		slices.Sort(vs)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		a, _ := Quantile(vs, min(p, q))
		b, _ := Quantile(vs, max(p, q))
		if a > b || a < vs[0] || b > vs[len(vs)-1] {
			t.Fatalf("quantiles %v and %v out of order or range", a, b)
		}
		if lo, hi, ok := QuantileInterval(vs, float64(len(vs)), p, 0.95); ok {
			if v, _ := Quantile(vs, p); v < lo || v > hi {
				t.Fatalf("p%v = %v outside its interval %v–%v", p, v, lo, hi)
			}
		}
	})
}

// Shares must agree with the list in which each gap is written out k times.
func TestSharesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []float64
		var parts [3]Shares
		n := rapid.IntRange(0, 50).Draw(t, "n")
		for range n {
			v := rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(1<<20-2, 1<<20+2), rapid.Int64Range(0, 1<<40)).Draw(t, "v")
			k := rapid.Int64Range(1, 6).Draw(t, "k")
			parts[rapid.IntRange(0, 2).Draw(t, "part")].Add(v, k)
			for range k {
				all = append(all, float64(v)/float64(k)/1000)
			}
		}
		slices.Sort(all)
		parts[0].Merge(&parts[1])
		parts[0].Merge(&parts[2])
		got := parts[0].Frozen(1000)
		if got.Len() != int64(len(all)) || parts[0].Len() != got.Len() {
			t.Fatalf("%d values, want %d", got.Len(), len(all))
		}
		for i, want := range all {
			if got.At(int64(i)) != want {
				t.Fatalf("value %d is %v, want %v", i, got.At(int64(i)), want)
			}
		}
		m, ok := got.Moments()
		want, _ := sampleOf(all).Moments()
		if ok && (math.Abs(m.Mean-want.Mean) > 1e-12*want.Mean || math.Abs(m.SD-want.SD) > 1e-9*want.SD) {
			t.Fatalf("moments %v, want %v", m, want)
		}
		for _, v := range all {
			below := int64(0)
			for _, w := range all {
				if w <= v {
					below++
				}
			}
			if got.AtMost(v) != below {
				t.Fatalf("%d values at most %v, want %d", got.AtMost(v), v, below)
			}
		}
	})
}

// The interval holds the true quantile as often as it says, for a skewed distribution
// as for any other. Jeffreys' limits do so on average over p; at one p and n they are
// off by up to 2 points (Brown, Cai and DasGupta 2001).
func TestIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	for _, c := range []struct {
		p float64
		n int
	}{{0.5, 20}, {0.9, 60}, {0.95, 200}, {0.99, 500}} {
		truth, held := -math.Log(1-c.p), 0
		values := make(Sorted, c.n)
		for range runs {
			for i := range values {
				values[i] = rng.ExpFloat64()
			}
			slices.Sort(values)
			if lo, hi, ok := QuantileInterval(values, float64(c.n), c.p, 0.95); ok && lo <= truth && truth <= hi {
				held++
			}
		}
		// Three standard errors of 0.95 in 2,000 runs are 1.5 points.
		if share := float64(held) / runs; share < 0.93-0.015 {
			t.Errorf("p%v of %d: covered in %v", c.p*100, c.n, share)
		}
	}
}

func TestSampleTakesNoNaN(t *testing.T) {
	s := sampleOf([]float64{2, math.NaN(), 1})
	if s.Len() != 2 || s.At(0) != 1 {
		t.Errorf("got %v", s.Sorted())
	}
	if _, ok := (&Sample{}).Moments(); ok {
		t.Error("an empty sample has a mean")
	}
}

func TestIntsHoldMoreThanACounter(t *testing.T) {
	var m Ints
	for range 3 {
		m.AddN(7, math.MaxUint32-1)
	}
	m.Add(1 << 30)
	m.Add(-5)
	c := m.Frozen(1)
	if c.Len() != 3*(math.MaxUint32-1)+2 || c.AtMost(7) != c.Len()-1 || c.At(0) != 0 || c.At(c.Len()-1) != 1<<30 {
		t.Errorf("%d values", c.Len())
	}
}

func sampleOf(values []float64) *Sample {
	s := &Sample{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}
