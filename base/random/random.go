// Package random makes random numbers that are the same on every platform for
// the same seed: schedules and workloads are pure functions of them. It avoids
// what differs between processors: fused multiply-add and the assembly versions
// of math.Log and math.Exp.
package random

import (
	"math"
	"math/rand/v2"
)

// Source is one stream of random numbers. Not safe for concurrent use.
type Source struct {
	pcg rand.PCG
}

// New returns the stream that belongs to seed and keys. Streams whose keys
// differ are independent, so item i of a workload has its own: New(seed, i).
func New(seed uint64, keys ...uint64) Source {
	hi, lo := Mix(seed), Mix(seed^0x9e3779b97f4a7c15)
	for _, k := range keys {
		hi = Mix(hi ^ Mix(k+0xd1b54a32d192ed03))
		lo = Mix(lo + hi)
	}
	var s Source
	s.pcg.Seed(hi, lo)
	return s
}

// Mix is the finaliser of SplitMix64, a bijection that spreads every bit.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns 64 random bits.
func (s *Source) Uint64() uint64 { return s.pcg.Uint64() }

// Float64 returns a number in [0, 1), a multiple of 2⁻⁵³.
func (s *Source) Float64() float64 { return float64(s.pcg.Uint64()>>11) * 0x1p-53 }

// Between returns an integer in [lo, hi], all equally likely. hi < lo is lo.
func (s *Source) Between(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	n := uint64(hi-lo) + 1
	if n == 0 {
		return int64(s.pcg.Uint64())
	}
	for limit := math.MaxUint64 - math.MaxUint64%n; ; {
		if u := s.pcg.Uint64(); u < limit {
			return lo + int64(u%n)
		}
	}
}

// Exp returns an exponential number of mean 1, by the inverse of its
// distribution function: −ln(1 − u).
func (s *Source) Exp() float64 { return -Ln(1 - s.Float64()) }

// Normal returns a standard normal number (Marsaglia's polar method).
func (s *Source) Normal() float64 {
	for {
		a := float64(2*s.Float64()) - 1
		b := float64(2*s.Float64()) - 1
		r := float64(a*a) + float64(b*b)
		if r > 0 && r < 1 {
			return a * math.Sqrt(float64(-2*Ln(r))/r)
		}
	}
}

// Gamma returns a gamma number of the given shape and mean 1 (Marsaglia and
// Tsang, 2000). Shape 1 is exponential; below 1 is burstier, above 1 smoother.
func (s *Source) Gamma(shape float64) float64 {
	if shape < 1 {
		// Gamma(k) = Gamma(k+1) · u^(1/k); undo the means of both.
		u := 1 - s.Float64()
		return float64(s.Gamma(shape+1)*(shape+1)) / shape * Exp(Ln(u)/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		x := s.Normal()
		t := 1 + float64(c*x)
		if t <= 0 {
			continue
		}
		v := float64(t*t) * t
		accept := float64(0.5*float64(x*x)) + float64(d*(float64(1-v)+Ln(v)))
		if Ln(1-s.Float64()) < accept {
			return float64(d*v) / shape
		}
	}
}
