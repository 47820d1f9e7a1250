package stat

import "math"

// NewcombeDifference returns the interval of the difference of two shares,
// kb/nb − ka/na, from the score intervals of both (Newcombe's hybrid method).
// It holds with no success at all on a side. Counts need not be whole: an
// effective sample size is shorter than the sample when its members are alike.
func NewcombeDifference(ka, na, kb, nb, conf float64) (lo, hi float64, ok bool) {
	la, ha, okA := wilson(ka, na, conf)
	lb, hb, okB := wilson(kb, nb, conf)
	if !okA || !okB {
		return 0, 0, false
	}
	a, b := ka/na, kb/nb
	return b - a - math.Hypot(b-lb, ha-a), b - a + math.Hypot(hb-b, a-la), true
}

// wilson is the score interval of a share: k of n.
func wilson(k, n, conf float64) (lo, hi float64, ok bool) {
	if !(n > 0) || !(k >= 0) || k > n || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	z, p := NormalQuantile((1+conf)/2), k/n
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	lo, hi = math.Max(0, centre-half), math.Min(1, centre+half)
	if k == 0 {
		lo = 0
	}
	if k == n {
		hi = 1
	}
	return lo, hi, true
}

// HolmWeighted is Holm's method when some tests matter more: the chance of any
// false alarm stays at the level, and a test of weight 3 gets three times the
// share of it that a test of weight 1 gets. Equal weights give Holm.
func HolmWeighted(p, weight []float64) []float64 {
	left := 0.0
	for _, w := range weight {
		left += w
	}
	adjusted, worst := make([]float64, len(p)), 0.0
	open := make([]bool, len(p))
	for i := range open {
		open[i] = true
	}
	for range p {
		next := -1
		for i := range p {
			if open[i] && (next < 0 || p[i]/weight[i] < p[next]/weight[next]) {
				next = i
			}
		}
		if weight[next] > 0 {
			worst = math.Max(worst, math.Min(1, p[next]/weight[next]*left))
		} else {
			worst = 1
		}
		adjusted[next] = worst
		left -= weight[next]
		open[next] = false
	}
	return adjusted
}
