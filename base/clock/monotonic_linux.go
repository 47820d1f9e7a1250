package clock

import "golang.org/x/sys/unix"

// MonotonicNS reads the system's CLOCK_MONOTONIC; 0 where there is none.
func MonotonicNS() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
