package proxy

import (
	"net"
	"net/http"
	"slices"
	"strconv"

	"tokenmeter/wire/client"
	"tokenmeter/wire/framing"
)

// direct is the short way to an HTTP/1.1 client on a plain socket, for replies
// in chunks: each read becomes one chunk that is sent at once, past net/http.
// That has written the head and will write the end. What the socket does not
// take at once goes the long way, and so does the rest of the reply.
type direct struct {
	conn net.Conn
	out  *client.Outlet // nil: there is no short way
	// frame is the chunk in hand, its first room bytes kept for its size.
	frame []byte
	// What the socket did not take, and the read it is of:
	rest []byte
	read []byte
	at   client.Arrived

	idle   int   // bytes since the last token,
	tokens int64 // of which there were so many
}

const (
	room       = 8 // for the size of a chunk that a read can bring, CR and LF
	firstFrame = 512
	mostFrame  = 4 << 10 // that is kept
	mostIdle   = 64 << 10
	// mostOver is how far the parser may be over what reads may cost. Once is
	// no sign: a thread that has to wait for a processor seems as slow.
	mostOver = 5 * int64(parserRead)
)

// shortWay opens it where the reply will be in chunks, as net/http decides it.
func (d *downstream) shortWay(reply *client.Passed, in *http.Request) {
	_, sized := d.c.w.Header()["Content-Length"]
	// What is compressed may decode to much more than a read: others must not wait for that.
	if sized || framing.Coded(reply.Header["Content-Encoding"]) || in.ProtoMajor != 1 || in.ProtoMinor < 1 || in.Method == http.MethodHead || reply.Status != http.StatusOK {
		return
	}
	nc, _ := in.Context().Value(connKey{}).(net.Conn)
	if g := d.c.gate; g != nil {
		nc = g.NetConn()
	}
	d.direct = direct{conn: nc, out: client.NewOutlet(nc)}
}

// offer sends the bytes of one read on the short way. false: the long way goes on.
func (d *downstream) offer(data []byte, at client.Arrived, strip *stripper) bool {
	if d.left.gone() {
		d.waste(data, at)
		return false
	}
	s := &d.direct
	var empty [room]byte
	if s.frame == nil {
		s.frame = make([]byte, 0, firstFrame)
	}
	s.frame = append(s.frame[:0], empty[:]...)
	if strip == nil {
		s.frame = append(s.frame, data...)
	} else {
		_ = strip.feed(data, s.add)
	}
	chunk := s.chunk()
	n, err := s.out.Send(chunk)
	switch {
	case err != nil:
		d.waste(data, at)
		d.left.now() // gone
		return false
	case n < len(chunk):
		s.rest, s.read, s.at = slices.Clone(chunk[n:]), slices.Clone(data), at
		return false
	}
	d.wrote(d.c.p.clk.NS(), at, 0)
	if cap(s.frame) > mostFrame {
		s.frame = nil // streams that wait hold little
	}
	return true
}

func (s *direct) add(data []byte) error {
	s.frame = append(s.frame, data...)
	return nil
}

// chunk puts the size before the frame's bytes and the end behind them. Without
// bytes there is no chunk: an empty one would be the last.
func (s *direct) chunk() []byte {
	n := len(s.frame) - room
	if n == 0 {
		return nil
	}
	var digits [room]byte
	size := append(strconv.AppendInt(digits[:0], int64(n), 16), '\r', '\n')
	from := room - len(size)
	copy(s.frame[from:], size)
	s.frame = append(s.frame, '\r', '\n')
	return s.frame[from:]
}

// settle writes what the socket did not take, and waits for it. It returns the
// read that this belongs to; nil: there was none.
func (d *downstream) settle() (data []byte, at client.Arrived) {
	s := &d.direct
	data, at = s.read, s.at
	if data == nil {
		return nil, at
	}
	began := d.c.p.clk.NS()
	d.extend(began)
	_, err := s.conn.Write(s.rest)
	now := d.c.p.clk.NS()
	s.rest, s.read = nil, nil
	if err != nil {
		d.waste(data, at)
		d.left.now()
		return data, at
	}
	d.wrote(now, at, d.slow(began, now))
	return data, at
}

// heavy reports whether the parser may need long for one of the next reads: much
// came without a token in it, or it needed long again and again. Others must not wait for it.
func (d *downstream) heavy(n int) bool {
	s, m := &d.direct, d.c.meter
	if m.stream == nil {
		return false
	}
	if s.idle += n; m.stream.Tokens() > s.tokens {
		s.idle, s.tokens = 0, m.stream.Tokens()
	}
	return s.idle > mostIdle || m.overNS > mostOver
}
