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
}

// Start returns a clock that reads zero now.
func Start() *Clock {
	return &Clock{base: time.Now(), MonotonicZeroNS: monotonicNS()}
}

// US returns microseconds since the run's start.
func (c *Clock) US() int64 { return time.Since(c.base).Microseconds() }

// NS returns nanoseconds since the run's start.
func (c *Clock) NS() int64 { return time.Since(c.base).Nanoseconds() }

// At converts a moment to microseconds since the run's start.
func (c *Clock) At(t time.Time) int64 { return t.Sub(c.base).Microseconds() }

// Wall is the wall-clock time of the run's start: a label, never a term of a difference.
func (c *Clock) Wall() time.Time { return c.base.Round(0).UTC() }

// Base is the run's start with its monotonic reading.
func (c *Clock) Base() time.Time { return c.base }
