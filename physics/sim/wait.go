package sim

import "time"

// waiter lets the pacing thread wait for a moment or for news.
type waiter interface {
	// wait returns at until (nanoseconds on the truth's clock; −1: never) or
	// soon after wake was called.
	wait(until int64)
	wake()
	close()
}

// timerWait waits with the runtime's timers: within a millisecond on a real
// clock, exact in virtual time.
type timerWait struct {
	clock simClock
	news  chan struct{}
}

func newTimerWait(c simClock) *timerWait { return &timerWait{c, make(chan struct{}, 1)} }

func (w *timerWait) wait(until int64) {
	if until < 0 {
		<-w.news
		return
	}
	left := time.Duration(until - w.clock.now())
	if left <= 0 {
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.news:
	}
}

func (w *timerWait) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *timerWait) close() {}
