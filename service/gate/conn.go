package gate

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Conn is a client's connection. net/http reads it; what Read returns is what
// passed the gate.
type Conn struct {
	net.Conn

	mu      sync.Mutex
	cond    sync.Cond
	framing framing
	out     []byte // passed, and not read yet
	held    []byte // came, and was not looked at or is not whole
	err     error  // after all that
	reading bool   // somebody waits in Conn.Read
	ahead   bool   // it is the lookout
	late    bool   // whose read ended at a deadline
	room    Room   // for what it reads
	taken   int64  // of that
	clients Room   // for heads that are not whole yet, and for the connection where it is counted
	counted bool
	opened  bool  // what passes is another protocol, and none of ours
	heading int64 // of clients
	closed  bool
	gone    func() // is told that the client has gone; nil: nobody asks
}

// mostAhead is how much of further requests is kept while a reply is awaited.
const mostAhead = 64 << 10

// Room is memory that connections share with others.
type Room interface {
	// Take reports whether n more bytes may be held; then they must be given back.
	Take(n int64) bool
	Give(n int64)
}

func newConn(c net.Conn, mostHead int, mark string, room Room) *Conn {
	g := &Conn{Conn: c, room: room}
	g.cond.L = &g.mu
	g.framing.most, g.framing.mark = mostHead, mark
	_, g.framing.began = c.(*tls.Conn) // there HTTP/2 has another way to begin
	return g
}

// Of is the connection's gate, which may lie under others; nil: it has none.
func Of(c net.Conn) *Conn {
	for c != nil {
		switch g := c.(type) {
		case *Conn:
			return g
		case secureConn:
			return g.Conn
		}
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = over.NetConn()
	}
	return nil
}

// NetConn is the connection behind the gate.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// CloseWrite closes our direction, where that can be done alone.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// secureConn is a Conn of TLS, which net/http asks for its state.
type secureConn struct{ *Conn }

// ConnectionState is that of TLS.
func (c secureConn) ConnectionState() tls.ConnectionState {
	return c.Conn.Conn.(*tls.Conn).ConnectionState()
}

// Refused says in words why this request, which has come in another form, was
// refused; empty: it is as the client sent it. The connection takes no further one.
func (c *Conn) Refused(h http.Header) string {
	if c == nil || h[c.framing.mark] == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.framing.why
}

// Open lets everything pass from now on: what follows is another protocol.
func (c *Conn) Open() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing.state, c.opened = raw, true
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if len(c.out) == 0 && len(c.held) > 0 {
			pass, rest := c.sift(c.held)
			c.out, c.held = pass, append([]byte(nil), rest...)
			if instead, full := c.headFits(); full {
				c.out = append(c.out, instead...)
			}
		}
		if len(c.out) > 0 {
			n := copy(p, c.out)
			if c.out = c.out[n:]; len(c.out) == 0 {
				c.out = nil
				c.giveBut(twice * int64(len(c.held)))
			}
			return n, nil
		}
		switch {
		case c.late:
			c.late = false
			return 0, os.ErrDeadlineExceeded
		case c.err != nil:
			return 0, c.err
		case len(p) == 0:
			return 0, nil
		case c.reading:
			c.cond.Wait()
			continue
		}
		n, err := c.fill(p)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if n == 0 {
				return 0, err
			}
		case err != nil:
			c.err = err // told when what came before is read
		case c.gone != nil:
			c.look()
		}
		if n > 0 {
			return n, nil
		}
	}
}

// fill takes one read of the connection. What of it can be put into p at once
// it counts.
func (c *Conn) fill(p []byte) (int, error) {
	b := p
	if len(p) > 1 && len(p) < wide { // one byte is what net/http waits for while a reply is made
		pooled := buffers.Get().(*[wide]byte)
		defer buffers.Put(pooled)
		b = pooled[:]
	}
	n, err := c.read(b)
	if n == 0 {
		return 0, err
	}
	if len(c.held) > 0 {
		c.held = append(c.held, b[:n]...)
		if instead, full := c.headFits(); full {
			c.out = append(c.out, instead...)
		}
		return 0, err
	}
	pass, rest := c.sift(b[:n])
	c.held = append([]byte(nil), rest...)
	if instead, full := c.headFits(); full {
		pass = append(pass, instead...)
	}
	if len(pass) > 0 && &pass[0] == &p[0] {
		return len(pass), err
	}
	n = copy(p, pass)
	c.out = append([]byte(nil), pass[n:]...)
	return n, err
}

// wide is how much is read at once of a connection whose reader asks for little.
const wide = 4 << 10

var buffers = sync.Pool{New: func() any { return new([wide]byte) }}

// read waits for bytes of the connection. c.mu is held but for that time.
func (c *Conn) read(p []byte) (int, error) {
	c.reading = true
	c.mu.Unlock()
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.reading = false
	c.cond.Broadcast()
	return n, err
}

// headFits takes room for the head that comes, of which the server keeps all but what the
// gate holds; full: there is none. Then the request ends with instead, and is refused.
func (c *Conn) headFits() (instead string, full bool) {
	f := &c.framing
	switch {
	case c.clients == nil:
		return "", false
	case f.state == raw && c.counted && !c.opened:
		if !c.head(ofHTTP2) {
			c.held, c.err = nil, io.EOF
			return "", true
		}
		return "", false
	case f.state != inLine && f.state != inFields:
		c.head(0)
		return "", false
	}
	if c.head(HeadRoom(f.heading.size+len(c.held), f.heading.lines)) {
		return "", false
	}
	c.held = nil
	if f.state == inLine {
		instead = "\r\n\r\n" // a line that long is none
	} else {
		f.why = NoRoom
		instead = f.mark + ": 1\r\nConnection: close\r\n\r\n"
	}
	f.state = over
	c.head(0)
	return instead, true
}

// head takes or gives room so that a head has so much. c.mu is held.
func (c *Conn) head(n int64) bool {
	switch more := n - c.heading; {
	case more > 0 && !c.clients.Take(more):
		return false
	case more < 0:
		c.clients.Give(-more)
	}
	c.heading = n
	return true
}

// NoRoom is why a request is refused whose head finds no memory.
const NoRoom = "the requests of other clients take all the memory that there is for them"

// HeadRoom is what a head of so many bytes and lines takes of the memory for clients, beyond
// what each request has: it is there up to three times, and a field has an entry of a map.
func HeadRoom(bytes, lines int) int64 {
	return int64(max(3*bytes+256*lines-usualHead, 0))
}

// usualHead is what heads of most requests need.
const usualHead = 12 << 10

// sift returns what of in passes, and what must wait for more. When all that
// passes stands at the beginning of in, it is not copied.
func (c *Conn) sift(in []byte) (pass, rest []byte) {
	n := 0 // of in, passed as it is
	for n < len(in) {
		k, drop, instead := c.framing.next(in[n:])
		n += k
		if drop > 0 || instead != "" {
			pass = append(append(pass, in[:n]...), instead...)
			in, n = in[n+drop:], 0
		} else if k == 0 {
			break
		}
	}
	if pass == nil {
		return in[:n:n], in[n:]
	}
	return append(pass, in[:n]...), in[n:]
}

// Watch tells once when the client goes, whatever it has sent by then; at most
// until stop is called, which must be before anybody else reads on. net/http
// notices only the end of a client that sends nothing behind its request.
func (c *Conn) Watch(gone func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.gone = gone; {
	case c.err != nil:
		go gone()
	case !c.reading:
		c.look()
	}
	return c.unwatch
}

// Left reports whether the client has gone, where the kernel tells without a
// read (on Linux): nobody reads while a body's last piece is passed on. An end
// that waits behind more than the kernel takes unread is not seen.
func (c *Conn) Left() bool {
	under := c.Conn
	if secure, ok := under.(*tls.Conn); ok {
		under = secure.NetConn()
	}
	return ended(under)
}

func (c *Conn) unwatch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone = nil; !c.ahead {
		return
	}
	c.cond.Broadcast()
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0))
	for c.ahead {
		c.cond.Wait()
	}
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.mu.Lock()
	if !c.closed && c.counted {
		c.clients.Give(OfConn)
	}
	c.closed = true
	c.giveBut(0)
	c.head(0)
	c.cond.Broadcast()
	c.mu.Unlock()
	return c.Conn.Close()
}

// twice is what a slice that grows may take of memory for a byte in it.
const twice = 2

// keep puts b behind what is held, and reports whether there was room for it. The
// first piece needs none: without a byte the reader would see the client's end.
// c.mu is held.
func (c *Conn) keep(b []byte) bool {
	n := twice * int64(len(b))
	if len(c.held) == 0 {
		n = 0
	}
	if c.closed || len(c.held)+len(b) > mostAhead || n > 0 && c.room != nil && !c.room.Take(n) {
		return false
	}
	c.taken += n
	c.held = append(c.held, b...)
	return true
}

// giveBut gives room back but for so much. c.mu is held.
func (c *Conn) giveBut(n int64) {
	if c.room != nil && c.taken > n {
		c.room.Give(c.taken - n)
	}
	c.taken = min(c.taken, n)
}

// look begins to read ahead. c.mu is held.
func (c *Conn) look() {
	if !c.ahead {
		c.ahead, c.reading = true, true
		go c.lookout()
	}
}

// fullWait is how long nothing is read of a client that sent more than is kept. It may have
// its reply, and we not be done with that yet.
const fullWait = time.Second

// overfull waits until nobody asks for the client any more, but not for long. c.mu is held
// but for that time.
func (c *Conn) overfull() (unwatched bool) {
	over := false
	timer := time.AfterFunc(fullWait, func() {
		c.mu.Lock()
		over = true
		c.cond.Broadcast()
		c.mu.Unlock()
	})
	defer timer.Stop()
	for c.gone != nil && !over && !c.closed {
		c.cond.Wait()
	}
	return c.gone == nil && !c.closed
}

// lookout reads until the client has gone or nobody asks any more. What it reads
// are further requests; beyond a bound, or when there is no room, they are dropped
// after a while, and the connection ends when those before are answered.
func (c *Conn) lookout() {
	var buf [1 << 10]byte
	for {
		n, err := c.Conn.Read(buf[:])
		c.mu.Lock()
		if n > 0 && c.framing.state != over && c.err == nil && !c.keep(buf[:n]) {
			if c.overfull() {
				c.held = append(c.held, buf[:n]...)
			} else {
				c.err = io.EOF
			}
		}
		gone := c.gone
		if gone == nil {
			_ = c.Conn.SetReadDeadline(time.Time{}) // before anybody reads on
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.late = gone != nil // it was not unwatch
			gone, c.gone = nil, nil
		case err != nil:
			c.err, c.gone = err, nil
		case gone != nil:
			c.cond.Broadcast()
			c.mu.Unlock()
			continue
		}
		c.ahead, c.reading = false, false
		c.cond.Broadcast()
		c.mu.Unlock()
		if gone != nil {
			gone()
		}
		return
	}
}
