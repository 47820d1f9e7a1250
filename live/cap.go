package live

import (
	"math/bits"

	"tokenmeter/timeline"
)

// MostArrivals is how many arrivals of a request are stored.
const MostArrivals = 4096

// Gaps counts gaps between generation events by their length: bin i holds those
// of 2^i µs up to, not including, 2^(i+1) µs; bin 0 those under 2 µs too.
type Gaps [40]int64

// Add counts one gap.
func (g *Gaps) Add(us int64) { g[min(max(bits.Len64(uint64(max(us, 0)))-1, 0), len(g)-1)]++ }

// N is how many gaps were counted.
func (g *Gaps) N() (n int64) {
	for _, k := range g {
		n += k
	}
	return n
}

// Cap is what is stored of a timeline: itself when it has at most so many
// events, else a copy with the first of them and the flag arrivals_capped. The
// gaps between generation events beyond are counted. Figures of the whole
// request are in its record, which is computed from all arrivals.
func Cap(tl *timeline.Timeline, most int) (*timeline.Timeline, *Gaps) {
	if tl.Events.Len() <= most {
		return tl, nil
	}
	cut, gaps := *tl, new(Gaps)
	cut.Events = timeline.Events{}
	cut.Flags |= timeline.ArrivalsCapped
	last := int64(-1)
	for ev := range tl.Events.All() {
		kept := cut.Events.Len() < most
		if kept {
			cut.Events.Append(ev)
		}
		if ev.Kind.Bears() {
			if !kept && last >= 0 {
				gaps.Add(ev.AtUS - last)
			}
			last = ev.AtUS
		}
	}
	return &cut, gaps
}
