//go:build lean

package framing

import (
	"errors"
	"io"
)

// openBrotli refuses: a lean build does not decode br, which no server uses
// unasked.
func openBrotli(io.Reader) (io.Reader, error) {
	return nil, errors.New("this build does not decode br (tag lean)")
}
