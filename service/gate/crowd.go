package gate

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Spare refuses a new connection that would take one of the file descriptors
// that are kept for health checks and metrics: the error is EMFILE, as if there
// were none. It is for connections to upstreams.
func Spare(c net.Conn) error {
	if descriptor(c) >= reserve() {
		return syscall.EMFILE
	}
	return nil
}

// crowdedAnswer is what a client gets when there is none of something left for it.
func crowdedAnswer(what, code string) string {
	return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nX-Tokenmeter-Error: " + code + "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" +
		`{"error":{"message":"tokenmeter: ` + what + `","type":"proxy_error","code":"` + code + `"}}` + "\n"
}

// ErrNoMemory says that clients take all the memory that there is for them.
var ErrNoMemory = errors.New("other clients take all the memory that there is for them")

// farewells are answers under way, of which there may be so many at once: they
// hold descriptors, too.
var farewells atomic.Int32

const (
	mostFarewells = 8
	farewellTime  = 500 * time.Millisecond
)

// crowded reports whether a connection can't be let in. It then is dealt with:
// answered where it speaks in the clear, and closed.
func (l *listener) crowded(c net.Conn) bool {
	var answer string
	switch {
	case descriptor(c) >= reserve()-spareForUpstreams:
		answer = crowdedAnswer("no file descriptors are left for further clients", "refused_descriptors")
		l.full(syscall.EMFILE)
	case l.cfg.Clients != nil && !l.cfg.Clients.Take(l.ofConn()):
		answer = crowdedAnswer(ErrNoMemory.Error(), "refused_memory")
		l.full(ErrNoMemory)
	default:
		return false
	}
	if l.cfg.TLS != nil || farewells.Add(1) > mostFarewells {
		if l.cfg.TLS == nil {
			farewells.Add(-1)
		}
		_ = c.Close()
		return true
	}
	go func() {
		defer farewells.Add(-1)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(farewellTime))
		_, _ = io.WriteString(c, answer)
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, c, 64<<10) // a close with bytes unread would take the answer back
	}()
	return true
}

// spareForUpstreams is for requests of clients that are there already.
const spareForUpstreams = 16

// full tells that there were no descriptors.
func (l *listener) full(err error) {
	if l.cfg.Full != nil {
		l.cfg.Full(err)
	}
}

// accept takes the next connection for which there is room.
func (l *listener) accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			l.full(err)
			return nil, err // net/http waits a little
		case err != nil:
			return nil, err
		case !l.crowded(c):
			return c, nil
		}
	}
}

// What a connection takes of the memory for clients while nothing is asked: in the clear;
// with TLS, whose handshake may have come in part; and in the clear what HTTP/2 takes more.
const (
	OfConn  = 12 << 10
	OfTLS   = 40 << 10
	ofHTTP2 = 20 << 10
)

func (l *listener) ofConn() int64 {
	if l.cfg.TLS != nil {
		return OfTLS
	}
	return OfConn
}

// lodger gives back what a connection of TLS took. One in the clear is none: the short way
// of replies wants the kernel's own.
type lodger struct {
	net.Conn
	room Room
	once sync.Once
}

// Close implements net.Conn.
func (c *lodger) Close() error {
	c.once.Do(func() { c.room.Give(OfTLS) })
	return c.Conn.Close()
}

// NetConn is the connection that is counted.
func (c *lodger) NetConn() net.Conn { return c.Conn }

// SyscallConn implements syscall.Conn.
func (c *lodger) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
