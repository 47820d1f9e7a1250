package clock

import (
	"os"
	"runtime"
	"sync"
)

// kept counts the processors of Go's scheduler that goroutines keep to
// themselves. They are added, so that the rest of the program has as many as
// before.
var kept struct {
	mu    sync.Mutex
	n     int
	total int // as we set it
}

// KeptProcessors is how many processors (GOMAXPROCS) are added just now.
func KeptProcessors() int {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	return kept.n
}

// AddProcessors adds so many until RemoveProcessors. The program stands still
// for a moment; during a collection of garbage, until that has ended.
func AddProcessors(n int) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.n += n
	kept.total = runtime.GOMAXPROCS(0) + n
	runtime.GOMAXPROCS(kept.total)
}

// RemoveProcessors gives back what AddProcessors added.
func RemoveProcessors(n int) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.n -= n
	if runtime.GOMAXPROCS(0) != kept.total {
		return // somebody else has set it since
	}
	kept.total -= n
	if _, set := os.LookupEnv("GOMAXPROCS"); kept.n > 0 || set {
		runtime.GOMAXPROCS(kept.total)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}
