package gate

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// established is TCP_ESTABLISHED of Linux's include/net/tcp_states.h.
const established = 1

// ended reports whether the other side has ended a connection of TCP or its
// direction of it, as the kernel sees it: what was sent before may be unread.
func ended(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	over := false
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		over = err == nil && info.State != established
	})
	return over
}
