package stat

import "math"

// QuantileRanks returns the ranks (from 1) of the two order statistics between
// which the p-quantile of the population lies with probability at least conf,
// whatever the distribution: the narrowest pair that leaves at most half of
// 1 − conf on either side. ok is false when n is too small for one (see MinN).
// Values must be independent; repeated values only widen the coverage.
func QuantileRanks(n int64, p, conf float64) (lo, hi int64, ok bool) {
	if n < 1 || !(p > 0 && p < 1) || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	tail := (1 - conf) / 2
	// lo: the largest rank with P(fewer than lo values lie below) ≤ tail.
	lo = searchLast(0, n, func(r int64) bool { return BinomialCDF(r-1, n, p) <= tail })
	// hi: the smallest rank with P(at least hi values lie below) ≤ tail.
	hi = n + 1 - searchLast(0, n, func(r int64) bool { return BinomialSurvival(n+1-r, n, p) <= tail })
	return lo, hi, lo >= 1 && hi <= n
}

// searchLast returns the last r in [lo, hi] for which holds, which must be
// true up to some r and false after it; lo is taken to hold.
func searchLast(lo, hi int64, holds func(int64) bool) int64 {
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if holds(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// MinN returns the smallest sample for which QuantileRanks has an answer:
// 6 for a median, 36 (p90), 72 (p95), 368 (p99), 3,688 (p99.9) at 95 %.
func MinN(p, conf float64) int64 {
	if !(p > 0 && p < 1) || !(conf > 0 && conf < 1) {
		return 0
	}
	// The extreme on the rarer side must lie beyond the quantile often enough.
	n := int64(math.Ceil(snap(math.Log((1-conf)/2) / math.Log(math.Max(p, 1-p)))))
	for ; ; n++ {
		if _, _, ok := QuantileRanks(n, p, conf); ok {
			return n
		}
	}
}

// QuantileInterval returns the distribution-free interval of the p-quantile.
func QuantileInterval(s Ordered, p, conf float64) (lo, hi float64, ok bool) {
	l, h, ok := QuantileRanks(s.Len(), p, conf)
	if !ok {
		return 0, 0, false
	}
	return s.At(l - 1), s.At(h - 1), true
}

// Wilson returns the score interval of a share: k of n.
func Wilson(k, n int64, conf float64) (lo, hi float64, ok bool) {
	return wilson(float64(k), float64(n), conf)
}

// MeanInterval returns Student's interval of a mean from the sample's mean,
// standard deviation (n − 1) and size.
func MeanInterval(mean, sd float64, n int64, conf float64) (lo, hi float64, ok bool) {
	if n < 2 || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	half := StudentQuantile((1+conf)/2, float64(n-1)) * sd / math.Sqrt(float64(n))
	return mean - half, mean + half, true
}

// NormalQuantile is the inverse of the standard normal distribution.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// StudentQuantile is the inverse of Student's t distribution with df > 0
// degrees of freedom, for 0 < p < 1.
func StudentQuantile(p, df float64) float64 {
	if p < 0.5 {
		return -StudentQuantile(1-p, df)
	}
	if p == 0.5 {
		return 0
	}
	lo, hi := 0.0, 1.0
	for StudentCDF(hi, df) < p && hi < 1e300 {
		lo, hi = hi, hi*2
	}
	for i := 0; i < 200 && hi-lo > 1e-15*hi; i++ {
		mid := lo + (hi-lo)/2
		if StudentCDF(mid, df) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// StudentCDF is P(T ≤ t) with df degrees of freedom.
func StudentCDF(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return math.Max(0, math.Copysign(1, t))
	}
	tail := betaInc(df/2, 0.5, df/(df+t*t), t*t/(df+t*t)) / 2
	if t == 0 {
		return 0.5
	}
	if t > 0 {
		return 1 - tail
	}
	return tail
}
