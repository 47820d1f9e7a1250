package stat

import "math"

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
