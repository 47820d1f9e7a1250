package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// dispersion is variance over mean of the number of arrivals in stretches of
// 100 ms: 1 for a Poisson process. Of a Poisson process, 98 of 100 runs are within
// the limits (chi-squared with a degree of freedom less than there are stretches).
func dispersion(times []float64) (d, low, high float64) {
	const stretch = 100 // ms
	if len(times) == 0 {
		return 0, 0, 0
	}
	n := int((times[len(times)-1] - times[0]) / stretch)
	if n < 2 {
		return 0, 0, 0
	}
	counts := make([]float64, n)
	for _, s := range times {
		if i := int((s - times[0]) / stretch); i < len(counts) {
			counts[i]++
		}
	}
	mean, squares := 0.0, 0.0
	for _, n := range counts {
		mean += n / float64(len(counts))
	}
	for _, n := range counts {
		squares += (n - mean) * (n - mean)
	}
	free := float64(n - 1)
	chi := distuv.ChiSquared{K: free}
	return squares / free / mean, chi.Quantile(0.01) / free, chi.Quantile(0.99) / free
}

// exponential is the distance of Kolmogorov and Smirnov between the gaps and the
// exponential distribution of their mean, and the distance that chance passes
// once in a hundred times when the mean is estimated (Lilliefors; Stephens 1974).
func exponential(starts []float64) (distance, limit float64) {
	gaps := make([]float64, 0, len(starts))
	mean := 0.0
	for i := 1; i < len(starts); i++ {
		gaps = append(gaps, starts[i]-starts[i-1])
	}
	slices.Sort(gaps)
	n := float64(len(gaps))
	for _, g := range gaps {
		mean += g / n
	}
	for i, g := range gaps {
		f := 1 - math.Exp(-g/mean)
		distance = max(distance, float64(i+1)/n-f, f-float64(i)/n)
	}
	root := math.Sqrt(n)
	return distance, 1.308/(root+0.26+0.5/root) + 0.2/n
}
