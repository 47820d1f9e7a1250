//go:build !lean

package framing

import (
	"io"

	"github.com/andybalholm/brotli"
)

func brotliReader(in io.Reader) io.Reader { return brotli.NewReader(in) }
