package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"unicode/utf8"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/framing"
)

// Writer writes one capture while a reply comes in. Its methods are called
// beside those of api.Stream, with the same arguments and in the same order.
type Writer struct {
	// Redact, when set, removes secrets from header values, data and causes; of data also
	// those that came in several reads.
	Redact *secret.Redactor
	// Room is where the memory for what compressed data decodes to is from; nil: it has no
	// end. Where there is none, the rest of the data is left out.
	Room *api.Room

	out     io.Writer
	tl      *timeline.Timeline
	request []byte
	sent    timeline.Opt[int64] // how long the sound is that was sent, µs
	images  timeline.Opt[int64] // how many pictures are asked for
	size    string              // of those that are sent
	head    *api.Head
	headUS  int64
	coding  framing.Decoder // of the reply's content; nil: it has none
	opaque  bool            // it can't be decoded, or not any more: no data is kept
	lent    int64           // by Room
	recent  []read          // not in buf yet: a secret may go on in the next one
	buf     bytes.Buffer
	begun   bool   // the first line is written
	sum     uint32 // of what is written
	err     error
}

// read is what one read brought.
type read struct {
	atUS, lagUS int64
	text        string
	binary      bool // no UTF-8
}

// maxHeld is how much is kept in memory before lines are written. Until then a
// further Head, of a retry, starts the capture anew.
const maxHeld = 1 << 20

// NewWriter returns the writer of the capture of tl's request, whose body was
// request. The timeline is read when the capture ends, or when it grows large.
func NewWriter(w io.Writer, tl *timeline.Timeline, request []byte) *Writer {
	return &Writer{out: w, tl: tl, request: request, sent: tl.AudioUS, images: tl.Images, size: tl.ImageSize}
}

// Head takes the response's head.
func (w *Writer) Head(atUS int64, head api.Head) {
	if w.begun {
		return
	}
	w.head, w.headUS = &head, atUS
	w.buf.Reset()
	w.recent = nil
	w.free()
	w.giveBack()
	var err error
	w.coding, err = framing.NewDecoder(head.Header["Content-Encoding"]...)
	w.opaque = err != nil
}

// free gives the decoder back.
func (w *Writer) free() {
	if w.coding != nil {
		_ = w.coding.Close()
		w.coding = nil
	}
}

// mostDecoded is what the bytes of one read may decode to.
const mostDecoded = 8 << 20

var errTooMuch = errors.New("the bytes of one read decode to too many")

// copies is how many times what is decoded lies in memory until it is written.
const copies = 6

// decoded is what the bytes of one read decode to. As they came nobody can see the
// secrets in them.
func (w *Writer) decoded(data []byte) []byte {
	switch {
	case w.opaque:
		return nil
	case w.coding == nil:
		return data
	}
	var all []byte
	err := w.coding.Feed(data, func(p []byte) error {
		n := copies * int64(len(p))
		if len(all)+len(p) > mostDecoded || !w.Room.Borrow(n) {
			return errTooMuch
		}
		w.lent += n
		all = append(all, p...)
		return nil
	})
	if w.opaque = err != nil; errors.Is(err, errTooMuch) {
		return nil // a line of it would take several times as much
	}
	return all
}

// Read takes the bytes of one read.
func (w *Writer) Read(atUS, lagUS int64, data []byte) {
	if data = w.decoded(data); len(data) > 0 {
		w.recent = append(w.recent, read{atUS, lagUS, string(data), !utf8.Valid(data)})
		w.settle(false)
		if w.buf.Len() > maxHeld {
			w.flush()
		}
	}
	if len(w.recent) == 0 {
		w.giveBack()
	}
}

func (w *Writer) giveBack() {
	if w.lent > 0 {
		w.Room.Return(w.lent)
		w.lent = 0
	}
}

// settle makes lines of reads, but for the last ones where a secret may begin that goes
// on in the next one. At the end of the reply there is no next one.
func (w *Writer) settle(ended bool) {
	texts := make([]string, len(w.recent))
	for i := range w.recent {
		texts[i] = w.recent[i].text
	}
	if w.Redact != nil {
		texts = w.Redact.Pieces(texts, !ended)
	}
	if n := len(texts); ended && n > 0 {
		texts[n-1] = w.clean(texts[n-1]) // the end may have cut one off
	}
	for i, text := range texts {
		r := w.recent[i]
		l := line{T: (*micros)(&r.atUS), Lag: micros(r.lagUS)}
		if r.binary {
			l.B64 = []byte(text)
		} else {
			l.Data = &text
		}
		w.add(l)
	}
	if w.recent = w.recent[len(texts):]; len(w.recent) == 0 {
		w.recent = nil // the texts before them go with their list
	}
}

// End ends the capture, after the stream has settled the outcome. It returns
// the first error of writing.
func (w *Writer) End(atUS int64, end timeline.End, trailer http.Header, cause error) error {
	l := line{T: (*micros)(&atUS), End: string(end), Trailers: w.headers(trailer), ClockStep: fromOpt(w.tl.ClockStepUS)}
	if cause != nil {
		l.Cause = w.clean(cause.Error())
	}
	if e := w.tl.Error; e != nil && (w.head == nil || w.coding != nil) { // nor does what is decoded tell of damage
		l.Error = &timeline.Error{Class: e.Class, Message: w.clean(e.Message)}
	}
	w.settle(true)
	w.flush()
	w.add(l)
	last := seal(w.sum, w.buf.Bytes())
	w.buf = *bytes.NewBuffer(last)
	w.flush()
	w.free()
	w.giveBack()
	return w.err
}

func (w *Writer) add(v any) {
	from := w.buf.Len()
	e := json.NewEncoder(&w.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	line := printable.JSON(w.buf.Bytes()[from:])
	w.buf.Truncate(from)
	w.buf.Write(line)
}

// flush writes what is held, the first line before it.
func (w *Writer) flush() {
	if !w.begun {
		w.begun = true
		lines := w.buf
		w.buf = bytes.Buffer{}
		w.add(w.firstLine())
		w.buf.Write(lines.Bytes())
	}
	w.sum = crc32.Update(w.sum, castagnoli, w.buf.Bytes())
	if _, err := w.buf.WriteTo(w.out); err != nil && w.err == nil {
		w.err = err
	}
	if w.buf.Reset(); w.buf.Cap() > 2*maxHeld {
		w.buf = bytes.Buffer{}
	}
}

func (w *Writer) firstLine() *head {
	tl := w.tl
	due, start := seconds(tl.DueUS), seconds(tl.StartUS)
	h := &head{
		Capture: Version, API: tl.API, Request: w.body(),
		Due: &due, Start: &start,
		DNS: fromOpt(tl.DNSUS), Connect: fromOpt(tl.ConnectUS), TLS: fromOpt(tl.TLSUS), Sent: fromOpt(tl.SentUS),
		Reused: tl.Reused, Remote: tl.Remote,
		Attempts: tl.Attempts, ConnRetries: tl.ConnRetries, Redirects: tl.Redirects,
		RetryAfter: fromOpt(tl.RetryAfterUS), Clock: tl.Clock,
		Ordinal: tl.Request, ID: tl.ID, Phase: tl.Phase, Worker: tl.Worker,
		Session: tl.Session, Turn: tl.Turn, Task: tl.Task, Step: tl.Step, Parent: tl.Parent,
		Model: tl.Model, Asked: timeline.Some(tl.Asked), Requested: tl.Requested, Inputs: tl.Inputs, Chars: tl.Chars, Audio: w.sent, Images: w.images, ImageSize: w.size, Pictures: tl.InputImages, Videos: tl.Videos, Media: tl.MediaBytes,
		Flags: tl.Flags & clientFlags,
	}
	if w.head != nil {
		h.Status, h.Head = w.head.Status, timeline.Some(micros(w.headUS))
		h.Headers = w.headers(w.head.Header)
		if w.coding != nil {
			delete(h.Headers, "Content-Encoding")
		}
	}
	return h
}

// clientFlags are the flags that no reader of the capture can find out.
const clientFlags = timeline.ClockStep | timeline.ArrivalsCapped | timeline.Compressed

// body is the request's body, null when it is no JSON.
func (w *Writer) body() json.RawMessage {
	if clean := []byte(w.clean(string(w.request))); json.Valid(clean) {
		return clean
	}
	return json.RawMessage("null")
}

// secretHeaders never enter a capture.
var secretHeaders = []string{"Set-Cookie", "Set-Cookie2", "Authorization", "Proxy-Authenticate", "Www-Authenticate"}

func (w *Writer) headers(h http.Header) headers {
	if len(h) == 0 {
		return nil
	}
	out := h.Clone()
	for _, name := range secretHeaders {
		out.Del(name)
	}
	for _, values := range out {
		for i := range values {
			values[i] = w.clean(values[i])
		}
	}
	return headers(out)
}

func (w *Writer) clean(s string) string {
	if w.Redact == nil {
		return s
	}
	return w.Redact.String(s)
}
