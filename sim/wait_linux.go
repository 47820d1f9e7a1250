package sim

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// early is how long before a moment the thread is woken, to meet the moment
// itself by looking at the clock.
const early = 60_000

// preciseWait waits in the kernel on a thread of its own, with the timer's
// slack at its least, and meets the moment by spinning at the end.
type preciseWait struct {
	clock  simClock
	event  int
	news   atomic.Bool // wake was called since the last return
	asleep atomic.Bool // a call of wake must write to the event
	fds    [1]unix.PollFd
	ready  bool
}

func newPreciseWait(c simClock) waiter {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return newTimerWait(c)
	}
	return &preciseWait{clock: c, event: fd}
}

func (w *preciseWait) wait(until int64) {
	if !w.ready {
		// The thread stays with this goroutine and ends with it.
		runtime.LockOSThread()
		unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		w.ready = true
	}
	defer w.news.Store(false)
	var ts *unix.Timespec
	if until >= 0 {
		left := until - w.clock.now() - early
		if left <= 0 {
			w.spin(until)
			return
		}
		t := unix.NsecToTimespec(left)
		ts = &t
	}
	w.asleep.Store(true)
	if w.news.Load() {
		w.asleep.Store(false)
		return
	}
	w.fds[0] = unix.PollFd{Fd: int32(w.event), Events: unix.POLLIN}
	n, _ := unix.Ppoll(w.fds[:], ts, nil)
	w.asleep.Store(false)
	if n > 0 {
		var b [8]byte
		unix.Read(w.event, b[:])
		return
	}
	if until >= 0 {
		w.spin(until)
	}
}

func (w *preciseWait) spin(until int64) {
	for w.clock.now() < until && !w.news.Load() {
	}
}

func (w *preciseWait) wake() {
	w.news.Store(true)
	if w.asleep.Swap(false) {
		one := [8]byte{0: 1}
		unix.Write(w.event, one[:])
	}
}

func (w *preciseWait) close() { unix.Close(w.event) }
