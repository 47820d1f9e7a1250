package traffic

import (
	"math/bits"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// MostArrivals is how many arrivals of a request are kept, in memory and in
// files. Of those after them metric.KeepFirst keeps what figures need.
const MostArrivals = 4096

// Gaps counts gaps between generation events by their length: bin i holds those
// of 2^i µs up to, not including, 2^(i+1) µs; bin 0 those under 2 µs too.
type Gaps [40]int64

// Add counts so many gaps of a length.
func (g *Gaps) Add(us, gaps int64) {
	g[min(max(bits.Len64(uint64(max(us, 0)))-1, 0), len(g)-1)] += gaps
}

// N is how many gaps were counted.
func (g *Gaps) N() (n int64) {
	for _, k := range g {
		n += k
	}
	return n
}

// GapsBeyond counts the gaps that ended in an arrival that was not kept; nil:
// every arrival was.
func GapsBeyond(tl *timeline.Timeline) *Gaps {
	g := new(Gaps)
	// The mean of a bin lies in it, and none reaches over a power of two.
	if !metric.EachGapBeyond(tl, func(us float64, n int64) { g.Add(int64(us), n) }) {
		return nil
	}
	return g
}
