package proxy

import (
	"strings"
	"testing"
)

// Usage that nobody asked for goes, wherever a server puts it, and nothing else.
func TestWhatIsStripped(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":1,"completion_tokens":2}`
	const content = `"choices":[{"index":0,"delta":{"content":"A"},"finish_reason":null}]`
	const ended = `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`
	data := func(s string) string { return "data: " + s + "\n\n" }
	for in, want := range map[string]string{
		data(`{"id":"x","choices":[],` + usage + `}`):                                                             "",
		data(`{` + usage + `,"choices": [ ],"id":"x"}`):                                                           "",
		data(`{"choices":[{"index":0,"delta":{},"finish_reason":null}],` + usage + `}`):                           "",
		data(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}],` + usage + `}`):               "",
		data(`{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[]}}],` + usage + `}`):                  "",
		data(`{"choices":[{"index":0,"text":"","finish_reason":null}],` + usage + `}`):                            "",
		data(`{"id":"x",` + content + `,` + usage + `}`):                                                          data(`{"id":"x",` + content + `}`),
		data(`{"id":"x",` + usage + `,` + content + `}`):                                                          data(`{"id":"x",` + content + `}`),
		data(`{ ` + usage + ` , ` + content + `}`):                                                                data(`{  ` + content + `}`),
		data(`{` + ended + `, ` + usage + ` ,"x":1}`):                                                             data(`{` + ended + ` ,"x":1}`),
		data(`{` + ended + `,` + usage + `}`):                                                                     data(`{` + ended + `}`),
		"event: x\r\nid: 1\r\ndata:{" + content + "," + usage + "}\r\n\r\n":                                       "event: x\r\nid: 1\r\ndata:{" + content + "}\r\n\r\n",
		data(`{` + content + `,"usage":null}`):                                                                    data(`{` + content + `,"usage":null}`),
		data(`{` + content + `,"x_groq":{` + usage + `}}`):                                                        data(`{` + content + `,"x_groq":{` + usage + `}}`),
		data(`{"choices":[{"index":0,"delta":{"content":"\"usage\":{}"}}]}`):                                      data(`{"choices":[{"index":0,"delta":{"content":"\"usage\":{}"}}]}`),
		data(`{"choices":[{"delta":{"role":"assistant","content":""}}],` + usage + `}`):                           data(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`),
		data(`{"error":{"message":"no"},"choices":[],` + usage + `}`):                                             data(`{"error":{"message":"no"},"choices":[]}`),
		fin + data(`{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}],`+usage+`}`):    fin,
		data(`{"choices":[{"finish_reason": "stop"}]}{"choices":[{"delta":{"role":"assistant"}}],` + usage + `}`): data(`{"choices":[{"finish_reason": "stop"}]}{"choices":[{"delta":{"role":"assistant"}}],` + usage + `}`),
		data(`{"choices":[{"delta":{"reasoning":"r"}}],` + usage + `}`):                                           data(`{"choices":[{"delta":{"reasoning":"r"}}]}`),
		data(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m",` + usage + `}`):                 "", // Fireworks; ROCm's ATOM before its pull request 1711
		data(`{"id":"c",` + usage + `,"object":"text_completion","nvext":{}}`):                                    "",
		data(`{"object":"chat.completion.chunk",` + usage + `,"citations":["x"]}`):                                data(`{"object":"chat.completion.chunk","citations":["x"]}`),
		data(`{"object":"chat.completion.chunk","timings":{"predicted_ms":9},` + usage + `}`):                     data(`{"object":"chat.completion.chunk","timings":{"predicted_ms":9}}`),
		data(`{"object":"chat.completion.chunk",` + usage + `,"delta":{"content":"hi"}}`):                         data(`{"object":"chat.completion.chunk","delta":{"content":"hi"}}`),
		data(`{"object":"text_completion","citations":null,"timings":{},"x":[ ],"y":"",` + usage + `}`):           "",
		data(`{"object":"text_completion","x":5,` + usage + `}`):                                                  data(`{"object":"text_completion","x":5}`),
		data(`{"model":"m",` + usage + `}`):                                                                       "",
		data(`{"object":"chat.completion.chunk","error":{"message":"no"},` + usage + `}`):                         data(`{"object":"chat.completion.chunk","error":{"message":"no"}}`),
		data(`{"type":"status","text":"w",` + usage + `}`):                                                        data(`{"type":"status","text":"w"}`),
		data(`{"message":{"content":"A"},` + usage + `}`):                                                         data(`{"message":{"content":"A"}}`),
		data(`{"choices":[{"delta":{},"logprobs":{"content":[]}}],` + usage + `}`):                                data(`{"choices":[{"delta":{},"logprobs":{"content":[]}}]}`),
	} {
		for _, around := range []string{"", role, tok("w")} {
			for _, step := range []int{1, 7, 1000} {
				s := newStripper()
				var got []byte
				write := func(p []byte) error { got = append(got, p...); return nil }
				for rest := around + in + around + done; rest != ""; {
					n := min(step, len(rest))
					_ = s.feed([]byte(rest[:n]), write)
					rest = rest[n:]
				}
				_ = s.end(true, write)
				if string(got) != around+want+around+done {
					t.Errorf("by %d\n of   %q\n got  %q\n want %q", step, in, got, around+want+around+done)
				}
			}
		}
	}
}

// What waits for the rest of an event takes little more than its bytes, however large the
// reads were: thousands of streams may wait.
func TestStripperHoldsLittle(t *testing.T) {
	s := newStripper()
	long := strings.Repeat(tok("a"), 1000)
	var got strings.Builder
	write := func(b []byte) error { got.Write(b); return nil }
	for range 3 {
		for _, part := range []string{long[:20_000], long[20_000:45_010], long[45_010:]} {
			if err := s.feed([]byte(part), write); err != nil {
				t.Fatal(err)
			}
			if cap(s.held) > 2*mostFrame {
				t.Errorf("%d bytes are kept for %d", cap(s.held), len(s.held))
			}
		}
	}
	if got.String() != long+long+long {
		t.Error("something else passed")
	}
}
