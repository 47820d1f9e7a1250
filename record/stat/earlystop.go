package stat

import "math"

// MinUnder returns h_min(t) of MLPerf's early stopping: the least number of
// queries within the limit that, beside t beyond it, shows with confidence c
// that the true share within the limit is at least p (less the tolerance d):
// the least h with P(X ≤ t) < 1 − c for X ~ Binomial(h+t, 1−p+d).
// Queries must be independent; looking again and again inflates the error.
func MinUnder(t int64, p, d, c float64) int64 {
	if t < 0 || !(p-d > 0 && p-d < 1) || !(c > 0 && c < 1) {
		return 0
	}
	x, y := p-d, 1-p+d
	shown := func(h int64) bool {
		if h < 1 {
			return false
		}
		return betaInc(float64(h), float64(t+1), x, y) < 1-c
	}
	hi := int64(math.Max(1, math.Ceil(float64(t+1)*x/y)))
	for !shown(hi) {
		hi *= 2
	}
	return searchLast(0, hi-1, func(h int64) bool { return !shown(h) }) + 1
}

// MaxOver returns t*(n): the largest t ≥ 1 with MinUnder(t) + t ≤ n, so that
// the latency of rank n − t + 1 is an upper bound of the p-quantile with
// confidence c. ok is false when n is too small for any claim (662 for p99 at
// 99 %).
func MaxOver(n int64, p, d, c float64) (t int64, ok bool) {
	if n < 1 || !(p-d > 0 && p-d < 1) || !(c > 0 && c < 1) {
		return 0, false
	}
	t = searchLast(0, n, func(t int64) bool { return t == 0 || MinUnder(t, p, d, c)+t <= n })
	return t, t >= 1
}

// UpperBound returns MLPerf's early-stopping estimate of the p-quantile: the
// order statistic that bounds it from above with confidence c.
func UpperBound(s Ordered, p, c float64) (value float64, ok bool) {
	t, ok := MaxOver(s.Len(), p, 0, c)
	if !ok {
		return 0, false
	}
	return s.At(s.Len() - t), true
}

// MoreForLimit returns how many further queries within the limit are needed
// before t over-limit queries of n no longer stand against the claim that a
// share p keeps it; 0 when it is shown already.
func MoreForLimit(t, n int64, p, d, c float64) int64 {
	return max(MinUnder(t, p, d, c)+t-n, 0)
}
