package schedule

import (
	"fmt"
	"time"
)

// Closed is a closed loop: each of Concurrency streams sends its next request
// when the one before has ended. When requests are due is the server's doing.
type Closed struct {
	Concurrency int
	// Levels is a number of streams that changes; its end ends the loop, and
	// Concurrency is then its highest level.
	Levels   Curve
	Requests int64         // bound of the main part; 0: none
	Duration time.Duration // bound of the main part: nothing is sent from then on; 0: none

	Ramp time.Duration // before the main part the streams start one after another; 0: at once
	Tail time.Duration // after the main part the load goes on for at most so long
	// Gap, when set, is the least time between the starts of two requests of a
	// stream: a user who comes back at a pace of their own.
	Gap time.Duration
}

// Check returns what is wrong with the settings.
func (c Closed) Check() error {
	if len(c.Levels) > 0 {
		if err := c.Levels.Check(); err != nil {
			return fmt.Errorf("stages: %w", err)
		}
	}
	switch {
	case c.Concurrency < 1:
		return fmt.Errorf("concurrency %d: want at least 1", c.Concurrency)
	case c.Concurrency > 1_000_000:
		return fmt.Errorf("concurrency %d: at most 1000000", c.Concurrency)
	case c.Gap < 0:
		return fmt.Errorf("a pace of %v between two requests of a user: want a positive time", c.Gap)
	}
	return bounds{requests: c.Requests, ramp: c.Ramp, duration: c.Duration, tail: c.Tail}.check()
}

// Starts is when stream s, from 0, sends its first request: the ramp spreads the
// streams evenly, and so does the gap of users, so that they do not come in step.
func (c Closed) Starts(s int) time.Duration {
	spread := max(c.Ramp, c.Gap)
	return spread / time.Duration(c.Concurrency) * time.Duration(s)
}

// May is the first moment from at on when stream s may send; false when there
// is none. Streams beyond the level of a moment pause.
func (c Closed) May(s int, at time.Duration) (time.Duration, bool) {
	if len(c.Levels) == 0 {
		return at, true
	}
	// Stream s runs while the level, rounded, is above s.
	return c.Levels.Reaches(float64(s)+0.5, at)
}
