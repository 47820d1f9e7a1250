package machine

import (
	"slices"
	"time"
)

// TimerOvershoot is by how much a sleep of 1 ms is typically too long: the
// median of five. It takes some milliseconds, on a coarse timer up to 80.
func TimerOvershoot() time.Duration {
	var over [5]time.Duration
	for i := range over {
		start := time.Now()
		time.Sleep(time.Millisecond)
		over[i] = max(time.Since(start)-time.Millisecond, 0)
	}
	slices.Sort(over[:])
	return over[len(over)/2]
}
