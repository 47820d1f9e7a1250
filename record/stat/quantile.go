package stat

import (
	"math"
	"slices"
)

// Ordered is a sample in ascending order.
type Ordered interface {
	Len() int64
	// At returns the i-th smallest value, from 0.
	At(i int64) float64
}

// Sorted is a slice in ascending order as an Ordered.
type Sorted []float64

// Len returns the number of values.
func (s Sorted) Len() int64 { return int64(len(s)) }

// At returns the i-th smallest value, from 0.
func (s Sorted) At(i int64) float64 { return s[i] }

// Quantile returns the p-quantile by linear interpolation between order
// statistics (Hyndman and Fan's type 7, numpy's default). An interpolation
// that would touch an infinite value falls back to the nearest rank, so that a
// share of infinite values below 1 − p leaves the quantile finite.
func Quantile(s Ordered, p float64) (value float64, ok bool) {
	n := s.Len()
	if n == 0 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	i, frac := position(n, p)
	lo := s.At(i)
	if frac == 0 {
		return lo, true
	}
	hi := s.At(i + 1)
	if math.IsInf(hi, 0) || math.IsInf(lo, 0) {
		return NearestRank(s, p)
	}
	return lerp(lo, hi, frac), true
}

// NearestRank returns the smallest value that at least a share p of the sample
// does not exceed: rank ⌈p·n⌉.
func NearestRank(s Ordered, p float64) (value float64, ok bool) {
	n := s.Len()
	if n == 0 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	return s.At(Rank(n, p) - 1), true
}

// Rank is the nearest rank ⌈p·n⌉ of the p-quantile, from 1.
func Rank(n int64, p float64) int64 {
	r := snap(p * float64(n))
	return min(max(int64(math.Ceil(r)), 1), n)
}

// position splits the type-7 position (n−1)p into an index and a fraction.
func position(n int64, p float64) (i int64, frac float64) {
	whole, frac := math.Modf(snap(p * float64(n-1)))
	i = int64(whole)
	if i >= n-1 {
		return n - 1, 0
	}
	return i, frac
}

// snap removes the dust of a product that should have been whole: 0.07 × 100
// is 7.000000000000001 in binary.
func snap(x float64) float64 {
	if r := math.Round(x); math.Abs(x-r) <= 1e-12*math.Max(1, math.Abs(x)) {
		return r
	}
	return x
}

// lerp interpolates so that the ends are hit exactly and order is kept.
func lerp(a, b, t float64) float64 {
	if t < 0.5 {
		return a + (b-a)*t
	}
	return b - (b-a)*(1-t)
}

// Median is the middle of some values, which it sorts; NaN without one.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
