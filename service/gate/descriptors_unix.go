//go:build unix

package gate

import (
	"net"
	"syscall"
)

// reserve is how many of the process's file descriptors are kept for health
// checks, metrics and files. The kernel gives out the lowest that is free, so
// one's number tells how many are in use.
func reserve() (from int) {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || r.Cur > 1<<30 {
		return 1 << 30
	}
	limit := int(r.Cur)
	return limit - min(max(limit/8, 16), 64)
}

// descriptor is a connection's; −1: it has none.
func descriptor(c net.Conn) int {
	s, ok := c.(syscall.Conn)
	if !ok {
		return -1
	}
	rc, err := s.SyscallConn()
	if err != nil {
		return -1
	}
	n := -1
	_ = rc.Control(func(fd uintptr) { n = int(fd) })
	return n
}
