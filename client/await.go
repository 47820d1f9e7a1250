package client

import (
	"context"
	"errors"

	"tokenmeter/timeline"
)

// awaited is what the reactor needs of an exchange whose reply it reads.
type awaited struct {
	ctx   context.Context
	sock  *socket
	done  chan struct{}
	place int   // among the deadlines; -1: none
	dueNS int64 // when the reactor looks at the limits next
	last  int64 // when the token before arrived; 0: none did

	// The outcome:
	decided verdict
	keep    bool
}

var errUnsent = errors.New("the socket did not take the whole request at once")

// await sends the request on a socket of the reactor and waits until that has
// read the reply. In between the exchange is the reactor's alone.
func (x *exchange) await(ctx context.Context, cn *conn) (verdict, bool) {
	s, w := cn.sock, &x.awaited
	if w.done == nil {
		w.done = make(chan struct{}, 1)
	}
	w.ctx, w.sock, w.place, w.last = ctx, s, -1, 0
	err := x.send(&s.stamper, func(p []byte) error { return x.offer(s, p) })
	if err != errUnsent {
		x.writeErr = err // the server may have answered all the same
	}
	w.dueNS, _ = x.limit()
	s.reactor.post(note{x: x, byNS: w.dueNS})
	unhook := context.AfterFunc(ctx, func() { s.reactor.post(note{x: x, cancel: true}) })
	<-w.done
	unhook()
	return w.decided, w.keep
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
	n, err := x.sock.write(x.unsent)
	x.unsent = x.unsent[n:]
	switch {
	case err != nil:
		x.writeErr, x.unsent = err, nil
	case len(x.unsent) == 0:
		x.sentNS = x.c.clk.NS()
		x.tl.SentUS = timeline.Some(x.us(x.sentNS))
	}
}
