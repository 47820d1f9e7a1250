package stat

import "math"

// How much values that tell of each other are worth. Requests share a queue, so
// a slow one is followed by slow ones, and a thousand of them may say no more
// than fifty independent ones. The yardstick is the long-run variance: n times
// the variance of the mean, were the series repeated for ever. For independent
// values it is their variance; behind a busy queue a hundred times that.

const (
	lowCosines  = 16  // waves that stand for the long run
	allCosines  = 48  // waves compared with them, and used too where the spectrum is flat
	cosineBins  = 512 // longer series are summed over so many stretches first
	shortSeries = 100 // below, 48 waves are more than the series can tell
)

// flatFrom and flatTo are the 5 % and 75 % quantiles of Fisher's F(16, 32): a
// ratio of low to high waves between them is taken for a flat spectrum. The
// lower one is there for stalls in a fixed rhythm, whose low waves are too small.
const flatFrom, flatTo = 0.4580406416, 1.3104450551

// steepFrom is the 75 % quantile of F(8, 16): the same question an octave lower.
const (
	slowCosines = 8
	steepFrom   = 1.4510785778
)

// LRV is the long-run variance of a series in its order of time.
type LRV struct {
	N        int
	Mean     float64
	Variance float64 // of the values (divisor n)
	L        float64 // long-run variance: n · Var(mean)
	Cosines  int     // waves L is the mean of, which are its degrees of freedom
	F        float64 // low waves over high ones; NaN where not compared
	// Slow is L by the 8 longest waves where the spectrum still rises towards them,
	// else L: the series wanders more slowly than 16 waves show.
	Slow float64
}

// Effect is the design effect L / Variance: how many values tell as much of the
// mean as one independent value. 1 for independent values, below 1 where values
// alternate, and 1 for a constant series.
func (l LRV) Effect() float64 {
	if !(l.Variance > 0) {
		return 1
	}
	return l.L / l.Variance
}

// slowEffect is Effect by Slow, for how much a whole series wanders.
func (l LRV) slowEffect() float64 {
	if !(l.Variance > 0) {
		return 1
	}
	return math.Max(l.L, l.Slow) / l.Variance
}

// LongRunVariance estimates n · Var(mean) of a series by equal-weighted cosines
// (Lazarus, Lewis, Stock and Watson, Journal of Business and Economic Statistics
// 36:541, 2018): the mean of the squares of the 16 longest waves in it, or of 48
// where their spectrum is flat. Values must be finite. Student's distribution
// with Cosines degrees of freedom goes with it.
func LongRunVariance(y []float64) LRV {
	return longRun(len(y), func(i int) float64 { return y[i] })
}

// CosineVariance is LongRunVariance from a given number of waves, for series too
// short to choose: a few dozen blocks.
func CosineVariance(y []float64, cosines int) LRV {
	l := momentsOf(len(y), func(i int) float64 { return y[i] })
	l.Cosines = max(1, min(cosines, len(y)-1))
	if l.Variance > 0 {
		l.L = meanSquare(cosinesOf(l, func(i int) float64 { return y[i] }, l.Cosines))
	}
	return l
}

func longRun(n int, at func(int) float64) LRV {
	l := momentsOf(n, at)
	if n < shortSeries {
		l.Cosines = max(1, min(lowCosines, n/3))
		if l.Variance > 0 {
			l.L = meanSquare(cosinesOf(l, at, l.Cosines))
		}
		return l
	}
	l.Cosines = lowCosines
	if !(l.Variance > 0) {
		return l
	}
	waves := cosinesOf(l, at, allCosines)
	low, high := meanSquare(waves[:lowCosines]), meanSquare(waves[lowCosines:])
	l.L, l.F = low, low/high
	if flatFrom <= l.F && l.F <= flatTo {
		l.L, l.Cosines = meanSquare(waves), allCosines
	}
	if l.Slow = l.L; l.F > flatTo {
		if slow := meanSquare(waves[:slowCosines]); slow > steepFrom*meanSquare(waves[slowCosines:3*slowCosines]) {
			l.Slow = math.Max(l.L, slow)
		}
	}
	return l
}

func momentsOf(n int, at func(int) float64) LRV {
	l := LRV{N: n, F: math.NaN()}
	if n == 0 {
		return l
	}
	var total, squares sum
	first := at(0)
	constant := true
	for i := range n {
		v := at(i)
		constant = constant && v == first
		total.add(v)
	}
	l.Mean = total.value() / float64(n)
	if constant {
		l.Mean = first
		return l
	}
	for i := range n {
		d := at(i) - l.Mean
		squares.add(d * d)
	}
	l.Variance = squares.value() / float64(n)
	return l
}

// cosinesOf returns c_j = √(2/n) Σ (y_t − mean) cos(πj(t−½)/n) for j = 1…k. Over
// 512 values are summed over 512 stretches first, which moves no wave of these by 1 %.
func cosinesOf(l LRV, at func(int) float64, k int) []float64 {
	n := l.N
	m := min(n, cosineBins)
	waves := make([]float64, k)
	for i := range m {
		from, to := i*n/m, (i+1)*n/m
		part := 0.0
		for t := from; t < to; t++ {
			part += at(t) - l.Mean
		}
		// cos(jθ) by its recurrence: one cosine a stretch instead of 48.
		turn := math.Cos(math.Pi * float64(from+to) / 2 / float64(n))
		before, now := 1.0, turn
		for j := range waves {
			waves[j] += part * now
			before, now = now, 2*turn*now-before
		}
	}
	scale := math.Sqrt(2 / float64(n))
	for j := range waves {
		waves[j] *= scale
	}
	return waves
}

func meanSquare(waves []float64) float64 {
	total := 0.0
	for _, c := range waves {
		total += c * c
	}
	return total / float64(len(waves))
}
