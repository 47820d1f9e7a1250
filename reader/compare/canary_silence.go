package compare

import (
	"math"

	"tokenmeter/record/timeline"
)

// ends is when the requests of a side ended, on the clock of both.
type ends struct {
	answers   int64
	lastUS    int64 // when the last answer ended; before the first one, when the side was asked first
	waitingUS int64 // since when nothing but failures and what was cut came of what was asked
	seenUS    int64 // the last end of all
	longestUS int64 // the slowest answer, or the longest time without one
}

func newEnds() ends { return ends{lastUS: math.MaxInt64, waitingUS: math.MaxInt64} }

func (e *ends) add(tl *timeline.Timeline) {
	if tl.Unsent() {
		return
	}
	end := tl.DueUS + tl.CloseUS.Or(0)
	e.seenUS = max(e.seenUS, end)
	if e.answers == 0 {
		e.lastUS = min(e.lastUS, tl.DueUS)
	}
	if tl.Outcome != timeline.OK {
		e.waitingUS = min(e.waitingUS, tl.DueUS)
		return
	}
	e.longestUS = max(e.longestUS, end-tl.DueUS, end-e.lastUS)
	e.answers, e.lastUS, e.waitingUS = e.answers+1, max(e.lastUS, end), math.MaxInt64
}

// silentUS is for how long a side had answered nothing of what it was asked when it, or
// the other one, was last heard of, and how often the longest time that either took for
// an answer, or was without one before, is in it.
func silentUS(side, other *ends) (us, stretches int64) {
	longest := max(side.longestUS, other.longestUS)
	if other.answers == 0 || side.waitingUS == math.MaxInt64 || longest == 0 {
		return 0, 0
	}
	us = max(0, min(other.lastUS, side.seenUS)-max(side.lastUS, side.waitingUS))
	return us, us / longest
}

// End is the verdict once both sides have ended, and for how many seconds the side that
// is worse had answered nothing by then; 0 where the figures decided.
//
// A side that falls silent has too few requests for any figure. In each stretch as long
// as the longest that either side ever took, the other one answered and it did not. Of
// equal populations either is as likely to be the silent one, so that k stretches in a
// row have a chance of 2^-k (a sign test). This looks once, at the end: the level holds
// where that was not chosen by what was seen.
func (c *Canary) End() (CanaryState, float64) {
	if s := c.State(); s != Continue {
		return s, 0
	}
	for side, verdict := range [2]CanaryState{SideA: CanaryBetter, SideB: CanaryWorse} {
		us, stretches := silentUS(&c.ends[side], &c.ends[1-side])
		if math.Exp2(-float64(stretches)) <= c.alpha/2 {
			return verdict, float64(us) / 1e6
		}
	}
	return Continue, 0
}
