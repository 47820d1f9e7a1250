package stat

import (
	"math"
	"slices"
)

// Sample collects values one by one and answers in order. The zero value is
// empty. Not safe for concurrent use.
type Sample struct {
	values []float64
	dirty  bool
}

// Add takes a value; NaN is no value and is left out.
func (s *Sample) Add(v float64) {
	if v != v {
		return
	}
	s.values = append(s.values, v)
	s.dirty = true
}

// Merge takes all values of o, which stays as it is.
func (s *Sample) Merge(o *Sample) {
	s.values = append(slices.Grow(s.values, len(o.values)), o.values...)
	s.dirty = s.dirty || len(o.values) > 0
}

// Len returns the number of values.
func (s *Sample) Len() int64 { return int64(len(s.values)) }

// At returns the i-th smallest value, from 0.
func (s *Sample) At(i int64) float64 { return s.Sorted()[i] }

// Sorted returns the values in ascending order. The slice belongs to the
// sample and is good until the next Add.
func (s *Sample) Sorted() Sorted {
	if s.dirty {
		sortFloats(s.values)
		s.dirty = false
	}
	return s.values
}

// Moments are a sample's mean and standard deviation (n − 1).
type Moments struct {
	N    int64
	Mean float64
	SD   float64 // 0 when N < 2
}

// Moments returns mean and standard deviation; ok is false for an empty sample.
func (s *Sample) Moments() (m Moments, ok bool) {
	return s.Sorted().Moments()
}

// Moments returns mean and standard deviation; ok is false for an empty sample.
func (s Sorted) Moments() (m Moments, ok bool) {
	return moments(s.Len(), func(yield func(v float64, count int64)) {
		for _, v := range s {
			yield(v, 1)
		}
	})
}

// moments sums in the order given, which callers keep ascending, so that the
// result does not depend on the order of arrival. Two passes: squares of
// differences from the mean lose no digits.
func moments(n int64, each func(func(v float64, count int64))) (m Moments, ok bool) {
	if n == 0 {
		return Moments{}, false
	}
	var total sum
	each(func(v float64, count int64) { total.add(v * float64(count)) })
	m = Moments{N: n, Mean: total.value() / float64(n)}
	if n < 2 || math.IsInf(m.Mean, 0) {
		return m, true
	}
	var squares sum
	each(func(v float64, count int64) {
		d := v - m.Mean
		squares.add(d * d * float64(count))
	})
	m.SD = math.Sqrt(squares.value() / float64(n-1))
	return m, true
}

// sum adds with Neumaier's compensation.
type sum struct{ total, lost float64 }

func (s *sum) add(v float64) {
	t := s.total + v
	if math.Abs(s.total) >= math.Abs(v) {
		s.lost += (s.total - t) + v
	} else {
		s.lost += (v - t) + s.total
	}
	s.total = t
}

func (s *sum) value() float64 {
	if math.IsInf(s.total, 0) || math.IsNaN(s.lost) {
		return s.total
	}
	return s.total + s.lost
}
