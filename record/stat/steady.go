package stat

import "math"

// SteadyFrom says from which value on a series has left its beginning behind:
// the truncation that makes the mean of the rest most certain (MSER; White,
// 1997), looked for in batches of the given length (5 is usual). A truncation in
// the second half means that the series is not steady, or too short to tell: ok
// is false then.
//
// It is meant for series that begin far from where they end up. Of rare bursts
// it knows nothing: one at the start looks like a beginning.
func SteadyFrom(x []float64, batch int) (from int, ok bool) {
	batch = max(batch, 1)
	n := len(x) / batch
	if n < 4 {
		return 0, false
	}
	means := make([]float64, n)
	for b := range means {
		for _, v := range x[b*batch : (b+1)*batch] {
			means[b] += v
		}
		means[b] /= float64(batch)
		if math.IsNaN(means[b]) || math.IsInf(means[b], 0) {
			return 0, false
		}
	}
	best, at := math.Inf(1), 0
	// From the back, mean and squares of what is kept grow by one batch at a
	// time (Welford). A handful of batches is precise by luck.
	count, mean, squares := 0.0, 0.0, 0.0
	for d := n - 1; d >= 0; d-- {
		count++
		delta := means[d] - mean
		mean += delta / count
		squares += delta * (means[d] - mean)
		if count < 5 && n > 5 {
			continue
		}
		if score := squares / (count * count); score <= best {
			best, at = score, d
		}
	}
	return at * batch, at <= n/2
}
