package api

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// form is how a body is framed.
type form uint8

const (
	unsure   form = iota // no content type: the first byte tells
	sse                  // server-sent events
	lines                // newline-delimited JSON
	whole                // one JSON text
	elements             // a JSON array, an event an element
	messages             // Amazon's event stream
	native               // the API's own framing
	bare                 // what was asked for itself, as sound is
	socket               // messages of a WebSocket, each as a line
	foreign              // not a reply of an API: an error, a web page
)

// formOf reads the framing from status and content type.
func formOf(head Head) form {
	if head.Status == http.StatusSwitchingProtocols {
		return socket
	}
	if head.Status < 200 || head.Status > 299 {
		return foreign
	}
	value := head.Header.Get("Content-Type")
	if value == "" {
		return unsure
	}
	switch kind := mediaType(value); {
	case kind == "text/event-stream":
		return sse
	case isLines(kind):
		return lines
	case kind == "application/json", kind == "text/json", strings.HasSuffix(kind, "+json"):
		return whole
	case kind == "application/vnd.amazon.eventstream":
		return messages
	}
	return foreign
}

// isLines reports whether a content type is of JSON in lines: it has as many names as writers.
// Source of jsonlines: deepjavalibrary/djl-serving, lmi/user_guides/chat_input_output_schema.md
func isLines(kind string) bool {
	_, name, _ := strings.Cut(kind, "/")
	switch strings.TrimPrefix(name, "x-") {
	case "ndjson", "jsonl", "jsonlines", "json-lines", "stream+json":
		return true
	}
	return false
}

// tellsProblem reports whether a body is said to tell of a problem (RFC 9457), be the status what it may.
func tellsProblem(h http.Header) bool {
	return mediaType(h.Get("Content-Type")) == "application/problem+json"
}

func mediaType(value string) string {
	kind, _, err := mime.ParseMediaType(value)
	if err != nil {
		kind, _, _ = strings.Cut(value, ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}

// settle corrects the form by the body's first byte: servers and gateways
// mislabel, but no event stream starts with a bracket and no JSON with a letter.
func (f form) settle(first byte, a *API) form {
	json := first == '{' || first == '['
	switch {
	case f == messages, first == 0 && f != native && f != socket: // the length of a message, which no text begins with
		return messages
	case a.StreamsArray && first == '[' && (f == unsure || f == whole):
		return elements
	case a.Framer != nil && f == unsure:
		return native
	case f == unsure && json:
		return whole
	case f == unsure, f == whole && !json, f == lines && !json:
		return sse
	case f == sse && json:
		return lines
	}
	return f
}

// line tells by the first line whether what is called JSON is a stream of lines. It
// returns what of the body the framer has not had.
func (s *Stream) line(data []byte) []byte {
	early := len(s.opening)
	s.opening = append(s.opening, data...)
	line, _, ended := bytes.Cut(bytes.TrimLeft(s.opening, " \t\r\n"), []byte("\n"))
	if s.lining = !ended && len(s.opening) < maxPlain; s.lining {
		return data
	}
	body := s.opening
	s.opening = nil
	if !ended || !bytes.Contains(bytes.ReplaceAll(line, []byte(" "), nil), []byte(s.api.Opening)) {
		return body[early:]
	}
	s.tl.Streamed = true
	if s.form, s.framer = lines, framing.NewLines(s.opts.MaxEvent); s.api.Framer != nil {
		s.form, s.framer = native, s.api.Framer(s.opts.MaxEvent)
	}
	s.tl.Flags |= timeline.WrongContentType
	return body
}

// begins tells by its first bytes whether a body of an unlikely content type is a stream
// of the API, or may be a whole reply of it; sure is false while there are too few of them.
func begins(b []byte, a *API) (f form, sure bool) {
	switch is, sure := framing.BeginsEventStream(b); {
	case is:
		return messages, true
	case !sure:
		return foreign, false
	}
	const mark = "\ufeff"
	if n := min(len(b), len(mark)); n < len(mark) && string(b) == mark[:n] {
		return foreign, false
	}
	marked := bytes.HasPrefix(b, []byte(mark))
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte(mark)), " \t\r\n")
	switch {
	case len(b) == 0:
		return foreign, false
	case a.Framer != nil && a.StreamsByDefault && b[0] == '{': // lines of JSON
		return sse, true
	case (b[0] == '{' || b[0] == '[') && !marked:
		return whole, true
	case a.Framer != nil && a.StreamsByDefault:
		return foreign, true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if n := min(len(b), len(field)); string(b[:n]) == field[:n] {
			if n == len(field) {
				return sse, true
			}
			return foreign, false
		}
	}
	return foreign, true
}

// terminated takes off the terminator of an event stream that stands behind JSON, whatever
// that was called: 9router writes it so behind its whole replies.
// Source: https://github.com/decolua/9router/issues/3492
func terminated(data []byte) (rest []byte, is bool) {
	if rest, is = bytes.CutSuffix(bytes.TrimSpace(data), []byte("[DONE]")); is {
		rest, is = bytes.CutSuffix(bytes.TrimSpace(rest), []byte("data:"))
	}
	if !is {
		return data, false
	}
	return bytes.TrimSpace(rest), true
}

// RetryAfter is how long a server asks to wait: by retry-after-ms, which OpenAI and
// Azure send and their clients prefer, else by Retry-After: seconds, or a date that
// is taken relative to the response's own Date, so that a wrong local clock does not
// matter.
func RetryAfter(h http.Header) (time.Duration, bool) {
	if wait, ok := waitOf(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait, true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if wait, ok := waitOf(value, time.Second); ok {
		return wait, true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0, false
	}
	return max(until.Sub(now), 0), true
}

// waitOf reads a number of units; false for what is no sensible wait.
func waitOf(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) || n*unit.Seconds() >= 1e9 {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
