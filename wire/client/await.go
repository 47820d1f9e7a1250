package client

import (
	"context"
	"errors"

	"tokenmeter/record/timeline"
)

// awaited is what the reactor needs of an exchange whose reply it reads.
type awaited struct {
	ctx    context.Context
	sock   *socket
	done   chan struct{} // somebody waits for the outcome,
	then   func()        // or wants to be called
	unhook func() bool   // from ctx
	place  int           // among the deadlines; -1: none
	dueNS  int64         // when the reactor looks at the limits next
	last   int64         // when the token before arrived; 0: none did

	// The outcome:
	decided verdict
	keep    bool
}

var errUnsent = errors.New("the socket did not take the whole request at once")

// await sends the request on a socket of the reactor and waits until that has
// read the reply. In between the exchange is the reactor's alone.
func (x *exchange) await(ctx context.Context, cn *conn) (verdict, bool) {
	if x.done == nil {
		x.done = make(chan struct{}, 1)
	}
	x.hand(ctx, cn)
	<-x.done
	x.unhook()
	return x.decided, x.keep
}

// launch makes an attempt on a socket of the reactor without waiting: then is
// called when it is decided.
func (x *exchange) launch(ctx context.Context, cn *conn, then func(verdict)) {
	x.onIdle = cn.idle
	x.then = func() {
		x.unhook()
		x.then = nil // what may follow is waited for
		x.release(cn, x.keep)
		then(x.decided)
	}
	x.hand(ctx, cn)
}

// idleSocket takes a connection of a reactor from the pool, when one waits there.
func (x *exchange) idleSocket(ctx context.Context) *conn {
	c := x.c
	if len(c.loops.all) == 0 || c.cfg.NoKeepAlive || ctx.Err() != nil {
		return nil
	}
	cn, dead := c.takeAlive(x.fits, false)
	if dead > 0 {
		x.tl.ConnRetries++
	}
	if cn != nil && cn.sock == nil {
		c.pool.put(cn)
		return nil
	}
	return cn
}

// hand sends the request and gives the exchange to the reactor.
func (x *exchange) hand(ctx context.Context, cn *conn) {
	s, w := cn.sock, &x.awaited
	w.ctx, w.sock, w.place, w.last = ctx, s, -1, 0
	err := x.send(&s.stamper, func(p []byte) error { return x.offer(s, p) })
	if err == nil {
		x.writeNS = x.lastNS // a socket that waits for nobody took all of it
	}
	if err != errUnsent {
		x.writeErr = err // the server may have answered all the same
	}
	w.dueNS, _ = x.limit()
	w.unhook = context.AfterFunc(ctx, func() { s.reactor.post(note{x: x, cancel: true}) })
	s.reactor.post(note{x: x, byNS: w.dueNS})
}

// offer writes what the socket takes at once and keeps the rest for the reactor.
func (x *exchange) offer(s *socket, p []byte) error {
	n, err := s.write(p)
	if err == nil && n < len(p) {
		x.unsent = append([]byte(nil), p[n:]...)
		err = errUnsent
	}
	return err
}

// writeOn gives the socket more of the request.
func (x *exchange) writeOn() {
	before := x.c.clk.NS()
	n, err := x.sock.write(x.unsent)
	x.unsent = x.unsent[n:]
	switch {
	case err != nil:
		x.writeErr, x.unsent = err, nil
	case len(x.unsent) == 0:
		x.writeNS, x.sentNS = before, x.c.clk.NS()
		x.tl.SentUS = timeline.Some(x.us(x.sentNS))
	}
}
