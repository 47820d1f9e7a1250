package stat

import (
	"math"
)

// Sketch is a mergeable log-linear histogram for live views and for the wire
// between workers: 64 buckets an octave, so a quantile is within 0.8 % of the
// exact one, whatever the range. Memory follows the span of the values: 12 KB
// from 10 µs to 100 s. The zero value is empty; not safe for concurrent use.
//
// It takes values ≥ 0 and +Inf (a failed request); NaN and negative values are
// left out, as they were never measured.
type Sketch struct {
	first  int // bucket of counts[0]
	counts []uint64
	zeros  uint64
	infs   uint64
	n      uint64
	sum    float64 // of the finite values
	lo, hi float64 // extremes of the finite values
}

const (
	subBits    = 6
	bucketTop  = 0x7ff << subBits // first bucket that would be +Inf
	mantissa   = 52
	errSketch  = "stat: damaged sketch"
	sketchMark = 1 // version of the binary form
)

func bucketOf(v float64) int { return int(math.Float64bits(v) >> (mantissa - subBits)) }

// bucketMid is the value that stands for a bucket: the middle between its edges.
func bucketMid(i int) float64 {
	lo := math.Float64frombits(uint64(i) << (mantissa - subBits))
	hi := math.Float64frombits(uint64(i+1)<<(mantissa-subBits) - 1)
	return lo + (hi-lo)/2
}

// Add counts a value once.
func (s *Sketch) Add(v float64) { s.AddN(v, 1) }

// AddN counts a value as often as times says.
func (s *Sketch) AddN(v float64, times uint64) {
	switch {
	case times == 0 || !(v >= 0):
		return
	case math.IsInf(v, 1):
		s.infs += times
		s.n += times
		return
	}
	if s.finite() == 0 {
		s.lo, s.hi = v, v
	}
	s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
	s.sum += v * float64(times)
	s.n += times
	if v == 0 {
		s.zeros += times
		return
	}
	*s.at(bucketOf(v)) += times
}

func (s *Sketch) finite() uint64 { return s.n - s.infs }

// at returns the counter of bucket i, growing the span to reach it.
func (s *Sketch) at(i int) *uint64 {
	switch {
	case len(s.counts) == 0:
		s.first = i
		s.counts = append(s.counts, 0)
	case i < s.first:
		grown := make([]uint64, s.first-i+len(s.counts), s.first-i+len(s.counts)+64)
		copy(grown[s.first-i:], s.counts)
		s.first, s.counts = i, grown
	case i >= s.first+len(s.counts):
		s.counts = append(s.counts, make([]uint64, i-s.first-len(s.counts)+1)...)
	}
	return &s.counts[i-s.first]
}

// Merge adds all values of o, which stays as it is.
func (s *Sketch) Merge(o *Sketch) {
	if o.finite() > 0 {
		if s.finite() == 0 {
			s.lo, s.hi = o.lo, o.hi
		}
		s.lo, s.hi = math.Min(s.lo, o.lo), math.Max(s.hi, o.hi)
	}
	if len(o.counts) > 0 {
		s.at(o.first + len(o.counts) - 1)
		s.at(o.first)
		for i, c := range o.counts {
			s.counts[o.first-s.first+i] += c
		}
	}
	s.zeros += o.zeros
	s.infs += o.infs
	s.n += o.n
	s.sum += o.sum
}

// DropInf leaves failed requests out.
func (s *Sketch) DropInf() { s.n, s.infs = s.finite(), 0 }

// Len returns the number of values.
func (s *Sketch) Len() int64 { return int64(s.n) }

// At returns the i-th smallest value, from 0, to within 0.8 %.
func (s *Sketch) At(i int64) float64 {
	rank := uint64(max(i, 0))
	if rank < s.zeros {
		return 0
	}
	if rank >= s.finite() {
		return math.Inf(1)
	}
	upto := s.zeros
	for j, c := range s.counts {
		if upto += c; upto > rank {
			return min(max(bucketMid(s.first+j), s.lo), s.hi)
		}
	}
	return s.hi
}

// Quantile returns the p-quantile (type 7) to within 0.8 %.
func (s *Sketch) Quantile(p float64) (float64, bool) { return Quantile(s, p) }

// Buckets yields the buckets that hold something, ascending: values in
// [lower, upper). Zeros come as [0, 0], failures as [+Inf, +Inf].
func (s *Sketch) Buckets() func(yield func(lower, upper float64, count uint64) bool) {
	return func(yield func(lower, upper float64, count uint64) bool) {
		if s.zeros > 0 && !yield(0, 0, s.zeros) {
			return
		}
		for j, c := range s.counts {
			i := uint64(s.first + j)
			lower := math.Float64frombits(i << (mantissa - subBits))
			upper := math.Float64frombits((i + 1) << (mantissa - subBits))
			if c > 0 && !yield(lower, upper, c) {
				return
			}
		}
		if s.infs > 0 {
			yield(math.Inf(1), math.Inf(1), s.infs)
		}
	}
}
