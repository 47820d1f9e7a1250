//go:build lean

package framing

import (
	"errors"
	"io"
)

// brotliReader refuses: a lean build does not decode br, which no server uses
// unasked.
func brotliReader(io.Reader) io.Reader { return noBrotli{} }

type noBrotli struct{}

func (noBrotli) Read([]byte) (int, error) {
	return 0, errors.New("this build does not decode br (tag lean)")
}
