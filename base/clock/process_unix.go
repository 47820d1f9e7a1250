//go:build unix

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessTime is the processor time that this process has used, its system calls
// included; 0 where the system does not tell.
func ProcessTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
