package stat

import "math"

// Precision returns the relative half-width of the distribution-free interval
// of the p-quantile: the larger distance from the quantile to its ends, over
// the quantile. ok is false without an interval or with a quantile of 0.
func Precision(s Ordered, p, conf float64) (rel float64, ok bool) {
	lo, hi, ok := QuantileInterval(s, p, conf)
	q, ok2 := Quantile(s, p)
	if !ok || !ok2 || q == 0 || math.IsInf(hi, 0) {
		return 0, false
	}
	return math.Max(hi-q, q-lo) / math.Abs(q), true
}

// MoreForPrecision returns how many further values the sample needs until the
// interval of its p-quantile is within ±rel of the quantile, if the values to
// come are like those seen: the ranks of the interval at a larger n are read
// off the present sample. 0 means it is precise enough. ok is false when the
// sample is too small to tell (fewer than MinN values have no tail to read), or
// when more than a thousand times as many would be needed.
func MoreForPrecision(s Ordered, p, conf, rel float64) (more int64, ok bool) {
	n := s.Len()
	q, have := Quantile(s, p)
	if !have || !(rel > 0) || q == 0 || math.IsInf(q, 0) {
		return 0, false
	}
	if n < MinN(p, conf) {
		return MinN(p, conf) - n, false
	}
	enough := func(total int64) bool {
		l, h, _ := QuantileRanks(total, p, conf)
		lo := s.At(scaledRank(l, total, n) - 1)
		hi := s.At(scaledRank(h, total, n) - 1)
		return math.Max(hi-q, q-lo) <= rel*math.Abs(q)
	}
	if enough(n) {
		return 0, true
	}
	hi := n
	for !enough(hi) {
		if hi > 1000*n {
			return 0, false
		}
		hi *= 2
	}
	return searchLast(n, hi-1, func(t int64) bool { return !enough(t) }) + 1 - n, true
}

// scaledRank maps a rank of a sample of total onto one of n.
func scaledRank(r, total, n int64) int64 {
	return min(max(int64(math.Ceil(snap(float64(r)*float64(n)/float64(total)))), 1), n)
}
