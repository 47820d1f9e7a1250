package main

import (
	"math"
	"slices"
)

// dispersion is variance over mean of the number of starts in stretches of
// 100 ms: 1 for a Poisson process.
func dispersion(starts []float64) float64 {
	const stretch = 100 // ms
	if len(starts) == 0 {
		return 0
	}
	counts := make([]float64, int((starts[len(starts)-1]-starts[0])/stretch))
	for _, s := range starts {
		if i := int((s - starts[0]) / stretch); i < len(counts) {
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
	return squares / float64(len(counts)-1) / mean
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
