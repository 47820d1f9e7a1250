//go:build !linux

package sim

func newPreciseWait(c simClock) waiter { return newTimerWait(c) }
