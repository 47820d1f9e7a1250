package api

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// What is told from the chunk before must be what a scan tells.
func TestChunksLikeTheOneBefore(t *testing.T) {
	read := func(chunks []string, scanEach bool) []timeline.Event {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(0, Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}})
		for i, c := range chunks {
			if d, ok := s.decoder.(*openaiDecoder); ok && scanEach {
				d.like.chunk = d.like.chunk[:0]
			}
			s.Read(int64(i)*10, 0, []byte("data: "+c+"\n\n"))
		}
		var all []timeline.Event
		for ev := range tl.Events.All() {
			all = append(all, ev)
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", "hello", " world", `\n`, `\"`, "ü", "a\x01", `","role":"x`, `"},"finish_reason":"stop"}],"x":[{"y":{"z":"`})
		form := rapid.SampledFrom([]string{
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"}}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}],"usage":null}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":"stop"}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"%s"}}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"},"logprobs":{"content":[{"token":"a"}]}}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"}},{"index":1,"delta":{"content":"x"}}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"}}],"usage":{"completion_tokens":3}}`,
			`{"id":"1","choices":[{"index":0,"text":"%s"}]}`,
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s","content":"b"}}]}`,
		})
		var chunks []string
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			f := form.Draw(t, "form")
			for range rapid.IntRange(1, 4).Draw(t, "again") {
				chunks = append(chunks, fmt.Sprintf(f, word.Draw(t, "word")))
			}
		}
		if d := cmp.Diff(fmt.Sprintf("%+v", read(chunks, true)), fmt.Sprintf("%+v", read(chunks, false))); d != "" {
			t.Fatal(d)
		}
	})
}
