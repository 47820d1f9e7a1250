// Package process is what a program changes of its own process while it
// works. Only programs use it: a library leaves the process of those who embed
// it alone.
package process

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// How much garbage may lie about, whatever is alive. Go's own rule, as much as is
// alive, collects all the time where few streams are open, and doubles the memory
// where many are.
const (
	garbageBytes   = 48 << 20
	leastGCPercent = 25
	mostGCPercent  = 800
)

// BoundGarbage keeps to garbageBytes until the returned function is called. The
// collector is the process's; a GOGC that the user gave is kept.
func BoundGarbage() (restore func()) {
	if _, set := os.LookupEnv("GOGC"); set {
		return func() {}
	}
	var over atomic.Bool
	before := debug.SetGCPercent(mostGCPercent / 4)
	now := mostGCPercent / 4
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	// A finalizer runs after each collection.
	var again func(*sentinel)
	again = func(s *sentinel) {
		if over.Load() {
			return
		}
		metrics.Read(live)
		if alive := live[0].Value.Uint64(); alive > 0 {
			want := int(min(max(garbageBytes*100/alive, leastGCPercent), mostGCPercent))
			if want < now*4/5 || want > now*5/4 { // to change it stops the world for a moment
				now = want
				debug.SetGCPercent(now)
			}
		}
		runtime.SetFinalizer(s, again)
	}
	runtime.SetFinalizer(&sentinel{}, again)
	return func() {
		over.Store(true)
		debug.SetGCPercent(before)
	}
}

// sentinel is something to be collected.
type sentinel struct{ _ [16]byte }
