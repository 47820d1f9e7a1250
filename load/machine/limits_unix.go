//go:build unix

package machine

import (
	"golang.org/x/sys/unix"

	"tokenmeter/record/timeline"
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

// files returns the limits of open files without changing them.
func files() (soft, hard timeline.Opt[int64]) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return soft, hard
	}
	known := func(n uint64) timeline.Opt[int64] {
		if n >= 1<<40 {
			return timeline.Opt[int64]{}
		}
		return timeline.Some(int64(n))
	}
	return known(uint64(r.Cur)), known(uint64(r.Max))
}
