package tokens

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuSpeed reports bytes per second of processor time, which others on the
// machine disturb less than those of the clock.
func cpuSpeed(b *testing.B, bytes int) (stop func()) {
	runtime.LockOSThread()
	from := threadTime()
	return func() {
		spent := threadTime() - from
		runtime.UnlockOSThread()
		b.ReportMetric(float64(bytes)*float64(b.N)/spent.Seconds()/1e6, "MB/cpu-s")
		b.ReportMetric(float64(spent.Microseconds())/float64(b.N)/1000, "cpu-ms/op")
	}
}

func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
