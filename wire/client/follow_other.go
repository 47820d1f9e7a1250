//go:build !linux

package client

import "net"

// Follow does nothing here: Read reads on.
func (r *Passed) Follow(limit func() int64, take func(data []byte, at Arrived) bool) error {
	return nil
}

// Outlet needs Linux; elsewhere there is none.
type Outlet struct{}

// NewOutlet returns nil.
func NewOutlet(net.Conn) *Outlet { return nil }

// Send is never called.
func (*Outlet) Send([]byte) (int, error) { return 0, net.ErrClosed }
