package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// What a server or a gateway wrote into a stream that had begun, and that is no event of
// it: an error as JSON is one, with its words, and other text is quoted where the stream
// did not end as it should.
func TestWordsOutsideEvents(t *testing.T) {
	const failed = `{"error":{"message":"KV cache full","type":"server_error","code":500}}`
	begun, ended := events(content("a"), content("b")), events(stopChunk, "[DONE]")
	for _, c := range []struct {
		name, body string
		want       timeline.Outcome
		says       string
	}{
		{"JSON behind the events", begun + failed, timeline.StreamError, "KV cache full (type server_error, code 500)"},
		{"with a line end", begun + failed + "\n\n", timeline.StreamError, "KV cache full"},
		{"over several lines", begun + "{\n  \"error\": {\n    \"message\": \"KV cache full\"\n  }\n}\n", timeline.StreamError, "KV cache full"},
		{"of several lines with CR", begun + "{\r\n  \"error\": \"KV cache full\"\r\n}\r\n", timeline.StreamError, "KV cache full"},
		{"FastAPI's", begun + `{"detail":"worker died"}`, timeline.StreamError, "worker died"},
		{"behind a comment", ": PROCESSING\n\n" + failed, timeline.StreamError, "KV cache full"},
		{"as the whole stream, over lines", "{\n  \"error\": {\n    \"message\": \"KV cache full\"\n  }\n}\n", timeline.StreamError, "KV cache full"},
		{"and the terminator", begun + failed + "\n\ndata: [DONE]\n\n", timeline.StreamError, "KV cache full"},
		{"text", begun + "upstream connect error or disconnect/reset before headers\n", timeline.StreamTruncated, "no event: upstream connect error or disconnect/reset before headers"},
		{"text without a line end", begun + "Internal Server Error", timeline.StreamTruncated, "no event: Internal Server Error"},
		{"a page", begun + "<html>\r\n<title>502 Bad Gateway</title>\r\n</html>\r\n", timeline.StreamTruncated, "no event: <html> <title>502 Bad Gateway</title> </html>"},
		{"the data of an event", begun + events("worker died"), timeline.StreamTruncated, "no event: worker died"},

		{"an error as data in words", begun + events("[ERROR] out of memory", "[DONE]"), timeline.StreamError, "[ERROR] out of memory"},
		{"with an object", begun + events(`[ERROR]:{"code":"X","message":"down"}`, "[DONE]"), timeline.StreamError, `"down"`},
		{"with nothing", begun + events("[ERROR]", "[DONE]"), timeline.StreamError, "[ERROR]"},
		{"without brackets", begun + events("Error: CUDA out of memory", "[DONE]"), timeline.StreamError, "CUDA out of memory"},

		{"as JSON with quotes in it", begun + events(`{"error": "found "cuda:0" and "cpu"!"}`), timeline.StreamError, `found "cuda:0" and "cpu"!`},
		{"as an object with quotes in it", begun + events(`{"error":{"message":"found "cuda:0"!"}}`), timeline.StreamError, `found "cuda:0"!`},
		{"cut within an error", begun + `data: {"error":{"message":"KV cache fu`, timeline.StreamError, "KV cache fu"},
		{"cut, and no error", begun + `data: {"error":"","choices":[{"delta":{"content":"secr`, timeline.StreamTruncated, "without a finish reason"},
		{"broken, and no error", begun + events(`{"error":null,"message":"secr`), timeline.StreamTruncated, "without a finish reason"},
		{"as JSON with line ends in it", begun + "data: {\"error\": \"device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA`\n\"}\n\n", timeline.StreamError, "device-side assert triggered"},

		{"a field of a server's own", begun + "trace: x\n\n" + ended, timeline.OK, ""},
		{"JSON that tells no error", begun + `{"error":null}` + "\n\n" + ended, timeline.OK, ""},
		{"cut within a field's name", begun + "da", timeline.StreamTruncated, "without a finish reason, 2 bytes into an event"},
		{"cut within a chunk", begun + `data: {"choices":[{"delta":{"content":"secr`, timeline.StreamTruncated, "without a finish reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, end := range []timeline.End{timeline.EOF, timeline.Cut} {
				tl := reply(OpenAIChat, "text/event-stream", c.body, end)
				if tl.Outcome != c.want || c.says != "" && !strings.Contains(tl.Error.Message, c.says) {
					t.Errorf("%s: %+v, want %s with %q", tl.Outcome, tl.Error, c.want, c.says)
				}
				if tl.Error != nil && strings.Contains(tl.Error.Message, "secr") {
					t.Errorf("a piece of the answer is quoted: %s", tl.Error.Message)
				}
			}
		})
	}
}

// A server that never parts its events by an empty line sends one event, by the standard.
func TestEventsWithoutEmptyLines(t *testing.T) {
	body := strings.ReplaceAll(events(content("a"), content("b"), content("c"), content("d"), stopChunk, "[DONE]"), "\n\n", "\n")
	for _, body := range []string{body, body + "\n"} {
		tl := reply(OpenAIChat, "text/event-stream", body, timeline.EOF)
		if tl.Outcome != timeline.StreamTruncated || !strings.Contains(tl.Error.Message, "no empty line parts its events") {
			t.Errorf("%s: %+v", tl.Outcome, tl.Error)
		}
	}
}

func TestWordsBetweenLines(t *testing.T) {
	const begun = `{"message":{"role":"assistant","content":"a"},"done":false}` + "\n"
	for _, end := range []string{"", "\n"} {
		tl := reply(OllamaChat, "application/x-ndjson", begun+"llama runner process has terminated"+end, timeline.EOF)
		if tl.Outcome != timeline.StreamTruncated || !strings.Contains(tl.Error.Message, "llama runner process has terminated") {
			t.Errorf("%s: %+v", tl.Outcome, tl.Error)
		}
	}
}

// A stream of nothing but such lines takes no memory beyond what is told of them.
func TestWordsOutsideEventsAreBounded(t *testing.T) {
	for name, body := range map[string]string{
		"lines":  strings.Repeat("no event at all\n", 1<<16),
		"events": strings.Repeat("data: no event at all\n\n", 1<<16),
	} {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(0, Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}})
		s.Read(1, 0, []byte(body))
		s.End(2, timeline.EOF, nil, nil)
		if cap(s.stray) > 32<<10 || len(tl.Error.Message) > 2*maxWords {
			t.Errorf("%s: %d bytes are kept; %s", name, cap(s.stray), tl.Error.Message)
		}
	}
}

// A job that was accepted is no empty answer by the model's doing.
func TestAcceptedForLater(t *testing.T) {
	head := Head{202, map[string][]string{"Content-Type": {"application/json"}}}
	tl := replay(OpenAIChat, head, [][]byte{[]byte(`{"id":"job-1","model":"m","task_status":"PROCESSING"}`)}, timeline.EOF)
	if tl.Outcome != timeline.EmptyOutput || !strings.Contains(tl.Error.Message, "later (HTTP 202)") {
		t.Errorf("%s: %+v", tl.Outcome, tl.Error)
	}
}

// A whole reply that a gateway put into a list is read as it is.
func TestAListOfOneReply(t *testing.T) {
	const chat = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`
	for _, c := range []struct {
		name string
		a    *API
		body string
		want timeline.Outcome
		says string
	}{
		{"chat", OpenAIChat, "[" + chat + "]", timeline.OK, ""},
		{"with blanks", OpenAIChat, " [ \n " + chat + " ] ", timeline.OK, ""},
		{"Anthropic", Anthropic, `[{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":4}}]`, timeline.OK, ""},
		{"an error", OpenAIChat, `[{"error":{"code":429,"message":"quota exceeded"}}]`, timeline.StreamError, "quota exceeded"},
		{"nothing", OpenAIChat, `[]`, timeline.EmptyOutput, ""},
		{"no object", OpenAIChat, `["hi"]`, timeline.EmptyOutput, ""},
		{"cut", OpenAIChat, "[" + chat, timeline.Parse, "no JSON"},
	} {
		tl := reply(c.a, "application/json", c.body, timeline.EOF)
		if tl.Outcome != c.want || c.says != "" && !strings.Contains(tl.Error.Message, c.says) {
			t.Errorf("%s: %s, %+v", c.name, tl.Outcome, tl.Error)
		}
		if got := jsonOf(tl.Usage); c.want == timeline.OK && (got != `{"input":9,"output":4}` || tl.Text != "hi") {
			t.Errorf("%s: %s, %q", c.name, got, tl.Text)
		}
	}
}

// What a reply of which only the bytes were kept was, of whatever API.
func TestReread(t *testing.T) {
	for _, c := range []struct {
		body    string
		outcome timeline.Outcome // empty: nothing is known
	}{
		{`{"choices":[{"message":{"content":"w"},"finish_reason":"stop"}]}`, timeline.OK},
		{`data: {"choices":[{"delta":{"content":"w"}}]}` + "\n\n", timeline.StreamTruncated},
		{"event: message_start\ndata: " + `{"type":"message_start","message":{}}` + "\n\n", timeline.StreamTruncated},
		{`{"message":{"content":"w"},"done":false}` + "\n" + `{"error":"model runner has unexpectedly stopped"}`, timeline.StreamError},
		{`{"error":{"message":"no such model"}}`, timeline.StreamError},
		{`data: {"error_code":50001,"text":"NETWORK ERROR"}` + "\n\n", timeline.StreamError},
		{`{"answer":"w"}`, ""},
		{"data: w\n\n", ""},
		{"error: is how the answer begins", ""},
		{"", ""},
	} {
		var got timeline.Outcome
		if tl := Reread(c.body); tl != nil {
			got = tl.Outcome
		}
		if got != c.outcome {
			t.Errorf("%s: %q, want %q", c.body, got, c.outcome)
		}
	}
}
