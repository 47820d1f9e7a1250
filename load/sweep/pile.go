package sweep

import (
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// pile is what the requests in flight say of whether a server keeps up with its load.
type pile struct {
	low, spread float64 // how much their least grew, and what a random walk makes of a quarter of the time
	rise, se    float64 // what the second half has above the first, and its standard error
	half        float64 // requests in a half
	filling     bool    // the server ends more and more requests still, so growth is no queue yet
}

const pileCosines = 8 // in each half, as in package stat's test of drift

// pileOf looks at the requests in flight from a place on. The least of the second half is held
// against that of the second quarter, so that a stall that is over is no growth: it is judged
// as that of a random walk (arrivals and ends both Poisson, and as many), which no queue
// that keeps up exceeds. The means of the halves say how much growth there may be: with
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
	return pile{low: p.low + o.low, spread: math.Hypot(p.spread, o.spread), rise: p.rise + o.rise, se: math.Hypot(p.se, o.se), half: p.half + o.half, filling: p.filling || o.filling}
}

// grows reports whether the requests in flight grow, with this chance of being wrong.
func (p pile) grows(wrong float64) bool {
	return p.low > 0 && !math.IsInf(p.spread, 1) && walks(p.low/p.spread) < wrong
}

// walks is the chance that the least of a random walk's second half lies that far above the
// least of its second quarter, in units of what it walks in a quarter: P(|X| − √2·|Y| > z)
// with X and Y normal. For seen from the middle, the walk back through the quarter and the
// walk on through the half are independent, and how far each gets at most is distributed as
// how far it is at its end (reflection principle).
func walks(z float64) float64 {
	const step, far = 0.05, 9 // Simpson's rule, in standard deviations of Y
	at := func(y float64) float64 {
		return 2 * math.Exp(-y*y/2) / math.Sqrt(2*math.Pi) * math.Erfc((z+math.Sqrt2*y)/math.Sqrt2)
	}
	sum := at(0) + at(far)
	for i := 1; i < far/step; i++ {
		sum += float64(2+2*(i%2)) * at(float64(i)*step)
	}
	return sum * step / 3
}

// pace holds the requests that the server ended in the second half against those of the quarters
// before, but for chance (5 %). While it ends more and more of them it is still filling up, as it
// does for as long as requests last: what comes in and does not go out yet is no queue. Where it
// ends fewer, a stall or a slow spell may have begun on the way.
func (t *trial) pace() (filling, slower bool) {
	now := t.due[len(t.due)-1]
	var ends [4]float64 // in each quarter
	for _, end := range t.end {
		if end < now {
			ends[int(4*end/now)]++
		}
	}
	late := (ends[2] + ends[3]) / 2
	chance := func(quarter float64) float64 { // the variance of a count is itself, of half of two it is half
		return stat.NormalQuantile(0.95) * math.Sqrt(math.Max(quarter, late)*1.5)
	}
	best := math.Max(ends[0], ends[1])
	return late > ends[1]+chance(ends[1]), late < best-chance(best) || late == 0
}

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
