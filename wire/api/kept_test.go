package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// A last delta that says the whole text again is no token. What says only a part of
// it, or is followed by more, or repeats a text of a few pieces, is.
func TestTheLastDeltaRepeatsTheText(t *testing.T) {
	finish := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	last := func(s string) string {
		return `{"choices":[{"index":0,"delta":{"content":"` + s + `"},"finish_reason":"stop"}]}`
	}
	for _, c := range []struct {
		name     string
		chunks   []string
		text     string
		tokens   int
		repeated bool
	}{
		{"with the finish reason", []string{content("ab"), content("cd"), content("ef"), last("abcdef")}, "abcdef", 3, true},
		{"before the finish reason", []string{content("ab"), content("cd"), content("ef"), content("abcdef"), finish}, "abcdef", 3, true},
		{"escaped otherwise", []string{content("a"), content("é"), content("c"), content("d"), last(`a\u00e9cd`)}, "aécd", 4, true},
		{"only its end", []string{content("ab"), content("cd"), content("ef"), last("cdef")}, "abcdefcdef", 4, false},
		{"followed by more", []string{content("ab"), content("cd"), content("ef"), content("abcdef"), content("g"), finish}, "abcdefabcdefg", 5, false},
		{"laughter", []string{content("ha"), content("ha"), finish}, "haha", 2, false},
		{"one letter again", []string{content("w"), content("w"), content("w"), content("w"), finish}, "wwww", 4, false},
		{"two halves", []string{content("ab"), content("c"), last("abc")}, "abcabc", 3, false},
	} {
		tl := reply(OpenAIChat, "text/event-stream", events(append(c.chunks, "[DONE]")...), timeline.EOF)
		tokens := 0
		for range tl.Events.Generation() {
			tokens++
		}
		if tl.Text != c.text || tokens != c.tokens || tl.Flags.Has(timeline.RepeatedText) != c.repeated || tl.Outcome != timeline.OK {
			t.Errorf("%s: %q, %d tokens, flags %v, %s", c.name, tl.Text, tokens, tl.Flags.Names(), tl.Outcome)
		}
	}
}

// Each choice has its own text.
func TestOneChoiceRepeatsItsText(t *testing.T) {
	of := func(choice, s string) string {
		return `{"choices":[{"index":` + choice + `,"delta":{"content":"` + s + `"}}]}`
	}
	tl := reply(OpenAIChat, "text/event-stream", events(of("0", "a"), of("1", "x"), of("0", "b"), of("1", "y"), of("0", "c"), of("1", "z"), of("1", "xyz"), of("0", "d"),
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), timeline.EOF)
	if !tl.Flags.Has(timeline.RepeatedText) || strings.Contains(tl.Text, "xyzxyz") || !strings.Contains(tl.Text, "abcd") {
		t.Errorf("%q %v", tl.Text, tl.Flags.Names())
	}
}
