package stat

import "math"

// DifferenceOf is b − a and its interval, from the intervals of both (MOVER: Zou
// and Donner 2008; Newcombe's method for shares is its special case). The sides
// must be independent of each other. It is given when both are.
func DifferenceOf(a, b Interval) Interval {
	d := between(a, b)
	d.Value = b.Value - a.Value
	d.Lo = d.Value - math.Hypot(b.Value-b.Lo, a.Hi-a.Value)
	d.Hi = d.Value + math.Hypot(b.Hi-b.Value, a.Value-a.Lo)
	return d
}

// QuotientOf is b / a and its interval: DifferenceOf on logarithms. Given where
// both are and all is above 0.
func QuotientOf(a, b Interval) Interval {
	q := between(a, b)
	if !(a.Lo > 0) || !(b.Lo > 0) {
		q.Given = false
		return q
	}
	log := func(iv Interval) Interval {
		iv.Value, iv.Lo, iv.Hi = math.Log(iv.Value), math.Log(iv.Lo), math.Log(iv.Hi)
		return iv
	}
	d := DifferenceOf(log(a), log(b))
	q.Value, q.Lo, q.Hi = b.Value/a.Value, math.Exp(d.Lo), math.Exp(d.Hi)
	return q
}

// between carries what both sides rest on: the weaker of them.
func between(a, b Interval) Interval {
	weaker := a
	if b.Moments < a.Moments {
		weaker = b
	}
	d := Interval{Given: a.Given && b.Given, N: a.N + b.N, Moments: weaker.Moments,
		Effective: math.Min(a.Effective, b.Effective), DF: math.Min(a.DF, b.DF), NeedFactor: math.Max(a.NeedFactor, b.NeedFactor)}
	switch {
	case !a.Given:
		d.Why = a.Why
	case !b.Given:
		d.Why = b.Why
	}
	return d
}

// LongRunShare is a share and its long-run variance for each request: of ΣNum of
// ΣDen requests, in pieces in their order of time. A piece is a request (of which
// something is true or not) or a block of them. Without requests N is 0.
func LongRunShare(pieces []Pair) LRV {
	var total Pair
	for _, p := range pieces {
		total.Num += p.Num
		total.Den += p.Den
	}
	if !(total.Den > 0) {
		return LRV{}
	}
	share := total.Num / total.Den
	l := longRun(len(pieces), func(i int) float64 { return pieces[i].Num - share*pieces[i].Den })
	l.L *= float64(len(pieces)) / total.Den
	l.N, l.Mean, l.Variance = int(math.Round(total.Den)), share, share*(1-share)
	return l
}

// ShareDifference is the difference b − a of two shares (LongRunShare) and its
// interval, with the dependence seen on both sides pooled: a side without a
// failure says nothing of whether failures come in bursts, so it is reduced as the
// other is. Not given when neither side, or every request of both, shows one.
func ShareDifference(a, b LRV, level float64) Interval {
	if a.N == 0 || b.N == 0 {
		return Interval{Why: NoValues, N: a.N + b.N}
	}
	na, nb := float64(a.N), float64(b.N)
	pooled := (na*a.Mean + nb*b.Mean) / (na + nb)
	if pooled <= 0 || pooled >= 1 {
		return Interval{Why: BurstsUnseen, N: a.N + b.N}
	}
	design := math.Max(1, (na*a.L+nb*b.L)/(na+nb)/(pooled*(1-pooled)))
	df := shareDF(design, (na+nb)*math.Min(pooled, 1-pooled), a.Cosines+b.Cosines)
	// The normal quantile that NewcombeDifference uses is made Student's by
	// asking for the level at which they agree.
	t := StudentQuantile((1+level)/2, df)
	lo, hi, ok := NewcombeDifference(a.Mean*na/design, na/design, b.Mean*nb/design, nb/design, math.Erf(t/math.Sqrt2))
	if !ok { // t so far out that no normal level is below 1
		lo, hi = -1, 1
	}
	return Interval{Value: b.Mean - a.Mean, Lo: lo, Hi: hi, N: a.N + b.N,
		Moments: (na + nb) / design, Effective: math.Min(na, nb) / design, DF: df}.give()
}
