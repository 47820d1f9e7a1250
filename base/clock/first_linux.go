package clock

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ahead is by how many steps of niceness a thread that paces goes before others:
// enough to be let in at once, and not so much that it starves them where it has
// much to do.
const ahead = 10

// First ties the goroutine to its thread and lets that run before the program's
// other threads until restore is called, on the same goroutine. Without the right
// to raise a priority (root, CAP_SYS_NICE or a limit on nice) it does nothing.
func First() (restore func()) {
	runtime.LockOSThread()
	thread := unix.Gettid()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, thread) // 20 − niceness
	nice := 20 - raw
	if err == nil {
		err = unix.Setpriority(unix.PRIO_PROCESS, thread, max(nice-ahead, -20))
	}
	if err != nil {
		runtime.UnlockOSThread()
		return func() {}
	}
	return func() {
		if unix.Setpriority(unix.PRIO_PROCESS, thread, nice) == nil {
			runtime.UnlockOSThread() // else the thread ends with the goroutine
		}
	}
}
