package trend

import (
	"math"
	"slices"
	"time"

	"tokenmeter/record/stat"
)

// series is one figure of one target and kind of probe on a grid of blocks of
// time: what is looked through for changes.
type series struct {
	kind   string
	metric int
	block  time.Duration
	from   time.Time // begin of the first block
	// level is the block's median of logarithms; NaN where a block has none. Rates
	// have counts instead.
	level []float64
	// hits of n are what a rate is of. Failures on end are one: what brought them
	// was.
	hits, n []int

	times  []time.Time // of the values, ascending
	values []float64   // logarithms, or 0 and 1
}

// isRate tells shares of requests from sizes.
func isRate(metric int) bool { return metric == Errors || metric == Wrong }

// judged are the figures that are looked through. Speeds are 1/TPOT and tell
// nothing more; E2E is TTFT and TPOT.
var judged = []int{TTFT, TPOT, Errors, Wrong, Cost}

// Blocks of an hour are short against the day in which a change is to be found;
// what is asked less often gets blocks that hold one probe or more.
var blocks = []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// leastDays is how long must have been measured before anything is looked for:
// a cycle of a day can't be told from a change in less.
const leastDays = 3

// newSeries lays values on the grid; nil where there are too few.
func newSeries(metric int, times []time.Time, values []float64) *series {
	if len(times) == 0 {
		return nil
	}
	first, last := times[0], times[len(times)-1]
	span := last.Sub(first)
	if span < leastDays*24*time.Hour {
		return nil
	}
	for _, block := range blocks {
		s := &series{metric: metric, block: block, from: first.Truncate(block)}
		if filled := s.fill(times, values); filled >= 0.9 || block == blocks[len(blocks)-1] && filled > 0.5 {
			return s
		}
	}
	return nil
}

// fill sorts values into blocks and returns the share of blocks that have some.
func (s *series) fill(times []time.Time, values []float64) float64 {
	count := int(times[len(times)-1].Sub(s.from)/s.block) + 1
	s.level, s.hits, s.n = make([]float64, count), make([]int, count), make([]int, count)
	s.times, s.values = times, values
	filled := 0
	for i := 0; i < len(values); {
		at := s.of(times[i])
		end := i
		for end < len(values) && s.of(times[end]) == at {
			if hit := values[end] > 0; !isRate(s.metric) || !hit || end == i || values[end-1] == 0 {
				s.n[at]++
				if hit {
					s.hits[at]++
				}
			}
			end++
		}
		s.level[at] = stat.Median(slices.Clone(values[i:end]))
		filled++
		i = end
	}
	for i, n := range s.n {
		if n == 0 {
			s.level[i] = math.NaN()
		}
	}
	return float64(filled) / float64(count)
}

func (s *series) of(at time.Time) int { return int(at.Sub(s.from) / s.block) }

// at is when a block begins.
func (s *series) at(i int) time.Time { return s.from.Add(time.Duration(i) * s.block) }

// days is how many blocks so many days are, at least one.
func (s *series) days(n int) int { return max(n*int(24*time.Hour/s.block), 1) }
