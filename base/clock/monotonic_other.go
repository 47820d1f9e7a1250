//go:build !linux

package clock

// MonotonicNS reads the system's CLOCK_MONOTONIC; 0 where there is none.
func MonotonicNS() int64 { return 0 }
