package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// opened returns a stream that has read the head of a reply.
func opened(status int, contentType string, opts StreamOptions) (*Stream, *timeline.Timeline) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, opts)
	s.Head(0, Head{status, http.Header{"Content-Type": {contentType}}})
	return s, tl
}

// A server that never stops neither fills the memory nor is read for ever.
func TestEndlessReplies(t *testing.T) {
	for name, c := range map[string]struct {
		status            int
		contentType, data string
		class             timeline.Outcome
		words             string
	}{
		"tokens":     {200, "text/event-stream", strings.Repeat(events(content("a")), 1000), timeline.Parse, "the reply has more than 1048576 events"},
		"pings":      {200, "text/event-stream", strings.Repeat(": ping\n\n", 1000), timeline.Parse, "the reply has more than 1048576 events"},
		"one event":  {200, "text/event-stream", strings.Repeat("data: a", 10_000), timeline.Parse, "an event of the stream is larger than the cap of 16 MiB"},
		"no JSON":    {200, "application/json", strings.Repeat(`"a`, 10_000), timeline.Parse, "an event of the stream is larger than the cap of 16 MiB"},
		"blanks":     {200, "application/json", strings.Repeat(" ", 10_000), timeline.Parse, "the body starts with more than 64 KiB of white space"},
		"page":       {200, "text/html", strings.Repeat("<p>", 10_000), timeline.BadContentType, `HTTP 200 with content type "text/html"`},
		"error page": {500, "text/plain", strings.Repeat("no ", 10_000), timeline.HTTP5xx, "HTTP 500 Internal Server Error: no no"},
	} {
		t.Run(name, func(t *testing.T) {
			s, tl := opened(c.status, c.contentType, StreamOptions{})
			for at := int64(0); !s.Complete(); at++ {
				if s.total > 1<<30 {
					t.Fatal("read a gigabyte")
				}
				s.Read(at, 0, []byte(c.data))
			}
			s.End(tl.Events.LastUS(), timeline.Cut, nil, nil)
			if tl.Outcome != c.class || !strings.Contains(tl.Error.Message, c.words) {
				t.Errorf("%s: %s", tl.Outcome, tl.Error.Message)
			}
			if n := tl.Events.Len(); n > maxEvents {
				t.Errorf("%d events", n)
			}
		})
	}
}

// Words that go into every record have a length that fits there.
func TestLongWordsAreCut(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	tl := reply(OpenAIChat, "text/event-stream", events(
		`{"model":"`+long+`","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"`+long+`"}]}`, "[DONE]"), timeline.EOF)
	if len(tl.Model) > maxWords+4 || len(tl.FinishReason) > maxWords+4 || tl.FinishReason == "" {
		t.Errorf("model of %d bytes, finish reason of %d", len(tl.Model), len(tl.FinishReason))
	}
	for _, data := range []string{
		`{"error":{"message":"` + long + `","type":"` + long + `","code":"` + long + `"}}`,
		`{"error":[` + strings.Repeat(`{"code":500},`, 100_000) + `{"message":"no"}]}`,
	} {
		tl = reply(OpenAIChat, "text/event-stream", events(data), timeline.EOF)
		if tl.Outcome != timeline.StreamError || len(tl.Error.Message) > maxMessage+maxWords+16 {
			t.Errorf("%s with %d bytes", tl.Outcome, len(tl.Error.Message))
		}
	}
}

// Kept text is bounded too; what is not kept is still counted.
func TestKeptTextIsBounded(t *testing.T) {
	s, tl := opened(200, "text/event-stream", StreamOptions{KeepText: true})
	data := []byte(events(content(strings.Repeat("a", 1<<20))))
	n := 0
	for ; s.total < maxKept+8<<20; n++ {
		s.Read(int64(n), 0, data)
	}
	s.Read(int64(n), 0, []byte(events(stopChunk, "[DONE]")))
	s.End(int64(n), timeline.EOF, nil, nil)
	if tl.Outcome != timeline.OK || len(tl.Text) > maxKept || len(tl.Text) < maxKept/2 || tl.Events.Len() != n+2 {
		t.Errorf("%s with %d bytes of text and %d events", tl.Outcome, len(tl.Text), tl.Events.Len())
	}
}

// Members are not looked for ahead at each of the ten thousand levels that JSON allows: the time for an event grows with its bytes.
func TestNestedEventsTakeNoTime(t *testing.T) {
	const levels = 4900
	text := strings.Repeat("é", 1<<16)
	for _, c := range []struct {
		api              *API
		open, begin, end string
	}{
		{GeminiInteractions, `{"event_type":"step.delta","delta":`, `{"content":`, `}`},
		{GeminiInteractions, `{"event_type":"step.delta","delta":`, `{"summary":[`, `]}`},
		{OpenAIChat, `{"choices":[{"index":0,"delta":{"reasoning_details":[`, `{"text":`, `}`},
		{OpenAIChat, `{"choices":[{"index":0,"delta":{"content_blocks":[`, `{"delta":`, `}`},
	} {
		closing := strings.NewReplacer("{", "}", "[", "]")
		read := func(levels int) time.Duration {
			var last []byte
			for _, b := range []byte(c.open) {
				switch b {
				case '{', '[':
					last = append([]byte(closing.Replace(string(b))), last...)
				case ']', '}':
					last = last[1:]
				}
			}
			event := "data: " + c.open + strings.Repeat(c.begin, levels) + `"` + text + `"` + strings.Repeat(c.end, levels) + string(last) + "\n\n"
			least := time.Hour
			for range 3 {
				s := NewStream(timeline.New(), c.api, StreamOptions{})
				s.Head(0, Head{200, http.Header{"Content-Type": {"text/event-stream"}}})
				began := time.Now()
				s.Read(0, 0, []byte(event))
				least = min(least, time.Since(began))
			}
			return least
		}
		if flat, nested := read(1), read(levels); nested > 100*flat {
			t.Errorf("%s: %v for %s, %v nested 4,900 times", c.api.Name, flat, c.begin, nested)
		}
	}
}
