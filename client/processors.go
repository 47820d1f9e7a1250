package client

import (
	"os"
	"runtime"
	"sync"
)

// claimed counts the processors of Go's scheduler that reactors keep to
// themselves. They are added, so that the rest of the program has as many as
// before.
var claimed struct {
	mu    sync.Mutex
	n     int
	total int // as we set it
}

func claimProcessor() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.n++
	claimed.total = runtime.GOMAXPROCS(0) + 1
	runtime.GOMAXPROCS(claimed.total)
}

func releaseProcessor() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.n--
	if runtime.GOMAXPROCS(0) != claimed.total {
		return // somebody else has set it since
	}
	claimed.total--
	if _, set := os.LookupEnv("GOMAXPROCS"); claimed.n > 0 || set {
		runtime.GOMAXPROCS(claimed.total)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}
