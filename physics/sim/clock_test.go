package sim

import (
	"testing"
	"testing/synctest"
	"time"
)

// A thread that is put aside around its readings of the two clocks never makes a
// request come before it was sent.
func TestAMomentOfTheWallClockIsNeverTooEarly(t *testing.T) {
	for name, pauses := range map[string][]time.Duration{
		"none":        {0, 0},
		"before":      {500 * time.Microsecond, 0},
		"after":       {0, 500 * time.Microsecond},
		"both, twice": {time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond, 0, 0},
		"always":      {ms, ms, ms, ms, ms, ms, ms, ms, ms, ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClock(time.Now())
			received, stamp := c.now(), time.Now().UnixNano()
			time.Sleep(3 * time.Millisecond)
			pause := func() {
				if len(pauses) > 0 {
					time.Sleep(pauses[0])
					pauses = pauses[1:]
				}
			}
			worst := pauses[1]
			if name == "both, twice" {
				worst = 0
			}
			got, ok := c.atWall(stamp, func() int64 {
				pause()
				defer pause()
				return time.Now().UnixNano()
			})
			if late := got - received; !ok || late < 0 || late > int64(worst) {
				t.Errorf("%s: %d ns after it came, %v", name, late, ok)
			}
		})
	}
}

func TestAMomentOutOfReachIsNone(t *testing.T) {
	c := newClock(time.Now())
	for _, off := range []time.Duration{-time.Second, 11 * time.Second} {
		if _, ok := c.atWall(0, func() int64 { return int64(off) }); ok {
			t.Errorf("a moment %v ago counts", off)
		}
	}
}
