package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Decoder reads the framed events of one reply and tells the stream what they
// mean. A reply that is no stream is one event without a name. It keeps nothing of an
// event's data beyond the two calls.
type Decoder interface {
	// read reads an event, whose data is not the terminator [DONE]; false where that is
	// no JSON.
	read(e framing.Event, s *Stream) bool
	// apply tells the stream what was read.
	apply(e framing.Event, s *Stream)
}

// Head is what a response's head said.
type Head struct {
	Status int
	Header http.Header
}

// StreamOptions are the choices of whoever reads a reply.
type StreamOptions struct {
	KeepText   bool
	MaxEvent   int  // bytes; 0 means wire's default cap of 16 MiB, for pictures 128 MiB
	AllowEmpty bool // an empty answer is not a failure
	Room       *Room
	// Hide removes secrets from a name that the server chose. It has to come before the
	// name is cut and made fit to be shown, where it would not be known any more. Nil: there
	// are none.
	Hide func(string) string
}

// Stream fills a timeline from one response: head, body bytes as they came,
// end. Client, analyze and proxy all read replies through it. The bytes are
// those after transfer decoding and before content decoding.
//
// The order of calls is Head, Read any number of times, End once. Without a
// response there is only End. End or Close must be called: they free decoders.
type Stream struct {
	tl   *timeline.Timeline
	api  *API
	opts StreamOptions

	header  http.Header
	form    form
	coding  framing.Decoder
	framer  framing.Framer
	decoder Decoder
	yield   func(framing.Event) error // s.event and s.body, bound once
	decoded func([]byte) error
	plain   []byte // start of a body that is not decoded (an error page), or white space before one
	total   int64  // body bytes after content decoding
	holds   int64  // bytes of memory that there was room for

	at, lag, read int64 // of the read in hand
	item          int   // of a list of replies, the one in hand
	lastToken     int64
	tokens        int64 // generation events so far
	finishes      int   // finish reasons so far
	lastChoice    int   // of the last generation event
	scattered     bool  // an event's choice was no larger than that of the one before
	doubt         bool  // the content type is of no reply, the bytes may be
	mislabelled   bool  // a body that may be a whole reply has such a content type
	judging       bool  // whether the content type is of another reply than this
	lining        bool  // whether what is called JSON is a stream of lines, by the first of them
	opening       []byte

	progress progress
	bare     idsOnly
	usage    usageState
	count    tokenCount
	kept     keptText
	server   serverTimings
	unread   unread

	replyID       string
	malformed     int
	stray         []byte // of what came as no event
	joined        bool   // no empty line parts the events
	fault         error  // the body could not be read on: over the cap, damaged coding
	failure       string // the server's own error within a 200 reply
	failed        bool
	identity      bool  // what the server calls itself was read
	compacted     bool  // an item is the compacted context, encrypted
	thought       bool  // reasoning came, word by word
	summed        bool  // reasoning came as a summary
	reasoned      int64 // events of reasoning
	reasonedBytes int64 // in them
	reasonedWide  bool  // some of them are beyond ASCII
	sealed        bool  // reasoning came whose words are kept back
	abridged      bool  // it is Claude's, of which a summary comes
	signed        bool  // it has a signature as long as Claude's
	endless       bool  // no event of these says that it is the last: the body's end does
}

// NewStream returns a stream that writes to tl.
func NewStream(tl *timeline.Timeline, a *API, opts StreamOptions) *Stream {
	if opts.MaxEvent == 0 && a.Product() == timeline.Pictures {
		opts.MaxEvent = maxPictures
	}
	return &Stream{tl: tl, api: a, opts: opts}
}

// Head takes the response's head, which came atUS microseconds after due. Of
// several heads (a retry, an interim answer) the last one counts.
func (s *Stream) Head(atUS int64, head Head) {
	_ = s.Close()
	*s = Stream{tl: s.tl, api: s.api, opts: s.opts}
	s.header = head.Header
	s.tl.HeadUS = timeline.Some(atUS)
	s.tl.HTTPStatus = head.Status
	s.tl.ServedModel = ""
	if after, ok := RetryAfter(head.Header); ok {
		s.tl.RetryAfterUS = timeline.Some(after.Microseconds())
	}
	s.form = formOf(head)
	if (s.form == foreign || s.form == unsure) && head.Status >= 200 && head.Status <= 299 && s.api.isBare(head.Header.Get("Content-Type")) {
		s.form = bare
	}
	switch s.api.Product() { // of an earlier try
	case timeline.Speech:
		s.tl.AudioUS, s.tl.AudioRate = none, none
	case timeline.Pictures:
		s.tl.ImageSize = ""
	}
	s.doubt = s.form == foreign && head.Status >= 200 && head.Status <= 299
	coding, err := framing.NewDecoder(head.Header["Content-Encoding"]...)
	if coding != nil {
		s.coding, s.decoded = coding, s.unpacked
		s.tl.Flags |= timeline.Compressed
	}
	if err != nil {
		s.fault = err
	}
	s.server.headers(head.Header)
	s.tl.AnsweredBy = cut(head.Header.Get("Server"), maxWords)
}

// Read takes the body bytes of one read, stamped atUS since due and picked up
// lagUS later.
func (s *Stream) Read(atUS, lagUS int64, data []byte) {
	if s.fault != nil || len(data) == 0 {
		return
	}
	s.at, s.lag = atUS, lagUS
	if s.coding == nil {
		s.fault = s.body(data)
	} else {
		s.fault = s.coding.Feed(data, s.decoded)
	}
	if s.fault == nil {
		s.fault = s.makeRoom()
	}
	s.read++
}

// unpacked takes a piece of what a read decodes to. A few bytes may be millions of
// events, so each piece asks for its room.
func (s *Stream) unpacked(data []byte) error {
	if err := s.body(data); err != nil {
		return err
	}
	return s.makeRoom()
}

// body takes body bytes after content decoding.
func (s *Stream) body(data []byte) error {
	s.total += int64(len(data))
	if s.form == bare {
		if data = s.raw(data, false); len(data) == 0 {
			return nil
		}
	}
	return s.framed(data)
}

// framed takes body bytes of a form that has a framing, or is foreign.
func (s *Stream) framed(data []byte) error {
	if s.form == foreign {
		early := s.plain
		s.plain = append(s.plain, data[:min(len(data), maxPlain-len(s.plain))]...)
		if !s.doubt {
			return nil
		}
		begun, sure := begins(s.plain, s.api)
		if s.doubt = !sure; begun == foreign {
			return nil
		}
		s.tl.Flags |= timeline.WrongContentType
		s.form, s.plain, s.mislabelled = begun, nil, begun == whole
		data = append(early[:len(early):len(early)], data...)
	}
	if s.judging {
		s.judge(data)
	}
	if s.framer == nil {
		if started, err := s.start(data); !started {
			return err
		}
		if err := s.framer.Feed(s.plain, s.yield); err != nil {
			return err
		}
	}
	if s.lining {
		data = s.line(data)
	}
	return s.framer.Feed(data, s.yield)
}

// judge flags a stream under the content type of another reply as soon as its bytes
// may begin one, and takes that back when they don't: however they are split.
func (s *Stream) judge(data []byte) {
	s.opening = append(s.opening, data[:min(len(data), maxOpening-len(s.opening))]...)
	begun, sure := begins(s.opening, s.api)
	if begun == sse || !sure {
		s.tl.Flags |= timeline.WrongContentType
	} else {
		s.tl.Flags &^= timeline.WrongContentType
	}
	if sure || len(s.opening) == maxOpening {
		s.judging, s.opening = false, nil
	}
}

// maxOpening is how many bytes tell what a body is: a byte order mark, the longest
// name of a field, and some white space.
const maxOpening = 64

// maxPlain is how much of an error body is kept to read its words from.
const maxPlain = 64 << 10

// start chooses the framer at the first byte that is no white space. White
// space before it is kept for the framer.
func (s *Stream) start(data []byte) (bool, error) {
	first := bytes.TrimLeft(data, " \t\r\n")
	if len(s.plain)+len(data)-len(first) > maxPlain {
		return false, errBlank
	}
	if len(first) == 0 {
		s.plain = append(s.plain, data...)
		return false, nil
	}
	s.decoder = s.api.Decoder()
	s.yield = s.event
	labelled := s.form
	s.form = s.form.settle(first[0], s.api)
	if s.form == messages && labelled != messages && labelled != unsure {
		s.tl.Flags |= timeline.WrongContentType
	}
	s.lining = s.form == whole && s.api.Opening != ""
	if s.judging = s.form == sse && (labelled == whole || labelled == lines); s.judging {
		s.judge(first)
	}
	switch s.form {
	case whole:
		s.framer = framing.NewWhole(s.opts.MaxEvent)
	case lines, socket:
		s.framer = framing.NewLines(s.opts.MaxEvent)
	case elements:
		s.framer = framing.NewElements(s.opts.MaxEvent)
	case messages:
		s.framer = framing.NewEventStream(s.opts.MaxEvent)
	case native:
		s.framer = s.api.Framer(s.opts.MaxEvent)
	default:
		s.framer = framing.NewSSE(s.opts.MaxEvent)
	}
	s.tl.Streamed = s.form != whole
	return true, nil
}

var errBlank = errors.New("the body starts with more than 64 KiB of white space")

// maxEvents is how many events of a reply are recorded. A million tokens fit;
// a server that never stops must not fill the memory.
const maxEvents = 1 << 20

var errEndless = fmt.Errorf("the reply has more than %d events", maxEvents)

// event takes one framed event.
func (s *Stream) event(e framing.Event) error {
	if s.tl.Events.Len() >= maxEvents {
		return errEndless
	}
	if s.form == whole || s.form == lines {
		rest, is := terminated(e.Data)
		if e.Data = rest; is && s.form == lines {
			defer s.done()
			if len(rest) == 0 {
				return nil
			}
		}
	}
	switch {
	case e.Comment:
		s.add(timeline.Ping, 0, 0, none)
	case e.Fails:
		s.fail(e.Name + ": " + wordsOf(e.Data))
	case s.form == whole:
		s.progress.done = s.whole(e)
		switch {
		case s.mislabelled && s.tokens == 0 && !s.progress.reason && !s.failed: // nothing of the API
			s.form, s.progress.done, s.plain = foreign, false, bytes.Clone(e.Data[:min(len(e.Data), maxPlain)])
			s.tl.Flags &^= timeline.WrongContentType
		case !s.progress.done:
			s.fault = fmt.Errorf("the body is no JSON: %s", quote(e.Data))
		case !s.failed && tellsProblem(s.header): // whatever its members are
			s.failQuietly(wordsOf(e.Data))
		}
	case s.form == sse && len(bytes.TrimSpace(e.Data)) == 0 && e.Name != "error": // some gateways keep a connection up so
		s.add(timeline.Ping, 0, 0, none)
	case isDone(e.Data): // of whatever API: gateways add it
		s.done()
	case s.decode(e), s.several(e):
	case e.Name == "error", saysError(e.Data): // in words
		s.fail(wordsOf(e.Data))
	default:
		s.bad(e)
	}
	return nil
}

// mostJoined is how many events may stand without an empty line between them.
const mostJoined = 4

// several takes the events of a server that left out the empty line between them, as
// Anthropic's did (https://github.com/anthropics/anthropic-sdk-python/issues/1162): their
// data is one text that is no JSON, and each of its lines is. Of a server that never
// sends the empty line, the times of events are not known, so it is not read so.
func (s *Stream) several(e framing.Event) bool {
	lines := bytes.SplitN(e.Data, []byte("\n"), mostJoined+1)
	if s.form != sse || len(lines) < 2 {
		return false
	}
	for i, line := range lines {
		if s.joined = i == mostJoined; s.joined {
			return false
		}
		var c scan
		c.Reset(line)
		object := c.Peek() == '{'
		c.Skip()
		if !isDone(line) && !(object && c.End()) {
			return false
		}
	}
	s.malformed++
	for _, e.Data = range lines {
		if isDone(e.Data) {
			s.done()
		} else {
			s.decode(e)
		}
	}
	return true
}

// decode takes an event that is JSON; false: it is none.
func (s *Stream) decode(e framing.Event) bool {
	s.unread.event, s.unread.strange = s.unread.event[:0], false
	if !s.decoder.read(e, s) {
		return false
	}
	before := s.tokens
	s.decoder.apply(e, s)
	if s.tokens == 0 || len(s.unread.event) > 0 || s.unread.strange {
		s.leftOver(e.Data, s.tokens > before)
	}
	return true
}

// whole takes a reply that is no stream, or a list of them; false: it is no JSON. A
// list of one reply is that reply, whatever the API.
func (s *Stream) whole(e framing.Event) bool {
	var c scan
	c.Reset(e.Data)
	if c.Peek() != '[' || s.api.Product().Batched() {
		return s.decode(e)
	}
	var replies [][]byte
	for range c.Elements {
		from := c.Place()
		c.Skip()
		replies = append(replies, c.Since(from))
	}
	switch {
	case !c.End():
		return false
	case !s.api.Lists && len(replies) != 1:
		return s.decode(e)
	}
	for s.item, e.Data = range replies {
		s.decode(e)
	}
	return true
}

// ReplyID is the server's name of the reply, by which a WebSocket's next request may
// go on with it; empty: it told none, or the API has no use for it.
func (s *Stream) ReplyID() string { return s.replyID }

// Tokens is how many generation events have come.
func (s *Stream) Tokens() int64 { return s.tokens }

// HasToken reports whether a generation event has come, or a token id that may be one
// (for --ttft-timeout).
func (s *Stream) HasToken() bool { return s.tokens > 0 || s.bare.waiting > 0 }

// LastTokenUS is when the last generation event came, since due; 0 before the
// first (for --idle-timeout, which heartbeats do not extend).
func (s *Stream) LastTokenUS() int64 { return s.lastToken }

// Complete reports whether the reply needs no more bytes: its terminator came,
// or what has come can't be read on and the rest would change nothing.
func (s *Stream) Complete() bool {
	return s.progress.done || s.fault != nil || s.failed && s.form == socket || len(s.plain) == maxPlain && s.form == foreign
}

// TooLarge reports whether the reply could not be read on because an event, or
// what its bytes decode to, is over the cap.
func (s *Stream) TooLarge() bool {
	var large *framing.TooLargeError
	return errors.As(s.fault, &large)
}

// NoRoom reports whether the reply could not be read on because [Room] was used up.
func (s *Stream) NoRoom() bool {
	if s.fault == nil {
		return false
	}
	var none *noRoomError
	return errors.As(s.fault, &none)
}

// Close frees the content decoder of a reply that is not read to its end. The error is
// that of what has come.
func (s *Stream) Close() error {
	if s.coding == nil {
		return nil
	}
	err := s.coding.Close()
	s.coding = nil
	return err
}
