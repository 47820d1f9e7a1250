package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// shares tests the difference of two shares of requests. Failures come in
// bursts, so the counts are first reduced to as many independent requests as
// both sides together say they are worth; then Newcombe's interval. A side
// without a failure says nothing of bursts and is reduced as the other one is.
// Where neither has one there is no difference to find, and the interval holds
// if failures come one by one.
func (f *finding) shares(s sides) {
	a, b := longRunShare(s.a), longRunShare(s.b)
	if a.N == 0 || b.N == 0 {
		f.why = "no request could be judged"
		return
	}
	at := func(level float64) stat.Interval { return stat.ShareDifferenceOf(a, b, level) }
	d := at(Confidence)
	if !d.Given {
		na, nb := float64(a.N), float64(b.N)
		lo, hi, _ := stat.NewcombeDifference(a.Mean*na, na, b.Mean*nb, nb, Confidence)
		f.interval, f.p = &[2]float64{lo, hi}, some(1)
		return
	}
	f.interval = &[2]float64{d.Lo, d.Hi}
	f.p = some(smallestAlpha(func(alpha float64) bool {
		d := at(1 - alpha)
		return d.Lo > 0 || d.Hi < 0
	}))
}

// longRunShare is the share of a side and its long-run variance, for each
// request. Pieces are requests, or in a baseline file blocks of them.
func longRunShare(list []series) stat.LRV {
	var parts []stat.Pair
	for _, s := range list {
		parts = append(parts, s.sums()...)
	}
	t := total(parts)
	if !(t.Den > 0) {
		return stat.LRV{}
	}
	share := t.Num / t.Den
	residuals := make([]float64, len(parts))
	for i, p := range parts {
		residuals[i] = p.Num - share*p.Den
	}
	l := stat.LongRunVariance(residuals)
	l.L *= float64(len(parts)) / t.Den
	l.N, l.Mean, l.Variance = int(math.Round(t.Den)), share, share*(1-share)
	return l
}
