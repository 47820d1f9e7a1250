package lens

import (
	"math"
	"sort"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// sample is what aggregates are computed from.
type sample interface {
	stat.Ordered
	Moments() (stat.Moments, bool)
}

func mean(s sample) opt {
	m, ok := s.Moments()
	return timeline.Maybe(m.Mean, ok)
}

// deviation is the standard deviation with n, as numpy's default.
func deviation(s sample) opt {
	m, ok := s.Moments()
	return timeline.Maybe(m.SD*math.Sqrt(float64(m.N-1)/float64(m.N)), ok)
}

// sampleDeviation is the standard deviation with n − 1.
func sampleDeviation(s sample) opt {
	m, ok := s.Moments()
	return timeline.Maybe(m.SD, ok && m.N > 1)
}

// linear is numpy's default percentile.
func linear(s sample, p float64) opt {
	v, ok := stat.Quantile(s, p)
	return timeline.Maybe(v, ok)
}

// ratio is a / b, null where b is no time that passed.
func ratio(a, b float64) opt {
	return timeline.Maybe(a/b, b > 0)
}

func whole(n int64) opt { return timeline.Some(float64(n)) }

// weighted is a sample whose values count by weight, as GuideLLM's.
type weighted struct{ values []weightedValue }

type weightedValue struct{ value, weight float64 }

func (w *weighted) add(value, weight float64) {
	w.values = append(w.values, weightedValue{value, weight})
}

func (w *weighted) total() (weight, sum float64) {
	for _, v := range w.values {
		weight += v.weight
		sum += v.weight * v.value
	}
	return weight, sum
}

func (w *weighted) mean() opt {
	weight, sum := w.total()
	return ratio(sum, weight)
}

// quantile is the smallest value at which the weights reach share p, as GuideLLM
// reckons it: equal values are one, and the shares are summed in floating point from
// the smallest on. A sum that ends up just below p takes the next value.
func (w *weighted) quantile(p float64) opt {
	weight, _ := w.total()
	if weight <= 0 {
		return opt{}
	}
	sort.Slice(w.values, func(i, j int) bool { return w.values[i].value < w.values[j].value })
	sum, same := 0.0, 0.0
	for i, v := range w.values {
		same += v.weight
		if i+1 < len(w.values) && w.values[i+1].value == v.value {
			continue
		}
		if sum += same / weight; same > 0 && sum >= p {
			return timeline.Some(v.value)
		}
		same = 0
	}
	return timeline.Some(w.values[len(w.values)-1].value)
}

// floorIndex is the value at floor(p (n − 1)) of the sorted sample.
func floorIndex(s sample, p float64) opt {
	if s.Len() == 0 {
		return opt{}
	}
	return timeline.Some(s.At(int64(p * float64(s.Len()-1))))
}
