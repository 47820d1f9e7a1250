package sim

import "time"

// simClock counts nanoseconds on the clock of the truth.
type simClock struct {
	base time.Time
	zero int64 // the truth's time at base
}

// newClock counts from base, or on CLOCK_MONOTONIC when base is zero.
func newClock(base time.Time) simClock {
	if !base.IsZero() {
		return simClock{base: base}
	}
	// The two clocks are read one after the other; the tightest of several
	// tries bounds how far apart they were taken.
	best := simClock{base: time.Now()}
	width := time.Duration(1 << 62)
	for range 8 {
		before := time.Now()
		mono := monotonicNS()
		after := time.Since(before)
		if mono == 0 {
			return best
		}
		if after < width {
			width = after
			best = simClock{base: before.Add(after / 2), zero: mono}
		}
	}
	return best
}

func (c simClock) now() int64 { return c.zero + int64(time.Since(c.base)) }
