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

// KeptProcessors is how many processors (GOMAXPROCS) were added.
func KeptProcessors() int {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	return kept.n
}

func addProcessor() {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.n++
	kept.total = runtime.GOMAXPROCS(0) + 1
	runtime.GOMAXPROCS(kept.total)
}

func removeProcessor() {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.n--
	if runtime.GOMAXPROCS(0) != kept.total {
		return // somebody else has set it since
	}
	kept.total--
	if _, set := os.LookupEnv("GOMAXPROCS"); kept.n > 0 || set {
		runtime.GOMAXPROCS(kept.total)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}
