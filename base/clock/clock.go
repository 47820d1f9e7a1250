// Package clock is where time is read: one monotonic clock per run, precise
// waiting for absolute moments, and the tie to the system's own clocks.
package clock

import "time"

// Clock counts from the run's start. It reads the standard monotonic clock, so
// it works in the virtual time of testing/synctest.
type Clock struct {
	base time.Time
	// MonotonicZeroNS is CLOCK_MONOTONIC at the run's start, where the system
	// tells it (0 elsewhere): it ties records to a server's log on one machine.
	MonotonicZeroNS int64

	// WallNS is where the wall clock is read, in nanoseconds since 1970; nil: the
	// system's. It is set before the first reading, if at all.
	WallNS func() int64
}

// Start returns a clock that reads zero now.
func Start() *Clock {
	base, zero := tie()
	return &Clock{base: base, MonotonicZeroNS: zero}
}

// tie reads Go's clock and the system's together. A thread that is put aside
// between the two readings would tie them wrongly, so the closest of a few
// tries counts.
func tie() (base time.Time, zeroNS int64) {
	best := int64(-1)
	for range 5 {
		before := MonotonicNS()
		now := time.Now()
		width := MonotonicNS() - before
		if best < 0 || width < best {
			base, zeroNS, best = now, before+width/2, width
		}
	}
	return base, zeroNS
}

// US returns microseconds since the run's start.
func (c *Clock) US() int64 { return time.Since(c.base).Microseconds() }

// NS returns nanoseconds since the run's start.
func (c *Clock) NS() int64 { return time.Since(c.base).Nanoseconds() }

// At converts a moment to microseconds since the run's start.
func (c *Clock) At(t time.Time) int64 { return t.Sub(c.base).Microseconds() }

// Time is the moment ns nanoseconds after the run's start, for timers and
// deadlines.
func (c *Clock) Time(ns int64) time.Time { return c.base.Add(time.Duration(ns)) }

// Wall is the wall-clock time of the run's start: a label, never a term of a difference.
func (c *Clock) Wall() time.Time { return c.base.Round(0).UTC() }

// Base is the run's start with its monotonic reading.
func (c *Clock) Base() time.Time { return c.base }
