package sim

import (
	"time"

	"tokenmeter/base/clock"
)

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
	c := clock.Start()
	return simClock{base: c.Base(), zero: c.MonotonicZeroNS}
}

func (c simClock) now() int64 { return c.zero + int64(time.Since(c.base)) }

// closeReadings is how far apart the readings around one of the wall clock may
// be to end the search for closer ones: some times what two readings take.
const closeReadings = 2_000

// atWall is the time on c of a moment of the wall clock in the last ten seconds.
// Its age and not the moment itself counts, so that steps of the wall clock do
// not matter. A thread can be put aside between the two clocks' readings; so c is
// read after the wall clock, the closest of a few tries counts, and what is left
// makes the moment later than it was, never earlier: nothing may seem received
// before it was sent.
func (c simClock) atWall(wallNS int64, readWallNS func() int64) (ns int64, ok bool) {
	width := int64(-1)
	for range 5 {
		before := c.now()
		age := readWallNS() - wallNS
		after := c.now()
		if age < 0 || age > int64(10*time.Second) {
			return 0, false
		}
		if width < 0 || after-before < width {
			ns, width = after-age, after-before
		}
		if width <= closeReadings {
			break
		}
	}
	return ns, true
}
