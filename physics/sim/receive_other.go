//go:build !linux

package sim

import "net"

// source reads a connection and knows when the last bytes came.
type source struct {
	nc     net.Conn
	clock  simClock
	lastNS int64
	kernel bool
}

func newSource(nc net.Conn, clock simClock) *source { return &source{nc: nc, clock: clock} }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.nc.Read(p)
	s.lastNS = s.clock.now()
	return n, err
}
