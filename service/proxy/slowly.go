package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// slowly reads a body that is passed on as it comes. Its client may be waited
// for so long in all, and longer the more has come; an upstream that takes it
// slowly costs nothing of that.
type slowly struct {
	c      *call
	from   io.Reader
	begun  bool // something of it may be gone
	n      int64
	waited time.Duration
	err    error // why it did not come whole
}

// slowest is what a client must send at least, in bytes a second.
const slowest = 1 << 10

func (s *slowly) Read(p []byte) (int, error) {
	began := time.Now()
	most := s.c.p.cfg.BodyTimeout + time.Duration(s.n/slowest)*time.Second
	_ = s.c.ctl.SetReadDeadline(began.Add(most - s.waited))
	s.begun = true
	n, err := s.readUnlessStopped(p)
	whole := errors.Is(err, io.EOF)
	s.c.unlimited(whole)
	if whole {
		s.c.left.watch()
	}
	s.n += int64(n)
	s.waited += time.Since(began)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// readUnlessStopped reads, and waits no longer when we are being stopped.
func (s *slowly) readUnlessStopped(p []byte) (int, error) {
	done := make(chan struct{})
	unhook := context.AfterFunc(s.c.in.Context(), func() {
		defer close(done)
		if s.c.stopped() {
			_ = s.c.ctl.SetReadDeadline(time.Unix(1, 0))
		}
	})
	n, err := s.from.Read(p)
	if !unhook() {
		<-done // the deadline may not be set when the request is over
	}
	return n, err
}

// refusable reports whether a body that did not come whole is to be refused: it
// is too large, too slow, or no HTTP. Else its client has gone: net/http ends
// the context of a request whose connection can't be read.
func (s *slowly) refusable() bool {
	var large *http.MaxBytesError
	return errors.As(s.err, &large) || errors.Is(s.err, os.ErrDeadlineExceeded) ||
		s.c.in.ProtoMajor == 1 && s.c.in.Context().Err() == nil
}
