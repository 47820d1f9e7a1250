package machine

import (
	"time"

	"golang.org/x/sys/windows"

	"tokenmeter/record/timeline"
)

// RaiseFiles does nothing: Windows has no limit of open files to speak of.
func RaiseFiles() (limit uint64, raised bool) { return 0, false }

func files() (soft, hard timeline.Opt[int64]) { return soft, hard }

func processTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user)
}
