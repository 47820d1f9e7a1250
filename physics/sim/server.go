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

	metrics *metrics
	late    lateness

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
	fixed   *pace // whose times are the same whatever happens beside
	model   model
	timers  timers
	scratch []byte
}

// message is news for the pacing goroutine.
type message struct {
	at     int64
	r      *reply
	cancel bool
	look   func() // instead of a request: something to do between events
}

// New makes a server. A configuration that Validate refuses panics.
func New(cfg Config) *Server {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, clock: newClock(cfg.Base), open: map[*conn]struct{}{}}
	s.fixed = &pace{cfg: &s.cfg}
	s.model = s.fixed
	if cfg.Engine != nil {
		s.model = newScheduled(s, *cfg.Engine)
	}
	s.metrics = newMetrics()
	s.log = newTruthLog(cfg.Truth, cfg.OnTruth)
	return s
}

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
			if m.look != nil {
				m.look()
				continue
			}
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
			s.fire(until)
			continue
		}
		if !ok {
			until = -1
		}
		s.waiter.wait(until)
	}
}

// due is the next moment at which something is to be done.
func (s *Server) due() (at int64, ok bool) {
	for _, x := range [...]interface{ next() (int64, bool) }{&s.timers, s.fixed, s.model} {
		if t, some := x.next(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// fire does one thing that is due next. Timers go first, so that what was put
// off keeps its place before what comes new.
func (s *Server) fire(at int64) {
	if t, ok := s.timers.next(); ok && t <= at {
		x := s.timers.pop()
		x.r.fire(x.at, x.do)
		return
	}
	if t, ok := s.fixed.next(); ok && t <= at {
		s.fixed.step()
		return
	}
	s.model.step()
}
