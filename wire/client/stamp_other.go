//go:build !linux

package client

import (
	"io"
	"syscall"
)

// rawRead is the kernel's stamps, which this system has not.
type rawRead struct {
	on     bool
	noWait bool
}

func (r *rawRead) enable(*source) {}

func (r *rawRead) read([]byte) (int, error)             { return 0, io.ErrUnexpectedEOF }
func (r *rawRead) readPooled() (*buffer, int, error)    { return nil, 0, io.ErrUnexpectedEOF }
func (s *source) peek() peeked                          { return quiet }
func stampControl(_, _ string, _ syscall.RawConn) error { return nil }
func stampsOn()                                         {}
