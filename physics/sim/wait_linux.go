package sim

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// early is how long before a moment the thread is woken, to meet the moment
	// itself by looking at the clock.
	early = 60_000
	// near is a wait too short to be worth a call of the kernel.
	near = 6_000
	// spinShare bounds the share of time spent looking at the clock: a server
	// with something due every few microseconds must leave the processor to its
	// readers in between, and is late by the kernel's 40 µs.
	spinShare = 0.2
	// far is a wait long enough to be left to the runtime's timers first, which
	// need no thread and are late by a millisecond at most.
	far = 3_000_000
)

// preciseWait waits in the kernel on a thread of its own, with the timer's
// slack at its least, and meets the moment by spinning at the end.
type preciseWait struct {
	clock  simClock
	coarse *timerWait
	event  int
	news   atomic.Bool // wake was called since the last return
	asleep atomic.Bool // a call of wake must write to the event
	fds    [1]unix.PollFd
	ready  bool

	from int64 // of the period over which spinning is bounded
	spun int64 // in it
}

func newPreciseWait(c simClock) waiter {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return newTimerWait(c)
	}
	return &preciseWait{clock: c, event: fd, coarse: newTimerWait(c)}
}

func (w *preciseWait) wait(until int64) {
	if !w.ready {
		// The thread stays with this goroutine and ends with it.
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		w.ready = true
	}
	defer w.news.Store(false)
	now := w.clock.now()
	if until < 0 || until-now > far {
		if until >= 0 {
			until -= far / 2
		}
		w.coarse.wait(until)
		return // the caller comes again for the rest
	}
	ahead := w.ahead(now)
	if left := until - now - ahead; left > near {
		w.asleep.Store(true)
		if w.news.Load() {
			w.asleep.Store(false)
			return
		}
		t := unix.NsecToTimespec(left)
		w.fds[0] = unix.PollFd{Fd: int32(w.event), Events: unix.POLLIN}
		n, _ := unix.Ppoll(w.fds[:], &t, nil)
		w.asleep.Store(false)
		if n > 0 {
			var b [8]byte
			_, _ = unix.Read(w.event, b[:])
			return
		}
	}
	w.spin(until)
}

// ahead is how long before the moment to wake: early, or nothing once the share
// of spinning is used up.
func (w *preciseWait) ahead(now int64) int64 {
	const period = 100_000_000
	if now-w.from > period {
		w.from, w.spun = now, 0
	}
	if float64(w.spun) > spinShare*period {
		return 0
	}
	return early
}

func (w *preciseWait) spin(until int64) {
	from := w.clock.now()
	now := from
	for now < until && !w.news.Load() {
		now = w.clock.now()
	}
	w.spun += now - from
}

func (w *preciseWait) wake() {
	w.news.Store(true)
	w.coarse.wake()
	if w.asleep.Swap(false) {
		one := [8]byte{0: 1}
		_, _ = unix.Write(w.event, one[:])
	}
}

func (w *preciseWait) close() { unix.Close(w.event) }
