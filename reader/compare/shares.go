package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// shares tests the difference of two shares of requests. Failures come in
// clusters, so the counts are first reduced to as many independent requests as
// the spread between runs (or blocks) says they are worth; then Newcombe's
// interval and Fisher's exact test, which hold with no failure at all.
func (f *finding) shares(s sides) {
	a, b := worth(s.a, f.unit), worth(s.b, f.unit)
	lo, hi, ok := stat.NewcombeDifference(a.Num, a.Den, b.Num, b.Den, Confidence)
	if !ok {
		f.why = "no request could be judged"
		return
	}
	f.interval = &[2]float64{lo, hi}
	p, ok := stat.Fisher(whole(a.Num), whole(a.Den), whole(b.Num), whole(b.Den))
	if ok {
		f.p = some(p)
	}
}

// whole rounds to whole requests, keeping the share as it is.
func whole(v float64) int64 { return int64(math.Round(v)) }

// worth is a count of so many independent requests: both are divided by the
// design effect, the spread between runs or blocks over that of independent
// requests, where it is above 1.
func worth(list []series, unit Unit) stat.Pair {
	var parts []stat.Pair
	if unit == ByRun && len(list) > 2 {
		parts = runSums(list)
	} else {
		parts = cut(list, series.sums)
	}
	t := total(parts)
	r, ok := stat.RatioOf(parts)
	if !ok || len(parts) < 3 {
		return t
	}
	independent := r.Value * (1 - r.Value) / t.Den
	if independent <= 0 || r.Var <= independent {
		return t
	}
	effect := r.Var / independent
	return stat.Pair{Num: t.Num / effect, Den: t.Den / effect}
}

// runSums is the sum of each run.
func runSums(list []series) []stat.Pair {
	parts := make([]stat.Pair, len(list))
	for i, s := range list {
		parts[i] = total(s.sums())
	}
	return parts
}
