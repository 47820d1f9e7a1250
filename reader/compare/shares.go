package compare

import "tokenmeter/record/stat"

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
	at := func(level float64) stat.Interval { return stat.ShareDifference(a, b, level) }
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

// longRunShare is the share of a side, its runs one after the other.
func longRunShare(list []series) stat.LRV {
	var pieces []stat.Pair
	for _, s := range list {
		pieces = append(pieces, s.sums()...)
	}
	return stat.LongRunShare(pieces)
}
