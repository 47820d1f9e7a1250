package stat

import (
	"math"
	"slices"
)

// ExceedanceBound bounds from above, with confidence 1−alpha, the share of values
// beyond a limit that lies beyond most or all of those seen. The upper quarter of
// the values is continued as an exponential tail, which waiting times in queues have
// and sums of many small things stay below; what is not certain of its weight and its
// slope counts against it. effective is how many independent values tell as
// much as these (EffectiveSize). What strikes too rarely to be among the values
// is not in the bound. ok is false with fewer than 16 independent values.
//
// The slope's interval is that of a mean of exponential variables, with Wilson and
// Hilferty's chi-squared quantile.
func ExceedanceBound(x []float64, effective, limit, alpha float64) (share float64, ok bool) {
	const fewest = 8 // independent values in the tail
	if effective = math.Min(effective, float64(len(x))); !(effective >= 2*fewest) || !(alpha > 0 && alpha < 1) {
		return 1, false
	}
	part := math.Max(0.25, fewest/effective)
	sorted := slices.Sorted(slices.Values(x))
	tail := sorted[int(float64(len(sorted))*(1-part)):]
	from, excess := tail[0], 0.0
	for _, v := range tail {
		excess += (v - from) / float64(len(tail))
	}
	if !(from < limit) {
		return 1, true
	}
	_, weight, ok := wilson(part*effective, effective, 1-alpha)
	least := chiSquaredQuantile(alpha/2, 2*part*effective)
	if !ok || !(least > 0) || math.IsInf(excess, 0) {
		return 1, ok
	}
	if excess == 0 {
		return 0, true
	}
	slope := excess * 2 * part * effective / least
	return weight * math.Exp(-(limit-from)/slope), true
}

// chiSquaredQuantile is good to a few per cent from 16 degrees of freedom on.
func chiSquaredQuantile(p, df float64) float64 {
	a := 2 / (9 * df)
	return df * math.Pow(math.Max(0, 1-a+NormalQuantile(p)*math.Sqrt(a)), 3)
}
