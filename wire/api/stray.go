package api

import (
	"bytes"

	"tokenmeter/wire/framing"
)

// This file finds the words of servers and gateways that break off a stream with an
// error that is no event of it: JSON or an error page between the events or behind
// them, or text where an event has JSON.

// saysError reports whether the data of an event that is no JSON is an error in words,
// as "[ERROR] out of memory" is, and "Error: …", or in what was to be JSON: transformers
// writes {"error": "…"} without escaping what it says (5.24.0, cli/serving).
func saysError(data []byte) bool {
	if said, ok := bytes.CutPrefix(data, []byte(`{"error":`)); ok {
		said = bytes.TrimLeft(said, " ")
		return len(said) > 1 && (said[0] == '{' || said[0] == '"' && said[1] != '"')
	}
	data = bytes.TrimLeft(data, "[")
	switch string(data[:min(len(data), len("error"))]) {
	case "error", "Error", "ERROR":
		return true
	}
	return false
}

// judgeStray looks for an error in what came as no event.
func (s *Stream) judgeStray() {
	if f, ok := s.framer.(*framing.SSE); ok && len(f.Stray()) > 0 {
		s.stray = f.Stray()
	}
	if found := refusal(s.stray); found != nil {
		s.fail(wordsOf(found))
	}
}

// strayWords is what came as no event and is no JSON, in one line; empty: nothing did.
func (s *Stream) strayWords() string {
	if len(s.stray) == 0 || bytes.IndexByte([]byte(`{["`), s.stray[0]) >= 0 {
		return ""
	}
	return quote(s.stray)
}
