package client

import (
	"net"
	"syscall"
)

// Outlet sends on a TCP connection without ever waiting. One goroutine uses it
// at a time.
type Outlet struct {
	rc   syscall.RawConn
	give func(fd uintptr)
	p    []byte
	n    int
	err  error
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
		o.n, o.err = transmit(int(fd), o.p)
	}
	return o
}

// Send returns how much of p the connection took. Less than all without an
// error: it takes no more now.
func (o *Outlet) Send(p []byte) (int, error) {
	o.p, o.n, o.err = p, 0, nil
	if err := o.rc.Control(o.give); err != nil {
		o.err = err
	}
	o.p = nil
	return o.n, o.err
}
