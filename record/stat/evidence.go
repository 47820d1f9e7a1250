package stat

import "math"

// ShareEvidence weighs, at any time and as often as one likes, whether a share
// is above or below a target, after k of n. Both are logarithms of e-values:
// under "the share is target or less" the expectation of exp(above) never
// exceeds 1, so P(above ever reaches ln(1/alpha)) ≤ alpha, whatever the rule to
// stop; below is the same from the other side. 0 is no evidence.
//
// The alternative is a beta distribution about the target, cut off at it, whose
// width is that of a tail half or one and a half times as heavy. Counts need not be
// whole: values that tell of each other are worth fewer (EffectiveSize), which
// makes the bound an approximate one.
func ShareEvidence(k, n, target float64) (above, below float64) {
	if !(n > 0) || !(k >= 0) || k > n || !(target > 0 && target < 1) {
		return 0, 0
	}
	concentration := 4 * math.Max(target/(1-target), (1-target)/target)
	a, b := target*concentration, (1-target)*concentration
	bad := n - k
	// Both sides share the ratio of the whole mixture to the target.
	whole := lnBeta(a+k, b+bad) - lnBeta(a, b) - k*math.Log(target) - bad*math.Log1p(-target)
	side := func(x, y, p float64, kx, ky float64) float64 {
		// Mass of the mixture beyond the target, after and before the data.
		after, before := BetaInc(x+kx, y+ky, p), BetaInc(x, y, p)
		// Near the smallest number there is, after is no longer what it should be, and whole
		// grows on: the evidence would turn round.
		if !(after > 1e-300) || !(before > 0) {
			return math.Inf(-1)
		}
		return whole + math.Log(after) - math.Log(before)
	}
	above = side(b, a, 1-target, bad, k)
	below = side(a, b, target, k, bad)
	return above, below
}

func lnBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}
