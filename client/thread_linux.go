package client

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// thread is the one that a goroutine runs on while it makes raw calls. The
// goroutine is not tied to it: the runtime could then not put it aside for a
// moment without two switches of threads.
type thread struct {
	id int // that is set up; 0: none yet
}

// sleep returns at a moment of CLOCK_MONOTONIC, or earlier for a signal. Go's
// scheduler is not told: the processor is kept.
func (t *thread) sleep(monotonicNS int64) {
	if id, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0); int(id) != t.id {
		t.id = int(id)
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	ts := unix.NsecToTimespec(monotonicNS)
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
