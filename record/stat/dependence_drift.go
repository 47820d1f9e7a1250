package stat

import "math"

// Drift says whether one half of a series lies above the other by more than the
// series wanders by itself.
type Drift struct {
	// Tested is false where the series holds too few independent moments to tell
	// drift from wandering, and does not rise or fall so steadily that no
	// wandering would.
	Tested bool
	Alarm  bool
	// Moments is how many independent moments the series holds, by the halves.
	Moments float64
	// NeedFactor is how many times as long a run could be tested.
	NeedFactor float64
}

const (
	// driftMoments is how many moments two halves need: each as many as an interval.
	driftMoments = 2 * fewestMoments
	driftCosines = 8 // in each half
)

// Drift tests, at a level as 0.95, whether the ranks of one half lie above those of
// the other. The yardstick comes from each half by itself, so that a drift does not
// lengthen the yardstick it is held against.
func (s *Series) Drift(level float64) Drift {
	n := len(s.Values)
	sorted := s.order()
	if n < shortSeries {
		return Drift{Moments: float64(n), NeedFactor: shortSeries / math.Max(1, float64(n))}
	}
	if sorted[0] == sorted[n-1] {
		return Drift{Tested: true, Moments: float64(n), NeedFactor: 1}
	}
	ranks := MidRanks(s.Values, sorted)
	a, b := CosineVariance(ranks[:n/2], driftCosines), CosineVariance(ranks[n/2:], driftCosines)
	design := halvesEffect(a, b)
	if len(s.InFlight) == n {
		if logs, follows := followed(ranks, s.InFlight); follows {
			design = math.Max(design, halvesEffect(CosineVariance(logs[:n/2], driftCosines), CosineVariance(logs[n/2:], driftCosines)))
		}
	}
	d := Drift{Moments: float64(n) / design, NeedFactor: 1}
	if d.Moments < driftMoments {
		d.Alarm = steeperThanWandering(ranks, level)
		if d.Tested = d.Alarm; !d.Tested {
			d.NeedFactor = driftMoments / d.Moments
		}
		return d
	}
	d.Tested = true
	spread := (a.L + b.L) / 2
	if !(spread > 0) { // neither half varies
		d.Alarm = a.Mean != b.Mean
		return d
	}
	se := math.Sqrt(4 * spread / float64(n))
	if design > 2 {
		se *= math.Sqrt(1 + (1-1/design)*widening/d.Moments)
	}
	d.Alarm = math.Abs(b.Mean-a.Mean)/se > StudentQuantile((1+level)/2, 2*driftCosines)
	return d
}

// halvesEffect is the design effect within two halves, each about its own mean.
func halvesEffect(a, b LRV) float64 {
	if !(a.Variance+b.Variance > 0) {
		return 1
	}
	return math.Max(1, (a.L+b.L)/(a.Variance+b.Variance))
}

// steeperThanWandering says whether a series goes one way so steadily that even a
// random walk would not. The waves c_j of a random walk about its mean are
// independent with variances in proportion to 1/j² (Karhunen and Loève), and what
// returns to a mean is less steep than that; a steady rise has 1/j⁴. So the first
// wave is held against the mean of the 15 next, whose distribution is taken as
// chi-squared with the moments of theirs (Satterthwaite).
func steeperThanWandering(ranks []float64, level float64) bool {
	own := momentsOf(len(ranks), func(i int) float64 { return ranks[i] })
	waves := cosinesOf(own, func(i int) float64 { return ranks[i] }, lowCosines)
	var once, twice float64
	for j := 2; j <= lowCosines; j++ {
		w := 1 / float64(j*j)
		once += w
		twice += w * w
	}
	t := StudentQuantile((1+level)/2, once*once/twice)
	return waves[0]*waves[0] > t*t*meanSquare(waves[1:])/once*float64(lowCosines-1)
}
