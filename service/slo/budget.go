package slo

import (
	"math"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

type opt = timeline.Opt[float64]

// decimal is the difference as a person meant it: 1 - 0.999 is 0.001, without
// the binary dust that would turn a spent budget into a nearly spent one.
func decimal(x float64) float64 { return math.Round(x*1e12) / 1e12 }

// SLI is the share of good among valid; null without events and where the
// counts can't be.
func SLI(c Counts) opt {
	return timeline.Maybe(float64(c.Good)/float64(c.Valid), c.Valid > 0 && c.Sound())
}

// Burn is how many times faster than allowed the budget is spent: the share of
// bad events over the budget. 1 spends it in exactly one window.
func Burn(c Counts, budget float64) opt {
	return timeline.Maybe(float64(c.Bad())/float64(c.Valid)/budget, c.Valid > 0 && c.Sound() && budget > 0)
}

// Consumed is the share of a budget, given in events, that is spent; more than 1
// is overspent. Nothing is known without valid events or without a budget.
func Consumed(c Counts, events float64) opt {
	return timeline.Maybe(float64(c.Bad())/events, c.Valid > 0 && c.Sound() && events > 0)
}

// Remaining is the share of the budget that is left. It is negative when more
// was spent than there was.
func Remaining(consumed opt) opt {
	return timeline.Map(consumed, func(x float64) float64 { return decimal(1 - x) })
}

// Factor is the burn rate that spends a share of a period's budget within an
// alert's long window.
func Factor(share float64, period, long time.Duration) float64 {
	return decimal(share * float64(period) / float64(long))
}

// CanFire reports whether a burn alert can fire at all: when everything fails
// the budget burns 1/budget times as fast as allowed, and no faster.
func CanFire(factor, budget float64) bool { return factor*budget < 1 }

// Exhaustion is how long the rest of the budget lasts at a burn rate; null when
// it lasts for ever.
func Exhaustion(remaining, burn opt, period time.Duration) opt {
	left, ok := remaining.Get()
	rate, burning := burn.Get()
	switch {
	case !ok:
		return opt{}
	case left <= 0:
		return timeline.Some(0.0)
	case !burning || rate <= 1:
		return opt{}
	}
	return timeline.Some(left * period.Seconds() / rate)
}

// beyondDoubt reports whether so many bad events are no accident: with exactly
// the allowed share of them, as many would come in less than one case of a
// hundred.
func beyondDoubt(c Counts, share float64) bool {
	return c.Bad() > 0 && stat.BinomialSurvival(c.Bad(), c.Valid, share) < 0.01
}

// fewestEvents is the fewest events that can show whether a target is met.
func fewestEvents(budget float64) int64 {
	if budget <= 0 {
		return 1
	}
	return int64(math.Ceil(decimal(1 / budget)))
}
