package api

import (
	"net/http"

	"tokenmeter/timeline"
	"tokenmeter/wire"
)

// Decoder reads the framed events of one reply and tells the stream what they
// mean. It keeps nothing of an event's data beyond the call.
type Decoder interface {
	// Event reads one event of a streamed reply.
	Event(e wire.Event, s *Stream)
	// Body reads a whole reply that is no stream.
	Body(data []byte, s *Stream)
}

// Head is what a response's head said.
type Head struct {
	Status int
	Header http.Header
}

// StreamOptions are the choices of whoever reads a reply.
type StreamOptions struct {
	KeepText   bool
	MaxEvent   int  // bytes; 0 means wire's default cap of 16 MiB
	AllowEmpty bool // an empty answer is not a failure
}

// Stream fills a timeline from one response: head, body bytes as they came,
// end. Client, analyze and proxy all read replies through it. The bytes are
// those after transfer decoding and before content decoding.
type Stream struct {
	tl   *timeline.Timeline
	api  *API
	opts StreamOptions
}

// NewStream returns a stream that writes to tl.
func NewStream(tl *timeline.Timeline, a *API, opts StreamOptions) *Stream {
	return &Stream{tl: tl, api: a, opts: opts}
}

// Head takes the response's head, which came atUS microseconds after due.
func (s *Stream) Head(atUS int64, head Head) { panic("not written yet") }

// Read takes the body bytes of one read, stamped atUS since due and picked up
// lagUS later.
func (s *Stream) Read(atUS, lagUS int64, data []byte) { panic("not written yet") }

// HasToken reports whether a generation event has come (for --ttft-timeout).
func (s *Stream) HasToken() bool { panic("not written yet") }

// LastTokenUS is when the last generation event came, since due; 0 before the
// first (for --idle-timeout, which heartbeats do not extend).
func (s *Stream) LastTokenUS() int64 { panic("not written yet") }

// Complete reports whether the reply needs no more bytes: its terminator came.
func (s *Stream) Complete() bool { panic("not written yet") }

// End tells how and when the body ended and settles the outcome. cause adds
// words for ends other than EOF; it may be nil.
func (s *Stream) End(atUS int64, end timeline.End, trailer http.Header, cause error) {
	panic("not written yet")
}
