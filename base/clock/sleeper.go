package clock

import (
	"context"
	"time"
)

// Sleep waits so long, or until ctx is done: it then returns the cause of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Sleeper waits for absolute moments of a clock. One goroutine uses it. The
// precise kind keeps a processor of Go's scheduler, which is added, until Close.
type Sleeper struct {
	clock *Clock
	timer *time.Timer
	keep  *Keeper // nil: Go's timers only
}

// Precise returns a sleeper that is late by tens of microseconds where the
// system allows it (Linux), and the same as Timers elsewhere. It sleeps in the
// kernel, so it does not work in the virtual time of testing/synctest.
func (c *Clock) Precise() *Sleeper {
	if c.MonotonicZeroNS == 0 {
		return c.Timers()
	}
	return &Sleeper{clock: c, keep: Keep()}
}

// Timers returns a sleeper on Go's timers, which are late by up to 1 ms and
// follow virtual time.
func (c *Clock) Timers() *Sleeper { return &Sleeper{clock: c} }

// Exact reports whether waiting is better than Go's timers.
func (s *Sleeper) Exact() bool { return s.keep != nil }

// Close gives the processor back. The sleeper is not used after it.
func (s *Sleeper) Close() {
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.keep != nil {
		s.keep.Close()
	}
}

// Raw sleeping can't be interrupted, so it is done in short slices; far from
// the moment a Go timer waits instead, which costs no wake-ups.
const (
	rawSlice = 10 * time.Millisecond
	rawReach = 150 * time.Millisecond
)

// WaitUntil returns when the clock reads us microseconds, at once when it
// already does. A cancelled ctx ends it early, with the cause of ctx.
func (s *Sleeper) WaitUntil(ctx context.Context, us int64) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := time.Duration(us*1000 - s.clock.NS())
		switch {
		case left <= 0:
			return nil
		case s.keep == nil:
			s.sleep(ctx, left)
		case left > rawReach:
			s.sleep(ctx, left-rawReach/2)
		default:
			s.keep.SleepUntil(s.clock.MonotonicZeroNS + us*1000 - int64(max(left-rawSlice, 0)))
		}
	}
}

func (s *Sleeper) sleep(ctx context.Context, d time.Duration) {
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	select {
	case <-s.timer.C:
	case <-ctx.Done():
		s.timer.Stop()
	}
}
