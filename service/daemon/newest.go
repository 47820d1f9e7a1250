package daemon

import (
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
)

// mostAdmins is how many connections the admin listener holds: many more than probes and
// scrapers have.
const mostAdmins = 256

// newest holds at most so many connections of a listener, and where file descriptors are
// short fewer: one more ends the oldest. Who asks for /healthz is heard, however many
// others hold theirs and say nothing.
type newest struct {
	net.Listener
	most int

	mu   sync.Mutex
	held []*newestConn // the oldest first
}

type newestConn struct {
	net.Conn
	of *newest
}

// Accept returns the next connection.
func (l *newest) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err == nil:
			c := &newestConn{conn, l}
			l.mu.Lock()
			l.held = append(l.held, c)
			l.mu.Unlock()
			l.end(l.most)
			return c, nil
		case !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) || !l.end(0):
			return nil, err
		}
	}
}

// end ends the oldest connection where more than so many are held; false: there were not.
func (l *newest) end(most int) bool {
	l.mu.Lock()
	if len(l.held) <= most {
		l.mu.Unlock()
		return false
	}
	oldest := l.held[0]
	l.mu.Unlock()
	_ = oldest.Close()
	return true
}

// Close ends the connection, which is not held any more.
func (c *newestConn) Close() error {
	c.of.mu.Lock()
	if i := slices.Index(c.of.held, c); i >= 0 {
		c.of.held = slices.Delete(c.of.held, i, i+1)
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}
