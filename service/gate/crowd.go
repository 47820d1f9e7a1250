package gate

import (
	"errors"
	"io"
	"net"
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

const crowdedBody = `{"error":{"message":"tokenmeter: no file descriptors are left for further clients","type":"proxy_error","code":"refused_descriptors"}}` + "\n"

// crowdedAnswer is what a client gets when there are no descriptors for it.
var crowdedAnswer = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nX-Tokenmeter-Error: refused_descriptors\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + crowdedBody

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
	if descriptor(c) < reserve()-spareForUpstreams {
		return false
	}
	l.full(syscall.EMFILE)
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
		_, _ = io.WriteString(c, crowdedAnswer)
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
