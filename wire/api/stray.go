package api

import (
	"bytes"

	"tokenmeter/wire/framing"
)

// This file finds the words of servers and gateways that break off a stream with an
// error that is no event of it: JSON or an error page between the events or behind
// them, or text where an event has JSON.

// saysError reports whether the data of an event that is no JSON is an error in words,
// as "[ERROR] out of memory" is, and "Error: …".
func saysError(data []byte) bool {
	data = bytes.TrimLeft(data, " [")
	return len(data) >= len("error") && bytes.EqualFold(data[:len("error")], []byte("error"))
}

// judgeStray looks for an error in what came as no event.
func (s *Stream) judgeStray() {
	if f, ok := s.framer.(*framing.SSE); ok && len(f.Stray()) > 0 {
		s.stray = f.Stray()
	}
	var c scan
	c.Reset(bytes.TrimPrefix(s.stray, []byte("\ufeff")))
	var found []byte
	c.under("error", func() { found = c.problem() })
	if !c.End() {
		return
	}
	if found == nil && !s.progress.complete() {
		found = refusal(s.stray)
	}
	if found != nil {
		s.fail(wordsOf(found))
	}
}

// strayWords is what came as no event and is no JSON, in one line; empty: nothing did.
func (s *Stream) strayWords() string {
	said := bytes.TrimSpace(s.stray)
	if len(said) == 0 || bytes.IndexByte([]byte(`{["`), said[0]) >= 0 {
		return ""
	}
	return quote(said)
}
