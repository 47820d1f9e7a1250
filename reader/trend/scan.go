package trend

import (
	"math"
	"sort"

	"tokenmeter/record/stat"
)

// cut is a place at which a series changed.
type cut struct {
	at   int     // first block after it
	seen int     // so many blocks had come when it was known
	z    float64 // how rare such a difference is, as a normal value
}

// most is how far back the level before a change is taken from: four weeks.
const mostDays = 28

// clipAt bounds what one block counts for, in standard deviations of a block: a
// burst of an hour or two is no change of level, and noise of any tail is then
// near enough to normal.
const clipAt = 3

// scan goes through levels block by block, as they come in, and cuts where the
// likelihood ratio passes the limit; then it begins anew at the change.
func (s *series) scan(x []float64, n noise, limit float64) (cuts []cut) {
	sd := math.Max(blockDeviation(x), s.finest())
	start, center := 0, running{}
	sum, count := make([]float64, len(x)+1), make([]float64, len(x)+1)
	for end := 1; end <= len(x); end++ {
		v := x[end-1]
		if math.IsNaN(v) {
			continue
		}
		center.add(v)
		a := max(start, end-s.days(mostDays))
		mid := center.median()
		for i := a; i < end; i++ {
			sum[i-a+1], count[i-a+1] = sum[i-a], count[i-a]
			if !math.IsNaN(x[i]) {
				sum[i-a+1] += math.Max(math.Min(x[i], mid+clipAt*sd), mid-clipAt*sd)
				count[i-a+1]++
			}
		}
		least := 1
		if start == 0 {
			least = s.days(leastDays - 1) // of the first level
		}
		best, all := cut{}, end-a
		for k := least; k < all; k++ {
			before, after := count[k], count[all]-count[k]
			if before == 0 || after == 0 {
				continue
			}
			diff := (sum[all]-sum[k])/after - sum[k]/before
			if t := math.Abs(diff) / math.Sqrt(n.variance*(1/before+1/after)); t > best.z {
				best = cut{at: a + k, seen: end, z: t}
			}
		}
		if best.z = asNormal(best.z, n.df); best.at > 0 && best.z >= limit {
			cuts = append(cuts, best)
			start, center = best.at, running{}
			for i := start; i < end; i++ {
				if !math.IsNaN(x[i]) {
					center.add(x[i])
				}
			}
		}
	}
	return cuts
}

// blockDeviation is the standard deviation of one block, from differences of
// neighbours, by their median.
func blockDeviation(x []float64) float64 {
	var d []float64
	for i := 1; i < len(x); i++ {
		if v := math.Abs(x[i] - x[i-1]); !math.IsNaN(v) {
			d = append(d, v)
		}
	}
	m := stat.Median(d)
	if math.IsNaN(m) {
		return 0
	}
	return m / (math.Sqrt2 * 0.6744898)
}

// running keeps values in order.
type running struct{ sorted []float64 }

func (r *running) add(v float64) {
	i := sort.SearchFloat64s(r.sorted, v)
	r.sorted = append(r.sorted, 0)
	copy(r.sorted[i+1:], r.sorted[i:])
	r.sorted[i] = v
}

func (r *running) median() float64 { return r.sorted[len(r.sorted)/2] }

// scanRate goes through counts in the same way. That so many of all hits fall
// after a moment is binomial where nothing changed, however few they are.
func (s *series) scanRate(limit float64) (cuts []cut) {
	start := 0
	hits, n := make([]int64, len(s.n)+1), make([]int64, len(s.n)+1)
	for i := range s.n {
		hits[i+1], n[i+1] = hits[i]+int64(s.hits[i]), n[i]+int64(s.n[i])
	}
	for end := 1; end <= len(s.n); end++ {
		if s.n[end-1] == 0 {
			continue
		}
		a := max(start, end-s.days(mostDays))
		from := a + 1
		if start == 0 {
			from = a + s.days(leastDays-1)
		}
		best := cut{}
		total := hits[end] - hits[a]
		for k := from; k < end && total > 0; k++ {
			before, after := n[k]-n[a], n[end]-n[k]
			if before == 0 || after == 0 {
				continue
			}
			late := hits[end] - hits[k]
			share := float64(after) / float64(before+after)
			if rough := float64(late) - share*float64(total); rough*rough < 9*float64(total)*share*(1-share) {
				continue // the exact tail is longer still
			}
			up := stat.BinomialSurvival(late, total, share)
			down := stat.BinomialSurvival(total-late, total, 1-share)
			if z := -stat.NormalQuantile(math.Max(math.Min(up, down), 1e-300)); z > best.z {
				best = cut{at: k, seen: end, z: z}
			}
		}
		if best.at > 0 && best.z >= limit {
			cuts = append(cuts, best)
			start = best.at
		}
	}
	return cuts
}
