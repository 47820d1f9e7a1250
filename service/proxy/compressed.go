package proxy

import (
	"errors"
	"io"
	"runtime"

	"tokenmeter/wire/framing"
)

// decoding is held by bodies that are decoded, as many at once as there are processors
// for: a decoder's window takes megabytes, however small the body.
var decoding = make(chan struct{}, runtime.GOMAXPROCS(0))

var errTooMuch = errors.New("the body decodes to too much")

// decoded is a request's body as its client wrote it, at most most bytes; false:
// it can't be read. What is passed on stays as it came.
func (c *call) decoded(data []byte, most int64) ([]byte, bool) {
	if len(c.in.Header["Content-Encoding"]) == 0 {
		return data, true
	}
	decoding <- struct{}{}
	defer func() { <-decoding }()
	d, err := framing.NewDecoder(c.in.Header["Content-Encoding"]...)
	if err != nil {
		return nil, false
	}
	if d == nil {
		return data, true
	}
	var plain []byte
	emit := func(p []byte) error {
		if int64(len(plain)+len(p)) > most {
			return errTooMuch
		}
		if !c.hold(int64(len(p))) {
			return errNoRoom
		}
		plain = append(plain, p...)
		return nil
	}
	for len(data) > 0 && err == nil { // in pieces: a bomb is seen early
		n := min(len(data), 4<<10)
		err = d.Feed(data[:n], emit)
		data = data[n:]
	}
	if closed := d.Close(); err == nil {
		err = closed
	}
	return plain, err == nil || errors.Is(err, io.EOF)
}
