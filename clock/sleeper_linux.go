package clock

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// rawSleep sleeps in the kernel on a thread of its own: Go's poller rounds
// waits up to a millisecond, clock_nanosleep does not.
type rawSleep struct {
	zeroNS int64 // CLOCK_MONOTONIC at the clock's zero
	slack  int   // the thread's timer slack before
}

func newRawSleep(c *Clock) *rawSleep {
	if c.MonotonicZeroNS == 0 {
		return nil
	}
	runtime.LockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		slack = 0 // 0 sets the thread's default again
	}
	// Without the right to change it, waiting is late by the default slack of 50 µs.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return &rawSleep{zeroNS: c.MonotonicZeroNS, slack: slack}
}

// until sleeps until ns nanoseconds after the clock's zero, or less when a
// signal comes: the caller looks at the clock again.
func (r *rawSleep) until(ns int64) {
	ts := unix.NsecToTimespec(r.zeroNS + ns)
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
}

func (r *rawSleep) close() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(r.slack), 0, 0, 0)
	runtime.UnlockOSThread()
}
