//go:build !linux

package clock

func monotonicNS() int64 { return 0 }
