package client

import (
	"net"

	"tokenmeter/clock"
)

// stamped is a connection that tells when the bytes of a read arrived, on the
// wall clock; 0 when it does not know. Tests use it to play the kernel.
type stamped interface {
	ReadStamped(p []byte) (n int, wallNS int64, err error)
}

// source is the bottom of a connection, below TLS: it reads bytes and knows
// when they arrived.
type source struct {
	net.Conn
	clk *clock.Clock
	raw rawRead // the kernel's stamps; see stamp_linux.go

	// Of the last read:
	arrivedNS int64 // on the run's clock
	readNS    int64 // when we picked it up
	kernel    bool  // arrivedNS is the kernel's

	// emptyNS is the last moment at which nothing was waiting: what is read
	// later arrived after it.
	emptyNS int64
	offset  int64 // wall less monotonic clock at the last read
	allSeen bool  // every read since begin had a kernel stamp
}

func newSource(c net.Conn, clk *clock.Clock, stamps bool) *source {
	s := &source{Conn: c, clk: clk}
	if stamps {
		s.raw.enable(s)
	}
	return s
}

// begin marks the moment from which an answer can arrive: the request is
// written and nothing was waiting.
func (s *source) begin(at clock.Reading) {
	s.emptyNS, s.offset, s.allSeen = at.NS, at.OffsetNS(), true
}

// Read implements net.Conn, for TLS above.
func (s *source) Read(p []byte) (int, error) {
	if s.raw.on {
		return s.raw.read(p)
	}
	if st, ok := s.Conn.(stamped); ok {
		n, wall, err := st.ReadStamped(p)
		if n > 0 {
			s.arrived(wall, s.clk.Now(), s.emptyNS)
		}
		return n, err
	}
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.arrived(0, s.clk.Now(), 0)
	}
	return n, err
}

// arrived turns a stamp of the wall clock into a moment of the run's clock, by
// the stamp's age: the distance of two readings of one clock. The age is never
// more than the time since nothing was waiting, so that a step of the wall
// clock between arrival and read can't move an arrival far; where the step was
// seen, the other reading of the age is tried first.
func (s *source) arrived(stampNS int64, now clock.Reading, emptyNS int64) {
	s.readNS, s.arrivedNS = now.NS, now.NS
	s.kernel = stampNS != 0
	if !s.kernel {
		s.allSeen = false
		return
	}
	bound := max(now.NS-emptyNS, 0)
	age := now.WallNS - stampNS
	if age < 0 || age > bound {
		if before := age - (now.OffsetNS() - s.offset); before >= 0 && before <= bound {
			age = before
		}
	}
	s.offset = now.OffsetNS()
	s.arrivedNS = now.NS - min(max(age, 0), bound)
}
