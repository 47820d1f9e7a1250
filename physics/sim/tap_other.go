//go:build !linux

package sim

import (
	"net"
	"time"
)

// tap is the reading end of a self-check.
type tap struct{ nc *net.TCPConn }

func dialTap(addr *net.TCPAddr) (*tap, error) {
	nc, err := net.DialTCP("tcp", nil, addr)
	if err != nil {
		return nil, err
	}
	return &tap{nc}, nil
}

func (t *tap) send(p []byte) error {
	_, err := t.nc.Write(p)
	return err
}

// drain reads what the socket holds, waiting no longer than it must.
func (t *tap) drain(buf []byte) {
	t.nc.SetReadDeadline(time.Now().Add(time.Microsecond))
	for {
		if n, err := t.nc.Read(buf); err != nil || n < len(buf) {
			return
		}
	}
}

func (t *tap) close() { t.nc.Close() }
