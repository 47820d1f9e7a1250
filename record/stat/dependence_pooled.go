package stat

import "math"

// Values that come in clusters (the gaps between the tokens of one answer) are
// not a series: only whole clusters follow one another. So the run is cut into
// stretches of equal length, each with all the clusters that began in it, and the
// long-run variance is that of the stretches' totals.

// fewestStretches is how many stretches tell of a long run at all: twice the
// longest waves that must fit in.
const fewestStretches = 16

// PooledQuantile is the p-quantile of a pool and its interval. beyond holds, of each
// stretch in order of time, how many values exceed the quantile and how many
// there are; worth is that of the clusters' own series.
func PooledQuantile(pool Ordered, beyond []Pair, worth Worth, p, level float64) Interval {
	n := int(pool.Len())
	value, ok := Quantile(pool, p)
	if !ok || !(p > 0 && p < 1) {
		return Interval{Why: NoValues, N: n}
	}
	own, ok := stretched(beyond)
	if !ok {
		return Interval{Value: value, N: n, Moments: worth.Moments()}.refuse(TooFewMoments, math.Max(2, fewestMoments/worth.Moments()))
	}
	own.Variance = own.Mean * (1 - own.Mean)
	if own.Variance == 0 { // a value so frequent that it is all there is about the percentile
		own.Variance, own.L = p*(1-p), p*(1-p)*float64(n)/float64(worth.N)
	}
	return invert(pool, value, pooledEffect(own, worth, tailClusters/math.Min(p, 1-p), level, p > 0.9), p, level)
}

// PooledMean is the mean of a pool and its interval. parts holds the sum and the
// number of the values of each stretch, spread is the values' standard deviation.
func PooledMean(parts []Pair, spread float64, worth Worth, level float64) Interval {
	own, ok := stretched(parts)
	iv := Interval{Value: own.Mean, N: own.N, Moments: worth.Moments()}
	if own.N == 0 {
		return Interval{Why: NoValues}
	}
	if !ok {
		return iv.refuse(TooFewMoments, math.Max(2, fewestMoments/worth.Moments()))
	}
	if own.Variance = spread * spread; own.Variance == 0 {
		iv.Lo, iv.Hi = own.Mean, own.Mean
		return iv.give()
	}
	e := pooledEffect(own, worth, meanClusters, level, false)
	iv.Effective, iv.DF = math.Min(float64(own.N)/e.design, float64(own.N)), e.df
	half := e.t * math.Sqrt(e.design*own.Variance/float64(own.N))
	iv.Lo, iv.Hi = own.Mean-half, own.Mean+half
	if own.Mean > 0 {
		iv.Lo = own.Mean * math.Exp(-half/own.Mean)
	}
	if e.seen < fewestMoments {
		return iv.refuse(TooFewMoments, fewestMoments/e.seen)
	}
	return iv.give()
}

// PooledShare is ΣNum / ΣDen of clusters in order of time, each with so many of its
// values that count, and its interval. worth is that of the clusters' own series.
func PooledShare(clusters []Pair, worth Worth, level float64) Interval {
	own, n := LongRunShare(clusters), len(clusters)
	if own.N == 0 {
		return Interval{Why: NoValues}
	}
	values := float64(own.N)
	if own.Variance == 0 {
		moments := float64(n) / worth.Design
		return exactShare(own.Mean, moments, level, Interval{N: n, Moments: moments, Effective: moments})
	}
	own.N, own.L = n, own.L*float64(n)/values // for each cluster
	return settling(own, values, worth, level)
}

// stretched is the long-run variance, for each value of the pool, of ΣNum / ΣDen.
func stretched(parts []Pair) (LRV, bool) {
	var total Pair
	for _, p := range parts {
		total.Num += p.Num
		total.Den += p.Den
	}
	if !(total.Den > 0) {
		return LRV{}, false
	}
	l := LRV{N: int(total.Den), Mean: total.Num / total.Den}
	if len(parts) < fewestStretches {
		return l, false
	}
	residuals := make([]float64, len(parts))
	for i, p := range parts {
		residuals[i] = p.Num - l.Mean*p.Den
	}
	stretches := CosineVariance(residuals, min(lowCosines, len(parts)/2))
	l.L, l.Cosines = stretches.L*float64(len(parts))/total.Den, stretches.Cosines
	return l, true
}

// pooledEffect is widen for a pool: how much the run wanders, and for how many
// moments, is told by the clusters.
func pooledEffect(own LRV, worth Worth, clusters, level float64, tail bool) effect {
	n := float64(own.N)
	e := effect{design: own.Effect(), gate: worth.Design, moments: worth.Moments(), seen: worth.Moments(), waves: float64(own.Cosines)}
	if e.gate > 2 {
		e.design *= 1 + (1-1/e.gate)*widening/e.moments
		if tail {
			e.design = math.Max(e.design, e.gate)
		}
	}
	e.design = math.Max(e.design, 1e-9)
	e.df = 1 / (1/float64(own.Cosines) + math.Max(0, 1-1/e.design)*clusters/math.Min(n/e.design, n))
	e.t = StudentQuantile((1+level)/2, e.df)
	return e
}
