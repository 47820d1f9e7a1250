// Package gate is where clients' connections come in: it refuses requests whose
// end two servers could see in two places, and notices when a client leaves
// while its reply is awaited, whatever it sent behind its request.
package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Config is how a listener's connections are let in. Its zero value is of use.
type Config struct {
	TLS       *tls.Config   // nil: in the clear
	Handshake time.Duration // how long one of TLS may take; 0: 10 s
	MostHead  int           // bytes of a head that net/http takes; 0: its default of 1 MiB
	// Failed is told of handshakes that failed, but for clients that left in the
	// middle of one; nil: nobody is.
	Failed func(from net.Addr, err error)
	// Full is told of each connection for which there were no file descriptors, and with
	// ErrNoMemory of one for which Clients had no room; nil: nobody is. It may be called
	// from many goroutines.
	Full func(err error)
	// Clients is for connections, OfConn or OfTLS each, and for heads that are not whole yet; nil:
	// they are not counted.
	Clients Room
	// Room is for what clients send behind a request whose reply is awaited, 64 KiB of each
	// at most; nil: it is not counted.
	Room Room
}

// Listen returns a listener whose connections are for an http.Server, which must
// not be told of TLS: HTTP/2 after a handshake comes as a *tls.Conn, all else as
// a [Conn].
func Listen(ln net.Listener, cfg Config) net.Listener {
	cfg.MostHead = cmp.Or(cfg.MostHead, 1<<20)
	cfg.Handshake = cmp.Or(cfg.Handshake, 10*time.Second)
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	l := &listener{Listener: ln, cfg: cfg, mark: "X" + hex.EncodeToString(random[:]), come: make(chan net.Conn), over: make(chan struct{})}
	l.ctx, l.stop = context.WithCancel(context.Background())
	if cfg.TLS != nil {
		go l.acceptTLS()
	}
	return l
}

type listener struct {
	net.Listener
	cfg  Config
	mark string          // nobody can guess it
	ctx  context.Context // of handshakes
	stop context.CancelFunc

	// Of TLS:
	come chan net.Conn
	over chan struct{}
	err  error // when over is closed
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	if l.cfg.TLS == nil {
		c, err := l.accept()
		if err != nil {
			return nil, err
		}
		g := l.gated(c)
		g.counted = l.cfg.Clients != nil
		return g, nil
	}
	select {
	case c := <-l.come:
		return c, nil
	case <-l.over:
		return nil, l.err
	}
}

func (l *listener) gated(c net.Conn) *Conn {
	g := newConn(c, l.cfg.MostHead+8<<10, l.mark, l.cfg.Room) // net/http takes 4 KiB more than it says
	g.clients = l.cfg.Clients
	return g
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.stop()
	return l.Listener.Close()
}

// acceptTLS has a goroutine for every handshake, so that none waits for another.
func (l *listener) acceptTLS() {
	defer close(l.over)
	var pause time.Duration
	for {
		c, err := l.accept()
		if err != nil {
			if t, ok := err.(interface{ Temporary() bool }); ok && t.Temporary() { // as net/http does
				pause = min(max(2*pause, 5*time.Millisecond), time.Second)
				time.Sleep(pause)
				continue
			}
			l.err = err
			return
		}
		pause = 0
		if l.cfg.Clients != nil {
			c = &lodger{Conn: c, room: l.cfg.Clients}
		}
		go l.shake(tls.Server(c, l.cfg.TLS))
	}
}

func (l *listener) shake(c *tls.Conn) {
	ctx, stop := context.WithTimeout(l.ctx, l.cfg.Handshake)
	defer stop()
	if err := c.HandshakeContext(ctx); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) && record.Conn != nil && looksLikeHTTP(record.RecordHeader) {
			_ = record.Conn.SetDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
		}
		_ = c.NetConn().Close()
		if l.cfg.Failed != nil && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			l.cfg.Failed(c.RemoteAddr(), err)
		}
		return
	}
	var made net.Conn = c
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		made = secureConn{l.gated(c)}
	}
	select {
	case l.come <- made:
	case <-l.ctx.Done():
		_ = c.NetConn().Close()
	}
}

func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		return true
	}
	return false
}
