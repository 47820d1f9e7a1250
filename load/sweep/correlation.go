package sweep

import (
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// correlation is how many requests tell as much as one independent one. Verdicts
// that are nearly all the same look independent, whatever lies behind them, and a
// short probe that was lucky looks so most of all. So the time is never below
// that of the verdicts there would be if the limit lay where the target's share
// of these requests keeps it, nor below what the latencies behind them and other
// probes at no more than this load tell.
func (t *test) correlation(v, near []float64) float64 {
	if t.target == 0 {
		return max(t.floor, correlationTime(v))
	}
	sorted := slices.Sorted(slices.Values(near))
	limit := sorted[min(int(float64(len(sorted))*t.target), len(sorted)-1)]
	cut := make([]float64, len(near))
	for i, x := range near {
		if x < limit {
			cut[i] = 1
		}
	}
	return max(t.floor, correlationTime(v), correlationTime(cut), tailToBody*correlationTime(near))
}

// tailToBody is how the correlation of exceeding a high limit compares with
// that of the latency itself: extremes are forgotten sooner.
const tailToBody = 0.7

// most is how many values the autocorrelation is computed from; longer series
// are summed up in pieces first, which leaves their slow part as it is.
const most = 4096

// correlationTime is stat.AutocorrelationTime, at least 1.
func correlationTime(x []float64) float64 {
	piece := (len(x) + most - 1) / most
	if piece <= 1 {
		return math.Max(1, stat.AutocorrelationTime(x))
	}
	n := len(x) / piece
	sums := make([]float64, n)
	for i := range sums {
		for _, v := range x[i*piece : (i+1)*piece] {
			sums[i] += v
		}
	}
	whole, pieces := variance(x), variance(sums)
	if !(whole > 0) || !(pieces > 0) {
		return 1
	}
	return math.Max(1, stat.AutocorrelationTime(sums)*pieces/whole/float64(piece))
}

func variance(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return squares / float64(len(x))
}
