//go:build unix

package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

// RaiseFiles lifts the soft limit of open files to the hard one and returns it.
// 0 means there is no limit, or none is known.
func RaiseFiles() (limit uint64, raised bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0, false
	}
	if r.Cur < r.Max {
		up := r
		up.Cur = r.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &up) == nil {
			r, raised = up, true
		}
	}
	if uint64(r.Cur) >= 1<<40 {
		return 0, raised
	}
	return uint64(r.Cur), raised
}

func processTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
