package framing

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

// NewDecoder returns the decoder of a head's Content-Encoding fields, which make
// one list: gzip, deflate, br, zstd. It is nil when there is nothing to undo.
func NewDecoder(fields ...string) (Decoder, error) {
	var chain Decoder
	codings := strings.Split(strings.Join(fields, ","), ",")
	for i := len(codings) - 1; i >= 0; i-- { // the last one applied comes off first
		d, err := newDecoder(strings.ToLower(strings.TrimSpace(codings[i])))
		if err != nil {
			return nil, err
		}
		if d != nil {
			d = newCapped(d)
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
		return newPulled(openGzip), nil
	case "deflate":
		return newPulled(openDeflate), nil
	case "br":
		return newPulled(openBrotli), nil
	case "zstd":
		return newPulled(openZstd), nil
	}
	return nil, fmt.Errorf("content encoding %q is not supported (gzip, deflate, br and zstd are)", coding)
}

// mostDecoded is what the bytes of one Feed may decode to. Some codings say half
// a gigabyte in a few bytes, and several codings multiply.
const mostDecoded = 64 << 20

// capped is a decoder that holds to it.
type capped struct {
	Decoder
	left int
	to   func([]byte) error
	take func([]byte) error // bound once
}

func newCapped(d Decoder) *capped {
	c := &capped{Decoder: d}
	c.take = func(p []byte) error {
		if c.left -= len(p); c.left < 0 {
			return &TooLargeError{mostDecoded}
		}
		return c.to(p)
	}
	return c
}

func (c *capped) Feed(p []byte, emit func([]byte) error) error {
	c.left, c.to = mostDecoded, emit
	return c.Decoder.Feed(p, c.take)
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
