package clock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Keeper lets a goroutine wait in the kernel without giving up its processor.
// Go's scheduler would take the processor away in a wait that it knows of, look
// for one again after it, and watch all that every 20 µs; with one processor for
// a program, everything else would stand still meanwhile. One is added instead.
//
// The goroutine is not tied to its thread: the runtime could then not put it
// aside for a moment, as it does every 10 ms, without two switches of threads.
type Keeper struct {
	thread int // the one that is set up; 0: none yet
}

// Keep adds a processor until Close. It returns nil where there is no such wait.
func Keep() *Keeper {
	if MonotonicNS() == 0 {
		return nil
	}
	AddProcessors(1)
	return &Keeper{}
}

// SleepUntil returns at a moment of CLOCK_MONOTONIC, or earlier for a signal.
func (k *Keeper) SleepUntil(monotonicNS int64) {
	if id, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0); int(id) != k.thread {
		k.thread = int(id)
		// Without the right to change it, waiting is late by the default slack of 50 µs.
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	ts := unix.NsecToTimespec(monotonicNS)
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// Close gives the processor back.
func (k *Keeper) Close() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0: the default again
	RemoveProcessors(1)
}
