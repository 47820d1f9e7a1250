package framing

import (
	"fmt"
	"io"
	"slices"
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

// mostCodings is how many codings are undone, one over the other. Each takes memory, up
// to 16 MiB of it, and a head has room for thousands.
const mostCodings = 4

// NewDecoder returns the decoder of a head's Content-Encoding fields, which make
// one list: gzip, deflate, br, zstd. It is nil when there is nothing to undo. One that
// is not nil must be closed, also when it was fed nothing.
func NewDecoder(fields ...string) (Decoder, error) {
	var opens []func(io.Reader) (io.Reader, error)
	for coding := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		coding = strings.ToLower(strings.TrimSpace(coding))
		switch coding {
		case "", "identity", "none", "utf-8": // servers of streams say none to keep compressors off
			continue
		case "gzip", "x-gzip":
			opens = append(opens, openGzip)
		case "deflate":
			opens = append(opens, openDeflate)
		case "br":
			opens = append(opens, openBrotli)
		case "zstd":
			opens = append(opens, openZstd)
		default:
			return nil, fmt.Errorf("content encoding %q is not supported (gzip, deflate, br and zstd are)", coding)
		}
		if len(opens) > mostCodings {
			return nil, fmt.Errorf("more than %d content encodings, one over the other", mostCodings)
		}
	}
	var chain Decoder
	for _, open := range slices.Backward(opens) { // the last one applied comes off first
		var d Decoder = newCapped(newPulled(open))
		if chain == nil {
			chain = d
		} else {
			chain = &chained{outer: chain, inner: d}
		}
	}
	return chain, nil
}

// Coded reports whether a head's Content-Encoding fields name a coding, be it known or not.
func Coded(fields []string) bool {
	d, err := NewDecoder(fields...)
	if d != nil {
		_ = d.Close()
	}
	return d != nil || err != nil
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
