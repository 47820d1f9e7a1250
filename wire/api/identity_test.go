package api

import (
	"net/http"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// What a server calls itself: its header, and the fingerprint in its chunks
// (OpenAI's API reference: "system_fingerprint"), which may be null or left out.
func TestAnsweredBy(t *testing.T) {
	chunk := func(more string) string { return `{"choices":[{"index":0,"delta":{"content":"a"}}]` + more + `}` }
	for name, c := range map[string]struct {
		server, body, want string
	}{
		"neither":            {"", events(chunk(""), chunk(""), "[DONE]"), ""},
		"header":             {"uvicorn", events(chunk(""), "[DONE]"), "uvicorn"},
		"fingerprint":        {"", events(chunk(`,"system_fingerprint":"fp_44709d6fcb"`), chunk(`,"system_fingerprint":"fp_44709d6fcb"`), "[DONE]"), "fp_44709d6fcb"},
		"both":               {"llama.cpp", events(chunk(`,"system_fingerprint":"b6500-1a2b"`), "[DONE]"), "llama.cpp b6500-1a2b"},
		"null, then a word":  {"x", events(chunk(`,"system_fingerprint":null`), chunk(`,"system_fingerprint":"fp"`), "[DONE]"), "x fp"},
		"the first one":      {"", events(chunk(`,"system_fingerprint":"a"`), chunk(`,"system_fingerprint":"b"`), "[DONE]"), "a"},
		"no text":            {"", events(chunk(`,"system_fingerprint":{"a":1}`), "[DONE]"), ""},
		"as long as a page":  {"", events(chunk(`,"system_fingerprint":"`+strings.Repeat("x", 5000)+`"`), "[DONE]"), strings.Repeat("x", maxWords) + " …"},
		"in another's place": {"", events(`{"choices":[{"index":0,"delta":{"content":"a"},"system_fingerprint":"no"}]}`, "[DONE]"), ""},
	} {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		header := http.Header{"Content-Type": {"text/event-stream"}}
		if c.server != "" {
			header.Set("Server", c.server)
		}
		s.Head(1, Head{Status: 503, Header: http.Header{"Server": {"of an earlier try"}}})
		s.Head(2, Head{Status: 200, Header: header})
		s.Read(3, 0, []byte(c.body))
		s.End(4, timeline.EOF, nil, nil)
		if tl.AnsweredBy != c.want {
			t.Errorf("%s: %q, want %q", name, tl.AnsweredBy, c.want)
		}
	}
}

// The model that answered is the one that the reply names first; that of an attempt before
// is forgotten.
func TestServedModel(t *testing.T) {
	chunk := func(model string) string {
		return `{"model":"` + model + `","choices":[{"index":0,"delta":{"content":"a"}}]}`
	}
	for _, c := range []struct {
		asked  string
		events []string
		want   string
	}{
		{"gpt-4o", []string{chunk("gpt-4o-2024-08-06"), chunk("gpt-4o-2024-08-06")}, "gpt-4o-2024-08-06"},
		{"gpt-4o", []string{chunk(""), chunk("gpt-4o"), chunk("")}, "gpt-4o"}, // Azure's first chunk names none
		{"auto", []string{content("a")}, ""},
		{"", []string{chunk("llama")}, "llama"},
	} {
		tl := timeline.New()
		tl.Model, tl.ServedModel = c.asked, "of the attempt before"
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
		s.Read(2, 0, []byte(events(append(c.events, stopChunk, "[DONE]")...)))
		s.End(3, timeline.EOF, nil, nil)
		if tl.ServedModel != c.want {
			t.Errorf("%q asked, %v: %q, want %q", c.asked, c.events, tl.ServedModel, c.want)
		}
	}
}
