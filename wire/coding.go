package wire

import (
	"fmt"
	"strings"
)

// Decoder undoes a content encoding while the bytes come in: whatever can be
// decoded from the bytes so far is emitted at once, so that decompression moves
// no arrival.
type Decoder interface {
	// Feed takes the bytes of one read and calls emit for what they decode to.
	// The emitted bytes are valid until emit returns.
	Feed(p []byte, emit func([]byte) error) error
	// Close tells that the body ended and frees the decoder. The error is
	// io.ErrUnexpectedEOF when the encoded data stops short.
	Close() error
}

// NewDecoder returns the decoder of a Content-Encoding header: gzip, deflate,
// br, zstd or a list of them. It is nil when there is nothing to undo.
func NewDecoder(encoding string) (Decoder, error) {
	var chain Decoder
	codings := strings.Split(encoding, ",")
	for i := len(codings) - 1; i >= 0; i-- { // the last one applied comes off first
		d, err := newDecoder(strings.ToLower(strings.TrimSpace(codings[i])))
		if err != nil {
			return nil, err
		}
		switch {
		case d == nil:
		case chain == nil:
			chain = d
		default:
			chain = &chained{outer: chain, inner: d}
		}
	}
	return chain, nil
}

func newDecoder(coding string) (Decoder, error) {
	switch coding {
	case "", "identity":
		return nil, nil
	case "gzip", "x-gzip":
		return newGzip(), nil
	case "deflate":
		return newDeflate(), nil
	case "br":
		return newBrotli(), nil
	case "zstd":
		return newZstd(), nil
	}
	return nil, fmt.Errorf("content encoding %q is not supported (gzip, deflate, br and zstd are)", coding)
}

// chained undoes two codings.
type chained struct{ outer, inner Decoder }

func (c *chained) Feed(p []byte, emit func([]byte) error) error {
	return c.outer.Feed(p, func(q []byte) error { return c.inner.Feed(q, emit) })
}

func (c *chained) Close() error {
	err := c.outer.Close()
	if inner := c.inner.Close(); err == nil {
		err = inner
	}
	return err
}
