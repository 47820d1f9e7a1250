// Package wire turns the bytes of a response body into events: server-sent
// events, newline-delimited JSON, and content decoding below them. It knows no
// API. A framer never guesses a frame's end and never holds bytes back: an
// event is delivered by the very read that completed it.
package wire

// Event is one framed event. Data is valid until the next call of the framer.
type Event struct {
	Name    string // the SSE event field; empty otherwise
	Data    []byte // joined data lines, or the JSON line
	Comment bool   // a comment line (":"): a heartbeat; Data is its text
}

// Framer cuts a byte stream into events. One per response.
type Framer interface {
	// Feed takes the bytes of one read and calls yield for every event that
	// they complete. It stops at the first error of yield and returns it.
	// An event over the size cap is an error that names the cap.
	Feed(data []byte, yield func(Event) error) error
	// Close tells that the body ended. An event that is complete but for its
	// blank line is delivered; what is left over is reported as garbage.
	Close(yield func(Event) error) (garbage int, err error)
}
