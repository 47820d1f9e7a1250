package client

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Outlet sends on a TCP connection without ever waiting. One goroutine uses it
// at a time.
type Outlet struct {
	rc    syscall.RawConn
	give  func(fd uintptr)
	p     []byte
	n     int
	errno syscall.Errno
}

// NewOutlet returns nil for what is no TCP connection.
func NewOutlet(c net.Conn) *Outlet {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	o := &Outlet{rc: rc}
	o.give = func(fd uintptr) {
		syncWrite(fd)
		o.n, o.errno = transmit(int(fd), o.p)
	}
	return o
}

// Send returns how much of p the connection took. Less than all without an
// error: it takes no more now.
func (o *Outlet) Send(p []byte) (int, error) {
	o.p, o.n, o.errno = p, 0, 0
	err := o.rc.Control(o.give)
	o.p = nil
	switch {
	case err != nil:
		return 0, err
	case o.errno == unix.EAGAIN:
		return 0, nil
	case o.errno != 0:
		return 0, os.NewSyscallError("sendto", o.errno)
	}
	return o.n, nil
}
