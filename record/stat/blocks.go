package stat

import (
	"math"
	"math/rand/v2"
)

// Blocks resamples a series in pieces of consecutive values, so that what one
// value tells of the next stays in the resamples: the circular block bootstrap.
type Blocks struct {
	upto   []Pair // sums of the series, twice around
	n      int
	length int
}

// NewBlocks prepares a series for blocks of the given length.
func NewBlocks(series []Pair, length int) *Blocks {
	n := len(series)
	b := &Blocks{upto: make([]Pair, 2*n+1), n: n, length: min(max(length, 1), max(n, 1))}
	for i := range 2 * n {
		s := series[i%n]
		b.upto[i+1] = Pair{b.upto[i].Num + s.Num, b.upto[i].Den + s.Den}
	}
	return b
}

// Resample returns the sums of one resample, as long as the series.
func (b *Blocks) Resample(rng *rand.Rand) Pair {
	var total Pair
	for left := b.n; left > 0; left -= b.length {
		from := rng.IntN(b.n)
		to := from + min(b.length, left)
		total.Num += b.upto[to].Num - b.upto[from].Num
		total.Den += b.upto[to].Den - b.upto[from].Den
	}
	return total
}

// Count is how many blocks make a resample.
func (b *Blocks) Count() int { return (b.n + b.length - 1) / b.length }

// Cut returns the series' sums over consecutive blocks that do not overlap; a
// rest shorter than half a block joins the last.
func (b *Blocks) Cut() []Pair {
	var parts []Pair
	for from := 0; from < b.n; {
		to := from + b.length
		if b.n-to < (b.length+1)/2 {
			to = b.n
		}
		parts = append(parts, Pair{b.upto[to].Num - b.upto[from].Num, b.upto[to].Den - b.upto[from].Den})
		from = to
	}
	return parts
}

// BlockLength chooses the length of blocks from the autocorrelation of a
// series: the automatic rule of Politis and White (2004) for the circular
// bootstrap, with the correction of Patton, Politis and White (2009). It is 1
// for independent values and for series too short to tell.
func BlockLength(x []float64) float64 {
	n := len(x)
	if n < 20 {
		return 1
	}
	root := math.Sqrt(float64(n))
	window := max(5, int(math.Log10(float64(n))))
	most := int(math.Ceil(root)) + window
	cov, cor := autocorrelation(x, most)
	if !(cov[0] > 0) {
		return 1
	}
	lag := clearLag(cor, window, 2*math.Sqrt(math.Log10(float64(n))/float64(n)))
	width := min(2*lag, most)
	g, spectrum := 0.0, cov[0]
	for k := 1; k <= width; k++ {
		weight := math.Min(1, 2*(1-float64(k)/float64(width)))
		g += 2 * weight * float64(k) * cov[k]
		spectrum += 2 * weight * cov[k]
	}
	if spectrum == 0 {
		return 1
	}
	length := math.Cbrt(2 * g * g / (4.0 / 3 * spectrum * spectrum) * float64(n))
	return math.Max(1, math.Min(length, math.Ceil(math.Min(3*root, float64(n)/3))))
}

// clearLag is the first lag from which a window of correlations is within the
// bound; the last lag when there is none.
func clearLag(cor []float64, window int, bound float64) int {
	for lag := 1; lag+window < len(cor); lag++ {
		clear := true
		for k := lag; k < lag+window; k++ {
			clear = clear && math.Abs(cor[k]) < bound
		}
		if clear {
			return lag
		}
	}
	return len(cor) - 1
}

// autocorrelation returns autocovariances and autocorrelations up to a lag.
func autocorrelation(x []float64, most int) (cov, cor []float64) {
	n := len(x)
	var total sum
	for _, v := range x {
		total.add(v)
	}
	mean := total.value() / float64(n)
	cov, cor = make([]float64, most+1), make([]float64, most+1)
	for k := range cov {
		var product, head, tail float64
		for i := k; i < n; i++ {
			product += (x[i] - mean) * (x[i-k] - mean)
			if i > k {
				tail += (x[i] - mean) * (x[i] - mean)
				head += (x[i-k-1] - mean) * (x[i-k-1] - mean)
			}
		}
		cov[k] = product / float64(n)
		if spread := math.Sqrt(head * tail); spread > 0 {
			cor[k] = product / spread
		}
	}
	return cov, cor
}
