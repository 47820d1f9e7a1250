package sim

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Server is a simulated inference server.
type Server struct {
	cfg   Config
	clock simClock
	log   *truthLog

	requests atomic.Int64
	conns    atomic.Int64

	mu     sync.Mutex
	inbox  []message
	open   map[*conn]struct{}
	lns    []net.Listener
	waiter waiter // nil until Serve
	closed bool
	driver sync.WaitGroup
	reads  sync.WaitGroup

	// Of the pacing goroutine.
	model   model
	timers  timers
	scratch []byte
}

// message is news for the pacing goroutine.
type message struct {
	at     int64
	r      *reply
	cancel bool
}

// New makes a server. A configuration that Validate refuses panics.
func New(cfg Config) *Server {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, clock: newClock(cfg.Base), open: map[*conn]struct{}{}}
	s.model = &pace{cfg: &s.cfg}
	s.log = newTruthLog(cfg.Truth, cfg.OnTruth)
	return s
}

// Now is the time on the truth's clock, in nanoseconds.
func (s *Server) Now() int64 { return s.clock.now() }

// Serve answers the connections of a listener until Close. On a TCP listener
// the writes are paced by the kernel's clock; on any other, by the runtime's
// timers, which are exact in virtual time.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return net.ErrClosed
	}
	s.lns = append(s.lns, ln)
	if s.waiter == nil {
		if _, tcp := ln.Addr().(*net.TCPAddr); tcp {
			s.waiter = newPreciseWait(s.clock)
		} else {
			s.waiter = newTimerWait(s.clock)
		}
		s.driver.Go(s.drive)
	}
	s.mu.Unlock()
	for {
		nc, err := ln.Accept()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.closed || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		c := newConn(s, nc)
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			nc.Close()
			return nil
		}
		s.open[c] = struct{}{}
		s.reads.Add(1)
		s.mu.Unlock()
		go c.serve()
	}
}

// Close stops at once: connections are cut, and what is known of requests in
// flight goes to the truth as cancelled. It returns the truth's write error.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for _, ln := range s.lns {
		ln.Close()
	}
	for c := range s.open {
		c.out.kill()
	}
	w := s.waiter
	s.mu.Unlock()
	if w != nil {
		s.reads.Wait()
		s.mu.Lock()
		s.inbox = append(s.inbox, message{})
		s.mu.Unlock()
		w.wake()
		s.driver.Wait()
		w.close()
	}
	return s.log.close()
}

// post hands news to the pacing goroutine.
func (s *Server) post(m message) {
	s.mu.Lock()
	s.inbox = append(s.inbox, m)
	w := s.waiter
	s.mu.Unlock()
	w.wake()
}

// drive does everything that is due, in the order in which it is due.
func (s *Server) drive() {
	var spare []message
	for {
		s.mu.Lock()
		news := s.inbox
		s.inbox = spare[:0]
		s.mu.Unlock()
		for i, m := range news {
			if m.r == nil {
				return
			}
			if m.cancel {
				m.r.cancel(m.at)
			} else {
				m.r.submit(m.at)
			}
			news[i] = message{}
		}
		spare = news
		until, ok := s.due()
		if ok && until <= s.clock.now() {
			s.fire()
			continue
		}
		if !ok {
			until = -1
		}
		s.waiter.wait(until)
	}
}

func (s *Server) due() (int64, bool) {
	m, ok1 := s.model.next()
	t, ok2 := s.timers.next()
	switch {
	case !ok1:
		return t, ok2
	case !ok2:
		return m, ok1
	}
	return min(m, t), true
}

func (s *Server) fire() {
	m, ok := s.model.next()
	if t, ok2 := s.timers.next(); ok2 && (!ok || t <= m) {
		x := s.timers.pop()
		x.r.fire(x.at, x.do)
		return
	}
	s.model.step()
}
