//go:build !lean

package wire

import (
	"io"

	"github.com/andybalholm/brotli"
)

func brotliReader(in io.Reader) io.Reader { return brotli.NewReader(in) }
