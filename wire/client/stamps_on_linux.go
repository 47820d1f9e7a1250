package client

import (
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stampsOn looks for so long, mostly a millisecond or a few, and so often: while
// this process is kept from running, the kernel may be too.
const (
	stampsOnWithin = 100 * time.Millisecond
	stampsOnLooks  = 20
)

// stampsOn makes the kernel stamp what arrives, for as long as the process
// lives, and waits until it does. The kernel begins some milliseconds after the
// first socket that wants stamps appears and stops after the last has gone: the
// first replies would miss theirs. Where it gives none, reads are the arrivals.
var stampsOn = sync.OnceFunc(func() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	// It stays open: that is what keeps the stamps on.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags) != nil || !toItself(fd) {
		return
	}
	var in receiver
	var b [1]byte
	end := monotonic() + stampsOnWithin
	for looks := 0; looks < stampsOnLooks || monotonic() < end; looks++ {
		if _, err := transmit(fd, b[:]); err != nil {
			return
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1)
		if n, errno := in.receive(fd, b[:]); errno == 0 && n > 0 && in.stamp() != 0 {
			return
		}
		rest := unix.NsecToTimespec(int64(100 * time.Microsecond))
		_ = unix.Nanosleep(&rest, nil)
	}
})

// toItself binds a socket to a port of the loopback and connects it to that.
func toItself(fd int) bool {
	if syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) != nil {
		return false
	}
	own, err := syscall.Getsockname(fd) // that of package unix would bring addresses of all kinds into the program
	return err == nil && syscall.Connect(fd, own) == nil
}

// monotonic is the system's clock and not package time's, which in tests is
// virtual: the kernel's delay is not.
func monotonic() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano())
}
