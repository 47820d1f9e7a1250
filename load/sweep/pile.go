package sweep

import (
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// pile is what the requests in flight say of whether a server keeps up with its load.
type pile struct {
	low, spread float64 // how much their least grew, and its standard error
	rise, se    float64 // what the second half has above the first, and its standard error
	half        float64 // requests in a half
}

const pileCosines = 8 // in each half, as in package stat's test of drift

// pileOf looks at the requests in flight from a place on. The least of the second half is held
// against that of the second quarter, so that a stall that is over is no growth: its error
// is that of a random walk (arrivals and ends both Poisson, and as many), which no queue
// exceeds. The means of the halves say how much growth there may be: with
// error bars from each half by itself, so that growth does not lengthen the yardstick.
func pileOf(flight []float64, skip int) pile {
	n := len(flight)
	if n < 4*fewest {
		return pile{spread: math.Inf(1), se: math.Inf(1)}
	}
	p := pile{low: slices.Min(flight[n/2:]) - slices.Min(flight[n/4:n/2]), spread: math.Sqrt(2 * float64(n) / 4)}
	from := flight[skip:]
	half := len(from) / 2
	a, b := stat.CosineVariance(from[:half], pileCosines), stat.CosineVariance(from[half:], pileCosines)
	p.rise, p.half = b.Mean-a.Mean, float64(half)
	p.se = math.Sqrt((a.L + b.L) / p.half)
	return p
}

// and is both probes of a load taken together.
func (p pile) and(o pile) pile {
	return pile{low: p.low + o.low, spread: math.Hypot(p.spread, o.spread), rise: p.rise + o.rise, se: math.Hypot(p.se, o.se), half: p.half + o.half}
}

// grows reports whether the requests in flight grow, with this chance of being wrong.
func (p pile) grows(wrong float64) bool { return p.low > stat.NormalQuantile(1-wrong)*p.spread }

// most is the largest share of requests that may pile up: where a share e of them does, the
// second half has e times its requests more in flight.
func (p pile) most(wrong float64) float64 {
	return (p.rise + stat.StudentQuantile(1-wrong, 2*pileCosines)*p.se) / p.half
}

// feels reports whether an objective on waiting shows within a probe of some seconds that a
// server can't keep up with this share of its load: requests then wait longer by that share of
// the time, and half of the probe is left for them to miss the limit in.
func (t *test) feels(share, timeS float64) bool {
	for i := range t.all {
		o := &t.all[i]
		if (o == t.o || t.o.Metric == "goodput") && slices.Contains(fromDue, o.Metric) && o.Metric != "goodput" && o.Limit/1e3/share <= timeS/2 {
			return true
		}
	}
	return false
}

// inFlight counts the others that were in flight when each request was due.
func (t *trial) inFlight() []float64 {
	ends := slices.Sorted(slices.Values(t.end))
	flight, done := make([]float64, len(t.due)), 0
	for i, due := range t.due {
		for done < len(ends) && ends[done] <= due {
			done++
		}
		flight[i] = math.Max(0, float64(i-done))
	}
	return flight
}
