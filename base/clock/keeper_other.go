//go:build !linux

package clock

// Keeper lets a goroutine wait without giving up its processor. It needs Linux.
type Keeper struct{}

// Keep returns nil: there is no such wait here.
func Keep() *Keeper { return nil }

// SleepUntil returns at a moment of CLOCK_MONOTONIC, or earlier.
func (*Keeper) SleepUntil(int64) {}

// Close gives the processor back.
func (*Keeper) Close() {}
