//go:build !linux

package client

import (
	"net"

	"tokenmeter/base/clock"
)

// reactor needs Linux; elsewhere there is none.
type reactor struct{}

func newReactor(*clock.Clock) *reactor  { return nil }
func (*reactor) adopt(net.Conn) *socket { return nil }
func (*reactor) post(note)              {}
func (*reactor) close()                 {}

type note struct {
	x      *exchange
	cancel bool
	byNS   int64
}

type socket struct {
	stamper
	reactor *reactor
}

func (*socket) close()                    {}
func (*socket) peek() peeked              { return gone }
func (*socket) write([]byte) (int, error) { return 0, errUnsent }
