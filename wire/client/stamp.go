package client

import (
	"net"

	"tokenmeter/base/clock"
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
	stamper
	raw rawRead // the kernel's stamps; see stamp_linux.go
}

func newSource(c net.Conn, clk *clock.Clock, stamps bool) *source {
	s := &source{Conn: c, stamper: stamper{clk: clk}}
	if stamps {
		s.raw.enable(s)
	}
	return s
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
