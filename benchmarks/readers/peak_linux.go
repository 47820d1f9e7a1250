package main

import (
	"os"
	"syscall"
)

// peakMB is the most memory that a process had.
func peakMB(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(u.Maxrss) >> 10
}
