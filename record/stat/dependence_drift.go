package stat

import "math"

// Drift compares the two halves of a series by a yardstick of each half's own,
// so that a drift does not lengthen the yardstick it is held against.
type Drift struct {
	// Tested is false where the series holds too few moments to tell drift
	// from wandering; T and Alarm then mean nothing.
	Tested bool
	Alarm  bool    // the halves differ beyond the level
	T      float64 // second half less first, in standard errors
	// Moments is how many independent moments the series holds, by the halves.
	Moments float64
	// NeedFactor is how many times as long a run could be tested.
	NeedFactor float64
}

// driftMoments is how many moments the two halves need: twice an interval's.
const driftMoments = 2 * fewestMoments

// driftCosines are the waves taken in each half.
const driftCosines = 8

// Drift tests at the level given (0.95) whether ranks are higher in one half of
// the series than in the other.
func (s *Series) Drift(level float64) Drift {
	n := len(s.Values)
	sorted := s.order()
	if n < shortSeries || sorted[0] == sorted[n-1] {
		return Drift{NeedFactor: math.Max(1, driftMoments/math.Max(1, float64(n)))}
	}
	ranks := MidRanks(s.Values, sorted)
	first, second := CosineVariance(ranks[:n/2], driftCosines), CosineVariance(ranks[n/2:], driftCosines)
	spread := (first.L + second.L) / 2
	whole := LongRunVariance(ranks)
	low := CosineVariance(ranks, lowCosines)
	design := math.Max(1, math.Max(spread, low.L/2)/whole.Variance)
	if len(s.InFlight) == n {
		if effect, follows := followed(ranks, s.InFlight); follows {
			design = math.Max(design, effect/2)
		}
	}
	d := Drift{Moments: float64(n) / design, NeedFactor: 1}
	if d.Tested = d.Moments >= driftMoments; !d.Tested {
		d.NeedFactor = driftMoments / d.Moments
		return d
	}
	if !(spread > 0) {
		spread = whole.Variance
	}
	se := math.Sqrt(4 * spread / float64(n))
	if design > 2 {
		se *= math.Sqrt(1 + (1-1/design)*widening/d.Moments)
	}
	d.T = (second.Mean - first.Mean) / se
	d.Alarm = math.Abs(d.T) > StudentQuantile((1+level)/2, 2*driftCosines)
	return d
}
