package client

import (
	"fmt"
	"net/http"
	"time"
)

// Limits on what a response may make us keep.
const (
	maxHead          = 64 << 10
	maxFields        = 256
	maxChunkLine     = 4 << 10
	maxChunk         = 1 << 40
	maxInformational = 16
)

// protocolError says how a peer broke HTTP/1.
type protocolError struct{ msg string }

func (e *protocolError) Error() string { return e.msg }

func broken(format string, args ...any) error {
	return &protocolError{"no valid HTTP/1 response: " + fmt.Sprintf(format, args...)}
}

type state uint8

const (
	inHead state = iota
	inFixed
	inUntilClose
	inChunkSize
	inChunkExtension
	inChunkSizeLF
	inChunkData
	inChunkDataCR
	inChunkDataLF
	inTrailer
	atEnd
)

// response reads one HTTP/1.x response from pieces of any size: it takes the
// bytes as they come, keeps only an unfinished head or trailer, and removes
// the chunked coding in place.
type response struct {
	status  int
	header  http.Header
	trailer http.Header
	// last is set when the connection can't be used after this response.
	last bool
	// keepFor is how long the server says it keeps an idle connection; 0: it did not say.
	keepFor time.Duration

	headless bool // the answer to HEAD: no body whatever the head says
	upgrade  bool // 101 Switching Protocols is an answer

	state         state
	kept          []byte // an unfinished head or trailer
	left          int64  // of the body or of the chunk
	digits        bool   // the chunk's size has a digit
	line          int    // length of the chunk-size line so far
	informational int
	interim       int // the last informational response
	interimHeader http.Header
}

// reset makes r ready for the next response; memory is kept.
func (r *response) reset() { *r = response{kept: r.kept[:0]} }

// headDone reports whether the (final) head has been read.
func (r *response) headDone() bool { return r.state != inHead }

// fresh reports whether no byte of the head has come yet.
func (r *response) fresh() bool { return r.state == inHead && len(r.kept) == 0 }

func (r *response) done() bool { return r.state == atEnd }

// switched reports whether the connection speaks another protocol from here on.
func (r *response) switched() bool { return r.status == http.StatusSwitchingProtocols }

// feed takes the next bytes. It returns the body bytes among them, which lie
// in data and are valid as long as data is, and what follows the end of the
// response.
func (r *response) feed(data []byte) (body, rest []byte, err error) {
	for r.state == inHead {
		if data, err = r.feedHead(data); err != nil {
			return nil, nil, err
		}
		if len(data) == 0 {
			return nil, nil, nil
		}
	}
	switch r.state {
	case inFixed:
		n := min(int64(len(data)), r.left)
		if r.left -= n; r.left == 0 {
			r.state = atEnd
		}
		return data[:n], data[n:], nil
	case inUntilClose:
		return data, nil, nil
	case atEnd:
		return nil, data, nil
	}
	return r.feedChunked(data)
}

// feedChunked removes the chunked coding. The payload is moved to the front of
// data only when more than one chunk is in it.
func (r *response) feedChunked(data []byte) (body, rest []byte, err error) {
	from, to := 0, 0
	for i := 0; i < len(data); {
		switch r.state {
		case inChunkData:
			n := int(min(int64(len(data)-i), r.left))
			if from == to {
				from, to = i, i
			} else if to != i {
				copy(data[to:], data[i:i+n])
			}
			to += n
			i += n
			if r.left -= int64(n); r.left == 0 {
				r.state = inChunkDataCR
			}
		case inTrailer:
			if i, err = r.feedTrailer(data, i); err != nil {
				return data[from:to], nil, err
			}
		case atEnd:
			return data[from:to], data[i:], nil
		default:
			if err = r.chunkByte(data[i]); err != nil {
				return data[from:to], nil, err
			}
			i++
		}
	}
	return data[from:to], nil, nil
}

// chunkByte takes one byte of what surrounds chunk data.
func (r *response) chunkByte(c byte) error {
	switch r.state {
	case inChunkDataCR:
		switch c {
		case '\r':
			r.state = inChunkDataLF
		case '\n':
			r.startChunk()
		default:
			return broken("a chunk is longer than its size says")
		}
		return nil
	case inChunkDataLF:
		if c != '\n' {
			return broken("a chunk is longer than its size says")
		}
		r.startChunk()
		return nil
	}
	if r.line++; r.line > maxChunkLine {
		return broken("a chunk-size line is over %d bytes", maxChunkLine)
	}
	switch {
	case c == '\n':
		return r.sizeDone()
	case r.state == inChunkSizeLF:
		return broken("a chunk-size line ends in CR without LF")
	case r.state == inChunkExtension:
		return nil
	case c == '\r':
		r.state = inChunkSizeLF
	case c == ';' || c == ' ' || c == '\t':
		r.state = inChunkExtension
	default:
		d, ok := hexDigit(c)
		if !ok {
			return broken("%q in a chunk size", c)
		}
		if r.left = r.left<<4 | d; r.left > maxChunk {
			return broken("a chunk size is over %d bytes", int64(maxChunk))
		}
		r.digits = true
	}
	return nil
}

func (r *response) startChunk() {
	r.state, r.left, r.digits, r.line = inChunkSize, 0, false, 0
}

func (r *response) sizeDone() error {
	switch {
	case !r.digits:
		return broken("a chunk without a size")
	case r.left == 0:
		r.state, r.kept = inTrailer, r.kept[:0]
	default:
		r.state = inChunkData
	}
	return nil
}

// feedTrailer takes trailer bytes from data[i:] and returns where it stopped.
func (r *response) feedTrailer(data []byte, i int) (int, error) {
	for ; i < len(data); i++ {
		if len(r.kept) >= maxHead {
			return i, broken("trailers over %d bytes", maxHead)
		}
		c := data[i]
		r.kept = append(r.kept, c)
		if c != '\n' || !endsBlank(r.kept) {
			continue
		}
		r.state = atEnd
		fields, err := parseFields(r.kept)
		if err != nil {
			return i, err
		}
		if len(fields) > 0 {
			r.trailer = fields
		}
		return i + 1, nil
	}
	return i, nil
}

// endsBlank reports whether b, which ends in LF, ends in an empty line.
func endsBlank(b []byte) bool {
	b = b[:len(b)-1]
	if len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	return len(b) == 0 || b[len(b)-1] == '\n'
}

// hexDigit compares, as each chunk of a reply goes through here: a look-up in a text takes
// a third longer for a whole event.
func hexDigit(c byte) (int64, bool) {
	switch {
	case '0' <= c && c <= '9':
		return int64(c - '0'), true
	case 'a' <= c && c <= 'f':
		return int64(c - 'a' + 10), true
	case 'A' <= c && c <= 'F':
		return int64(c - 'A' + 10), true
	}
	return 0, false
}
