package client

import (
	"crypto/tls"
	"errors"
	"io"
	"sync"
	"time"

	"tokenmeter/base/clock"
)

// buffer takes the bytes of one read. It holds a whole TLS record, so that no
// record is spread over reads.
type buffer [16 << 10]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func getBuffer() *buffer { return buffers.Get().(*buffer) }

func putBuffer(b *buffer) {
	if b != nil {
		buffers.Put(b)
	}
}

// peeked is what a look at an idle connection found.
type peeked int

const (
	quiet   peeked = iota // open, nothing waits
	waiting               // bytes wait that nobody asked for
	gone                  // closed
)

// nothingYet is what a read without waiting returns. TLS keeps a connection
// usable after a temporary error.
type nothingYet struct{}

func (nothingYet) Error() string   { return "nothing to read yet" }
func (nothingYet) Timeout() bool   { return true }
func (nothingYet) Temporary() bool { return true }

var errNothing error = nothingYet{}

// conn is one connection to the target: a socket of the reactor, or a source
// that a goroutine reads.
type conn struct {
	sock   *socket // nil: plain
	src    *source
	tls    *tls.Conn  // nil without TLS
	ws     *webSocket // nil: no WebSocket, or none yet
	remote string

	armed  int64 // deadline of reads on the run's clock; 0: none
	served int   // requests that were answered on it
	// While idle:
	idle      bool   // it waited in the pool before this request
	expiresNS int64  // when the server said it will close it; 0: unknown
	sinceNS   int64  // when it was put back
	owner     string // the session that alone may use it; empty: anybody
}

// readOne returns the bytes of one read in a buffer that the caller puts back,
// or what stopped it. The source then tells when they arrived.
func (c *conn) readOne() (*buffer, int, error) {
	if c.tls == nil && c.src.raw.on {
		return c.src.raw.readPooled()
	}
	b := getBuffer()
	var n int
	var err error
	if c.tls != nil {
		n, err = c.tls.Read(b[:])
	} else {
		n, err = c.src.Read(b[:])
	}
	if n > 0 {
		return b, n, nil // an error comes again
	}
	putBuffer(b)
	if err == nil {
		err = io.ErrNoProgress
	}
	return nil, 0, err
}

// write sends a whole request at once.
func (c *conn) write(p []byte) error {
	var err error
	if c.tls != nil {
		_, err = c.tls.Write(p)
	} else {
		_, err = c.src.Conn.Write(p)
	}
	return err
}

// arm sets the deadline of reads, when that is needed: an earlier one that is
// already set only wakes the reader, who then looks at the true limit.
func (c *conn) arm(clk *clock.Clock, ns int64) {
	if ns == c.armed || ns > c.armed && c.armed > clk.NS() {
		return
	}
	c.armed = ns
	_ = c.src.SetReadDeadline(deadline(clk, ns))
}

// farFuture stands for no limit.
const farFuture = int64(1) << 62

func deadline(clk *clock.Clock, ns int64) time.Time {
	if ns >= farFuture {
		return time.Time{}
	}
	return clk.Time(ns)
}

// alive looks whether an idle connection can still be used.
func (c *conn) alive() bool {
	switch {
	case c.sock != nil:
		return c.sock.peek() == quiet
	case c.ws != nil:
		return c.ws.open()
	}
	switch c.src.peek() {
	case gone:
		return false
	case quiet:
		return true
	}
	if c.tls == nil || !c.src.raw.on {
		return false
	}
	// Under TLS what waits may be a session ticket; let TLS read it.
	var b [1]byte
	c.armed = 0
	_ = c.src.SetReadDeadline(time.Time{})
	c.src.raw.noWait = true
	_, err := c.tls.Read(b[:])
	c.src.raw.noWait = false
	return errors.Is(err, errNothing)
}

// close ends the connection at once: no TLS farewell that could block.
func (c *conn) close() {
	if c.sock != nil {
		c.sock.close()
		return
	}
	if c.ws != nil {
		c.ws.shut()
	}
	_ = c.src.Conn.Close()
}
