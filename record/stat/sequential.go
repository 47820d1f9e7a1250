package stat

import "math"

// MixtureBound is how far a sum of unit-variance increments may stray from its
// expectation at any time: with probability 1 − alpha the sum of a process of
// variance v stays within ±MixtureBound(v) for ever (Robbins' normal mixture).
// It may be looked at after every value. kappa sets where it is tightest: at
// about the variance at which a mean of size 1/√kappa can be seen.
func MixtureBound(v, kappa, alpha float64) float64 {
	if !(v >= 0) || !(kappa > 0) || !(alpha > 0 && alpha < 1) {
		return math.Inf(1)
	}
	return math.Sqrt((v + kappa) * (math.Log((v+kappa)/kappa) - 2*math.Log(alpha)))
}

// TwoShares tests, at any time and as often as one likes, whether a share of
// one stream of successes differs from another's by more than a margin. It is
// a product of e-values over blocks that hold values of both streams (Turner,
// Ly and Grünwald): under the hypothesis its expectation never exceeds 1, so
// P(it ever reaches 1/alpha) ≤ alpha, whatever the stopping rule, for finite
// samples.
//
// The hypothesis is share(b) − share(a) ≥ Margin (evidence says that b is
// lower), or with Above share(b) − share(a) ≤ Margin.
type TwoShares struct {
	Margin float64
	Above  bool
	log    float64 // of the product
	peak   float64
}

// Add takes a block: ka successes of na values of a, kb of nb of b, and what
// had been seen of each stream before it.
func (t *TwoShares) Add(ka, na, kb, nb int64, before [2]Pair) {
	if na < 1 || nb < 1 {
		return
	}
	a, b := guess(before[0]), guess(before[1])
	margin := t.Margin
	if t.Above { // mirror: failures for successes turns ≤ into ≥
		a, b, margin = 1-a, 1-b, -margin
		ka, kb = na-ka, nb-kb
	}
	// The hypothesis is b − a ≥ margin. Without evidence against it there is
	// nothing to bet on.
	if b-a >= margin {
		return
	}
	a0, b0 := nearestShares(a, b, margin, float64(na), float64(nb))
	t.log += score(ka, na, a, a0) + score(kb, nb, b, b0)
	t.peak = math.Max(t.peak, t.log)
}

// P is the always-valid p-value.
func (t *TwoShares) P() float64 { return math.Exp(-t.peak) }

// guess is a share from what was seen before, drawn to the middle by one value.
func guess(seen Pair) float64 { return (seen.Num + 0.5) / (seen.Den + 1) }

func score(k, n int64, p, p0 float64) float64 {
	return float64(k)*math.Log(p/p0) + float64(n-k)*math.Log((1-p)/(1-p0))
}

// nearestShares is the member of the hypothesis b − a ≥ margin that is nearest
// to (a, b) in relative entropy; it lies on the border.
func nearestShares(a, b, margin, na, nb float64) (a0, b0 float64) {
	if margin == 0 {
		m := (na*a + nb*b) / (na + nb)
		return m, m
	}
	// b0 = a0 + margin; the derivative of the entropy in a0 rises.
	lo, hi := math.Max(0, -margin), math.Min(1, 1-margin)
	slope := func(x float64) float64 {
		y := x + margin
		return na*((1-a)/(1-x)-a/x) + nb*((1-b)/(1-y)-b/y)
	}
	for range 60 {
		mid := lo + (hi-lo)/2
		if slope(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	const edge = 1e-9
	a0 = math.Min(math.Max((lo+hi)/2, math.Max(0, -margin)+edge), math.Min(1, 1-margin)-edge)
	return a0, a0 + margin
}
