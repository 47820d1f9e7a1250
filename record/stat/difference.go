package stat

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Difference is a test of whether two samples' means differ, and by how much.
type Difference struct {
	Diff   float64 // mean of b − mean of a
	Lo, Hi float64 // interval of Diff at the asked confidence
	T, DF  float64
	P      float64 // two-sided
}

// Welch compares the means of two samples of unequal variance. The values must
// be independent: for runs that means one value a run, since the requests
// inside a run are not. ok is false with fewer than two values on a side, or
// when neither side varies.
func Welch(a, b []float64, conf float64) (d Difference, ok bool) {
	ma, _ := sampleOf(a).Moments()
	mb, _ := sampleOf(b).Moments()
	if ma.N < 2 || mb.N < 2 || !(conf > 0 && conf < 1) {
		return Difference{}, false
	}
	va, vb := ma.SD*ma.SD/float64(ma.N), mb.SD*mb.SD/float64(mb.N)
	se := math.Sqrt(va + vb)
	if !(se > 0) || math.IsInf(se, 0) {
		return Difference{}, false
	}
	d.Diff = mb.Mean - ma.Mean
	d.DF = (va + vb) * (va + vb) / (va*va/float64(ma.N-1) + vb*vb/float64(mb.N-1))
	d.T = d.Diff / se
	d.P = 2 * StudentCDF(-math.Abs(d.T), d.DF)
	half := StudentQuantile((1+conf)/2, d.DF) * se
	d.Lo, d.Hi = d.Diff-half, d.Diff+half
	return d, true
}

func sampleOf(values []float64) *Sample {
	s := &Sample{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// MannWhitney returns the two-sided p-value of the test that neither sample
// tends to be larger, which needs no distribution: exact for small samples.
// ok is false when a side is empty or all values are equal.
func MannWhitney(a, b []float64) (p float64, ok bool) {
	r, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	if err != nil || math.IsNaN(r.P) {
		return 0, false
	}
	return math.Min(r.P, 1), true
}

// Holm adjusts p-values of several tests so that the chance of any false alarm
// stays at the level the adjusted values are held against.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	adjusted, worst := make([]float64, len(p)), 0.0
	for rank, i := range order {
		worst = math.Max(worst, math.Min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = worst
	}
	return adjusted
}
