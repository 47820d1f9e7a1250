// Package framing turns the bytes of a response body into events: server-sent
// events, newline-delimited JSON, and content decoding below them. It knows no
// API. A framer never guesses a frame's end and never holds bytes back: an
// event is delivered by the very read that completed it.
package framing

import "fmt"

// DefaultMaxEvent is the size cap of one event in bytes: 16 MiB.
const DefaultMaxEvent = 16 << 20

// Event is one framed event. Data belongs to the framer or to the caller's
// read buffer and is valid only until yield returns.
type Event struct {
	Name    string // the SSE event field, or the type of an Amazon message; empty otherwise
	Data    []byte // joined data lines, or the JSON line
	Comment bool   // a comment line (":"): a heartbeat; Data is its text
	// Fails says that the framing itself makes the event a failure, whatever its data is: an
	// exception or an error of an Amazon event stream, by whose type it is named.
	Fails bool
	// Partial says that the body ended before the event's own end: its blank
	// line or line end is missing, and its data may be cut.
	Partial bool
	// Size counts the bytes of the stream that the event took: from the end of
	// the event before, line ends and ignored lines included.
	Size int
}

// Framer cuts a byte stream into events. One per response.
type Framer interface {
	// Feed takes the bytes of one read and calls yield for every event that
	// they complete. It stops at the first error of yield and returns it; after
	// any error the framer stays failed.
	Feed(data []byte, yield func(Event) error) error
	// Held is how many bytes of memory keep what makes up no event yet.
	Held() int
	// Close tells that the body ended. An event that lacks only its end is
	// delivered as partial; bytes of an unfinished frame that make up no event
	// are counted as garbage.
	Close(yield func(Event) error) (garbage int, err error)
}

// TooLargeError reports an event over the size cap, or bytes that decode to more
// than any read of a reply should.
type TooLargeError struct{ Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("an event of the stream is larger than the cap of %s", bytesText(e.Limit))
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func limit(max int) int {
	if max <= 0 {
		return DefaultMaxEvent
	}
	return max
}
