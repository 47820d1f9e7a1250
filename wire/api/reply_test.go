package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// reply reads a whole reply of status 200 with the given content type.
func reply(a *API, contentType, body string, end timeline.End) *timeline.Timeline {
	head := Head{200, http.Header{}}
	if contentType != "" {
		head.Header.Set("Content-Type", contentType)
	}
	return replay(a, head, [][]byte{[]byte(body)}, end)
}

// events writes chunks as server-sent events.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// kinds describes the events of a reply: kind, choice if not 0, tokens if known.
func kinds(tl *timeline.Timeline) string {
	var out []string
	for ev := range tl.Events.All() {
		s := ev.Kind.String()
		if ev.Choice != 0 {
			s += fmt.Sprintf("#%d", ev.Choice)
		}
		if n, ok := ev.Tokens.Get(); ok {
			s += fmt.Sprintf(":%d", n)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func content(s string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s)
}

const (
	stopChunk  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usageChunk = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`
)

func TestOpenAIChunks(t *testing.T) {
	cases := []struct {
		name   string
		chunks []string
		want   string // kinds of the events
		check  func(tl *timeline.Timeline) string
	}{
		{"channels", []string{
			`{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`{"choices":[{"delta":{"reasoning":"a"}}]}`,
			`{"choices":[{"delta":{"content":null,"reasoning_content":"a"}}]}`,
			`{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}`,
			`{"choices":[{"delta":{"refusal":"no"}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":null,"arguments":"{\"content\":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"function_call":{"name":"f"}}}]}`,
			`{"choices":[{"delta":{"audio":{"data":"UklGRg=="}}}]}`,
			`{"choices":[{"delta":{}}]}`, `{"choices":[]}`, `{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`,
			stopChunk, usageChunk, "[DONE]",
		}, "role reasoning reasoning text refusal tool tool empty tool media empty empty empty finish usage done", nil},
		{"both names of reasoning", []string{`{"choices":[{"delta":{"reasoning":"same","reasoning_content":"same"}}]}`}, "reasoning",
			func(tl *timeline.Timeline) string { return want("thought", tl.Thought, "same") }},
		{"content as a list", []string{
			`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
			`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`,
		}, "reasoning text", func(tl *timeline.Timeline) string { return want("text", tl.Text+"|"+tl.Thought, "ab|hm") }},
		{"two choices in a chunk", []string{
			`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`,
		}, "text text#1", nil},
		{"logprobs", []string{
			`{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"x"}]},{"token":"b"}]}}]}`,
			`{"choices":[{"delta":{"content":""},"logprobs":{"content":[{"token":"\\xf0"}]}}]}`,
			`{"choices":[{"delta":{"content":"c"},"logprobs":{"content":[{"token":"c"}]}}]}`,
		}, "text:2 empty text:2", func(tl *timeline.Timeline) string { return want("counted", tl.Counted, timeline.Some(int64(4))) }},
		{"logprobs of completions", []string{
			`{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[-1,-2],"top_logprobs":null}}]}`,
		}, "text:2", nil},
		{"empty logprobs count nothing", []string{`{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[]}}]}`}, "text",
			func(tl *timeline.Timeline) string { return want("counted", tl.Counted, none) }},
		{"token ids before logprobs", []string{
			`{"choices":[{"delta":{"content":"ab"},"token_ids":[1,2,3],"logprobs":{"content":[{}]}}]}`,
		}, "text:3", nil},
		{"ids on some events only", []string{`{"choices":[{"delta":{"content":"a"},"token_ids":[1]}]}`, content("b")}, "text:1 text",
			func(tl *timeline.Timeline) string { return want("counted", tl.Counted, none) }},
		{"running usage", []string{
			`{"choices":[{"delta":{"role":"assistant"}}],"usage":{"prompt_tokens":5,"completion_tokens":0}}`,
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			`{"choices":[{"delta":{"content":""}}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			`{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":5,"completion_tokens":4}}`,
		}, "role text:1 empty text:3", nil},
		{"usage in the last chunk is no running one (B20)", []string{content("a"), content("b"),
			`{"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3}}`,
		}, "text text text", nil},
		{"placeholder usage", []string{
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`,
		}, "text", func(tl *timeline.Timeline) string { return want("usage", tl.Usage, timeline.Usage{}) }},
		{"last value that is not null wins, field by field", []string{
			`{"choices":[{"delta":{"content":"a"}}],"usage":null}`,
			`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}`,
			`{"choices":null,"usage":{"prompt_tokens":null,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}`,
		}, "text usage usage", func(tl *timeline.Timeline) string {
			return want("usage", jsonOf(tl.Usage), `{"input":9,"cached":4,"output":3,"reasoning":1,"total":12}`)
		}},
		{"usage of vendors (B23)", []string{content("a"),
			`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"queue_time":0.25,"prompt_tokens":11,"completion_tokens":6,"total_tokens":17,"prompt_time":0.5,"completion_time":1,"total_time":1.5}}}`,
		}, "text finish", func(tl *timeline.Timeline) string {
			return want("usage", jsonOf(tl.Usage)+jsonOf(tl.Server),
				`{"input":11,"output":6,"total":17}{"decode_ms":1000,"prefill_ms":500,"queue_ms":250,"total_ms":1500}`)
		}},
		{"usage within the choice", []string{content("a"),
			`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1,"cached_tokens":2}}]}`,
		}, "text finish", func(tl *timeline.Timeline) string {
			return want("usage", jsonOf(tl.Usage), `{"input":3,"cached":2,"output":1}`)
		}},
		{"usage with a text member called usage", []string{content(`"usage":{"prompt_tokens":1}`)}, "text",
			func(tl *timeline.Timeline) string { return want("usage", tl.Usage, timeline.Usage{}) }},
		{"one usage for each choice (llama.cpp)", []string{content("a"), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, stopChunk,
			`{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":22,"total_tokens":26},"timings":{"prompt_ms":1}}`,
			`{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"completion_tokens":5,"prompt_tokens":22,"total_tokens":27},"timings":{"prompt_ms":2}}`, "[DONE]",
		}, "text text#1 finish usage finish#1 usage done", func(tl *timeline.Timeline) string {
			return want("usage", jsonOf(tl.Usage), `{"input":22,"output":9,"total":31}`)
		}},
		{"timings and metrics", []string{
			`{"choices":[{"delta":{"content":"a"}}],"timings":{"cache_n":3,"prompt_n":8,"prompt_ms":1.5,"predicted_n":1,"predicted_ms":0.5,"predicted_per_token_ms":0.5,"predicted_per_second":2000,"draft_n":4,"draft_n_accepted":3}}`,
			`{"choices":[],"metrics":{"queue_time_ms":7,"time_to_first_token_ms":9,"speculative_decoding":{"x":1,"num_spec_steps":2,"num_draft_tokens":6,"num_accepted_draft_tokens":5}},"timings":{"predicted_ms":-1}}`,
		}, "text empty", func(tl *timeline.Timeline) string {
			return want("server", jsonOf(tl.Server), `{"cached_tokens":3,"decode_ms":0.5,"decode_per_token_ms":0.5,"decode_tokens":1,"draft_accepted_tokens":5,"draft_tokens":6,"prefill_ms":9,"prefill_tokens":8,"queue_ms":7}`)
		}},
		{"progress", []string{`{"choices":[{"delta":{"role":"assistant","content":null}}],"prompt_progress":{"total":3,"processed":1}}`, content("a")}, "progress text", nil},
		{"no JSON (B31)", []string{": OPENROUTER PROCESSING", "{", `{"choices":[{"delta":{"content":"a"}}]} x`, content("a")}, "empty empty empty text",
			func(tl *timeline.Timeline) string {
				return want("malformed", tl.Flags.Has(timeline.MalformedEvent), true)
			}},
		{"a message in a stream", []string{`{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`}, "text", nil},
		{"empty finish reasons", []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`}, "text",
			func(tl *timeline.Timeline) string { return want("outcome", tl.Outcome, timeline.StreamTruncated) }},
		{"not an object", []string{"null", "7", `"a"`, "[]", content("a")}, "empty empty empty empty text", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tl := reply(OpenAIChat, "text/event-stream", events(c.chunks...), timeline.EOF)
			if got := kinds(tl); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.check != nil {
				if words := c.check(tl); words != "" {
					t.Error(words)
				}
			}
		})
	}
}

func want(what string, got, want any) string {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return ""
	}
	return fmt.Sprintf("%s: got %v, want %v", what, got, want)
}

// Every way a reply can end, and what it is then.
func TestOutcomes(t *testing.T) {
	const stream = "text/event-stream"
	reset := errors.New("read tcp: connection reset by peer")
	good := events(content("a"), stopChunk, "[DONE]")
	cases := []struct {
		name        string
		status      int // 0: no response
		contentType string
		body        string
		end         timeline.End
		cause       error
		want        timeline.Outcome
		says        string
		flags       []string
	}{
		{"good", 200, stream, good, timeline.EOF, nil, timeline.OK, "", nil},
		{"content type with parameters", 200, "Text/Event-Stream; charset=utf-8", good, timeline.EOF, nil, timeline.OK, "", nil},
		{"content type that is no type", 200, "text/event-stream; ;", good, timeline.EOF, nil, timeline.OK, "", nil},
		{"no content type, events", 200, "", good, timeline.EOF, nil, timeline.OK, "", nil},
		{"no content type, JSON", 200, "", `{"choices":[{"message":{"content":"a"}}]}`, timeline.EOF, nil, timeline.OK, "", []string{"non_streaming", "stream_ignored"}},
		{"events called JSON", 200, "application/json", good, timeline.EOF, nil, timeline.OK, "", nil},
		{"events called NDJSON (B58)", 200, "application/x-ndjson", good, timeline.EOF, nil, timeline.OK, "", nil},
		{"white space before a body", 200, "application/json", " \r\n\t" + `{"choices":[{"message":{"content":"a"}}]}`, timeline.EOF, nil, timeline.OK, "", nil},
		{"no terminator (B37)", 200, stream, events(content("a"), stopChunk), timeline.EOF, nil, timeline.OK, "", []string{"no_done"}},
		{"no finish reason but a terminator (B25)", 200, stream, events(content("a"), "[DONE]"), timeline.EOF, nil, timeline.OK, "", nil},
		{"cut after the finish reason", 200, stream, events(content("a"), stopChunk), timeline.Cut, nil, timeline.OK, "", []string{"dirty_close", "no_done"}},
		{"reset after the finish reason", 200, stream, good, timeline.Reset, reset, timeline.OK, "", []string{"dirty_close"}},
		{"timeout after the finish reason", 200, stream, events(content("a"), stopChunk), timeline.EndTimeoutIdle, nil, timeline.OK, "", []string{"no_done"}},
		{"cancelled after the terminator", 200, stream, good, timeline.EndUser, nil, timeline.OK, "", nil},
		{"left open after the terminator", 200, stream, good, timeline.EndLeftOpen, nil, timeline.OK, "", []string{"left_open"}},
		{"the run's end after the terminator", 200, stream, good, timeline.EndRunEnd, nil, timeline.OK, "", nil},
		{"ended early (B39)", 200, stream, events(content("a")), timeline.EOF, nil, timeline.StreamTruncated, "ended without a finish reason", nil},
		{"ended before any byte", 200, stream, "", timeline.EOF, nil, timeline.StreamTruncated, "before any data", nil},
		{"ended within an event", 200, stream, events(content("a")) + `data: {"choi`, timeline.EOF, nil, timeline.StreamTruncated, "without a finish reason", nil},
		{"ended within a line's name", 200, stream, events(content("a")) + `dat`, timeline.EOF, nil, timeline.StreamTruncated, "3 bytes into an event", nil},
		{"one of two choices finished", 200, stream, events(content("a"), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, stopChunk), timeline.EOF, nil, timeline.StreamTruncated, "before every choice had finished", nil},
		{"cut (B39)", 200, stream, events(content("a")), timeline.Cut, nil, timeline.StreamTruncated, "closed in the middle", nil},
		{"reset (B48)", 200, stream, events(content("a")), timeline.Reset, reset, timeline.ConnReset, "connection reset by peer", nil},
		{"first token too late", 200, stream, "", timeline.EndTimeoutTTFT, nil, timeline.TimeoutTTFT, "first token", nil},
		{"idle", 200, stream, events(content("a")), timeline.EndTimeoutIdle, nil, timeline.TimeoutIdle, "idle", nil},
		{"too long", 200, stream, events(content("a")), timeline.EndTimeoutTotal, nil, timeline.TimeoutTotal, "time limit", nil},
		{"user", 200, stream, events(content("a")), timeline.EndUser, nil, timeline.CancelledUser, "cancelled", nil},
		{"end of the run", 200, stream, events(content("a")), timeline.EndRunEnd, nil, timeline.CancelledRunEnd, "end of the run", nil},
		{"no tokens (B3)", 200, stream, events(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, stopChunk, "[DONE]"), timeline.EOF, nil, timeline.EmptyOutput, "no token", nil},
		{"no text, though tokens were spent", 200, stream, events(stopChunk, usageChunk, "[DONE]"), timeline.EOF, nil, timeline.EmptyOutput, "usage counts 7 (finish reason stop)", nil},
		{"error object (B40)", 200, stream, events(content("a"), `{"error":{"message":"worker died","type":"server_error","code":500}}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "worker died (type server_error, code 500)", nil},
		{"error as a string", 200, stream, events(content("a"), `{"error":"out of memory"}`), timeline.EOF, nil, timeline.StreamError, "out of memory", nil},
		{"error of vLLM's older shape", 200, stream, events(`{"object":"error","message":"too long","type":"BadRequestError","code":400}`), timeline.EOF, nil, timeline.StreamError, "too long (type BadRequestError, code 400)", nil},
		{"error without words", 200, stream, events(`{"error":true}`), timeline.EOF, nil, timeline.StreamError, "true", nil},
		{"error event with a comment (Dynamo)", 200, stream, events(content("a")) + "event: error\n: worker disconnected\n\ndata: [DONE]\n\n", timeline.EOF, nil, timeline.StreamError, "worker disconnected", nil},
		{"the same before any token", 200, stream, "event: error\n: no instances found\n\ndata: [DONE]\n\n", timeline.EOF, nil, timeline.StreamError, "no instances found", nil},
		{"the same at the end", 200, stream, events(content("a")) + "event: error\n: worker disconnected\n\n", timeline.EOF, nil, timeline.StreamError, "worker disconnected", nil},
		// fastchat/serve/openai_api_server.py, chat_completion_stream_generator; fastchat/constants.py, ErrorCode
		{"FastChat's worker fails", 200, stream, events(content("a"), `{"text":"**NETWORK ERROR DUE TO HIGH TRAFFIC.**","error_code":50001}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "**NETWORK ERROR DUE TO HIGH TRAFFIC.** (error_code 50001)", nil},
		{"FastChat's worker fails at once", 200, stream, events(`{"text":"CUDA out of memory","error_code":50002}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "CUDA out of memory (error_code 50002)", nil},
		{"a code without words", 200, stream, events(content("a"), `{"errcode":"E17","text":"a"}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "errcode E17", nil},
		{"a code of 0 is none", 200, stream, events(content("a"), `{"text":"a","error_code":0}`, stopChunk, "[DONE]"), timeline.EOF, nil, timeline.OK, "", nil},
		{"error event with text", 200, stream, "event: error\ndata: it broke\n\n", timeline.EOF, nil, timeline.StreamError, "it broke", nil},
		{"error event with JSON", 200, stream, "event: error\ndata: {\"message\":\"it broke\",\"code\":3}\n\n", timeline.EOF, nil, timeline.StreamError, "it broke (code 3)", nil},
		{"field called error", 200, stream, "error: {\"message\":\"it broke\"}\n\n", timeline.EOF, nil, timeline.StreamError, "it broke", nil},
		{"error after the finish reason", 200, stream, events(content("a"), stopChunk, `{"error":{"message":"late"}}`), timeline.EOF, nil, timeline.StreamError, "late", nil},
		{"finish reason error (B42)", 200, stream, events(content("a"), `{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"upstream disconnected"}}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "upstream disconnected (code 502)", nil},
		{"an error in the choice, as OpenRouter's API reference has it", 200, stream, events(content("a"), `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":null,"error":{"code":502,"message":"upstream died"}}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "upstream died (code 502)", nil},
		{"no error in the choice", 200, stream, events(`{"choices":[{"index":0,"delta":{"content":"a"},"error":null}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","error":{}}]}`, "[DONE]"), timeline.EOF, nil, timeline.OK, "", nil},
		{"DeepSeek's reference: interrupted for want of resources", 200, stream, events(content("a"), `{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason insufficient_system_resource", nil},
		{"TensorRT-LLM gives up", 200, stream, events(content("a"), `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"timeout"}]}`, `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason timeout", nil},
		{"TensorRT-LLM is asked to", 200, stream, events(content("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"cancelled"}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason cancelled", nil},
		{"watsonx, a whole answer", 200, "application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"time_limit"}]}`, timeline.EOF, nil, timeline.StreamError, "finish reason time_limit", nil},
		{"Zhipu's reference: the model's inference failed", 200, stream, events(content("a"), `{"choices":[{"delta":{},"finish_reason":"network_error"}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason network_error", nil},
		{"Portkey, Anthropic's stream broke off (gateway 1.15.2, providers/anthropic/chatComplete)", 200, stream, events(content("a"), `{"model":"","provider":"anthropic","choices":[{"finish_reason":"overloaded_error","delta":{"content":""}}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason overloaded_error", nil},
		{"Portkey, an error without that ending", 200, stream, events(content("a"), `{"choices":[{"finish_reason":"request_too_large","delta":{"content":""}}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason request_too_large", nil},
		{"Zhipu's reference: filtered is no failure", 200, stream, events(content("a"), `{"choices":[{"delta":{},"finish_reason":"sensitive"}]}`, "[DONE]"), timeline.EOF, nil, timeline.OK, "", nil},
		{"finish reason error alone (B42)", 200, stream, events(content("a"), `{"choices":[{"delta":{},"finish_reason":"error"}]}`, "[DONE]"), timeline.EOF, nil, timeline.StreamError, "finish reason error", nil},
		{"finish reason abort", 200, stream, events(content("a"), `{"choices":[{"delta":{},"finish_reason":"abort"}]}`), timeline.EOF, nil, timeline.StreamError, "finish reason abort", nil},
		{"error line in an event stream", 200, stream, `{"error":{"message":"no stream"}}`, timeline.EOF, nil, timeline.StreamError, "no stream", nil},
		{"error body of status 200", 200, "application/json", `{"error":{"message":"no"}}`, timeline.EOF, nil, timeline.StreamError, "no", nil},
		{"web page", 200, "text/html", "<html><body>Sign in</body></html>", timeline.EOF, nil, timeline.BadContentType, `"text/html"`, nil},
		{"web page, cut", 200, "text/html", "<html>", timeline.Cut, nil, timeline.BadContentType, "<html>", nil},
		{"body that is no JSON", 200, "application/json", `{"choices":[`, timeline.EOF, nil, timeline.Parse, `no JSON: {"choices":[`, nil},
		{"body that was cut", 200, "application/json", `{"choices":[`, timeline.Cut, nil, timeline.StreamTruncated, "within the JSON text", nil},
		{"body cut after its end", 200, "application/json", `{"choices":[{"message":{"content":"a"}}]}`, timeline.Cut, nil, timeline.OK, "", []string{"dirty_close"}},
		{"body without choices", 200, "application/json", `{"ok":true}`, timeline.EOF, nil, timeline.EmptyOutput, "no token", nil},
		{"rate limit (B46)", 429, "application/json", `{"error":{"message":"slow down","type":"rate_limit_error"}}`, timeline.EOF, nil, timeline.HTTP429, "HTTP 429 Too Many Requests: slow down (type rate_limit_error)", nil},
		{"load balancer page (B47)", 503, "text/html", "<p>no healthy\r\n\tupstream</p>" + strings.Repeat("x", 4000), timeline.EOF, nil, timeline.HTTP5xx, "HTTP 503 Service Unavailable: <p>no healthy upstream</p>xx", nil},
		{"error body, cut", 500, "application/json", `{"error":{"mess`, timeline.Cut, nil, timeline.HTTP5xx, `{"error":{"mess`, nil},
		{"temporary keys that have ended", 403, "application/json", `{"message":"The security token included in the request is expired"}`, timeline.EOF, nil, timeline.HTTP4xx, "HTTP 403 Forbidden: The security token included in the request is expired; Amazon's temporary keys have run out: export new ones", nil},
		{"a signature too old", 403, "application/json", `{"message":"Signature expired: 20261129T115400Z is now earlier than 20261129T115900Z"}`, timeline.EOF, nil, timeline.HTTP4xx, "HTTP 403 Forbidden: Signature expired: 20261129T115400Z is now earlier than 20261129T115900Z; the clocks of this machine and the server differ: set both by NTP", nil},
		{"a signature of the future", 403, "application/json", `{"message":"Signature not yet current: 20261129T120400Z is still later than 20261129T120400Z (20261129T115900Z + 5 min.)"}`, timeline.EOF, nil, timeline.HTTP4xx, "5 min.); the clocks of this machine", nil},
		{"a clock that is off", 403, "application/xml", `<Error><Code>RequestTimeTooSkewed</Code></Error>`, timeline.EOF, nil, timeline.HTTP4xx, "</Error>; the clocks of this machine", nil},
		{"empty error body", 404, "", "", timeline.EOF, nil, timeline.HTTP4xx, "HTTP 404 Not Found", nil},
		{"detail", 422, "application/json", `{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}`, timeline.EOF, nil, timeline.HTTP4xx, "field required (loc body, type missing)", nil},
		{"detail, where", 422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"name"],"msg":"Extra inputs are not permitted"}]}`, timeline.EOF, nil, timeline.HTTP4xx, "Extra inputs are not permitted (type extra_forbidden, loc body.messages.0.name)", nil},
		{"a parameter", 400, "application/json", `{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"temperature","code":null}}`, timeline.EOF, nil, timeline.HTTP4xx, "Unsupported value (type invalid_request_error, param temperature)", nil},
		{"list of errors", 400, "application/json", `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, timeline.EOF, nil, timeline.HTTP4xx, "bad (code 400, status INVALID_ARGUMENT)", nil},
		{"redirect (B49)", 301, "", "", timeline.EOF, nil, timeline.RedirectRefused, "HTTP 301 Moved Permanently", nil},
		{"no response, cut", 0, "", "", timeline.Cut, errors.New("EOF"), timeline.ConnReset, "before any response came: EOF", nil},
		{"no response, timeout", 0, "", "", timeline.EndTimeoutTotal, nil, timeline.TimeoutTotal, "time limit", nil},
		{"no response, cancelled", 0, "", "", timeline.EndRunEnd, nil, timeline.CancelledRunEnd, "cancelled", nil},
		{"interim answer only", 103, "", "", timeline.Cut, nil, timeline.StreamTruncated, "HTTP 103", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tl := timeline.New()
			tl.Asked = true
			s := NewStream(tl, OpenAIChat, StreamOptions{})
			if c.status != 0 {
				h := http.Header{}
				if c.contentType != "" {
					h.Set("Content-Type", c.contentType)
				}
				s.Head(10, Head{c.status, h})
			}
			s.Read(20, 0, []byte(c.body))
			s.End(30, c.end, nil, c.cause)
			if tl.Outcome != c.want {
				t.Fatalf("got %s (%+v), want %s", tl.Outcome, tl.Error, c.want)
			}
			if tl.Outcome == timeline.OK && tl.Error != nil || tl.Outcome != timeline.OK && (tl.Error == nil || tl.Error.Class != c.want) {
				t.Errorf("error %+v", tl.Error)
			}
			if tl.Error != nil && !strings.Contains(tl.Error.Message, c.says) {
				t.Errorf("message %q does not say %q", tl.Error.Message, c.says)
			}
			if tl.Error != nil && len(tl.Error.Message) > 1400 {
				t.Errorf("message of %d bytes", len(tl.Error.Message))
			}
			for _, name := range c.flags {
				if f, _ := timeline.ParseFlags([]string{name}); !tl.Flags.Has(f) {
					t.Errorf("flag %s is missing from %v", name, tl.Flags.Names())
				}
			}
			if (c.end == timeline.EndRunEnd || c.end == timeline.EndUser) && tl.Flags.Has(timeline.LeftOpen) {
				t.Error("what we ended is blamed on the server")
			}
			if tl.CloseUS != timeline.Some(int64(30)) {
				t.Errorf("close %v", tl.CloseUS)
			}
		})
	}
}

// A gateway whose token is stale says nothing of clocks.
func TestStaleToken(t *testing.T) {
	for _, words := range []string{"Signature expired", "JWT rejected: Signature expired: log in again", "Signature not yet current", "Signature has expired"} {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(1, Head{401, http.Header{"Content-Type": {"application/json"}}})
		s.Read(2, 0, []byte(`{"message":"`+words+`"}`))
		s.End(3, timeline.EOF, nil, nil)
		if tl.Error == nil || tl.Error.Message != "HTTP 401 Unauthorized: "+words {
			t.Errorf("%s: %+v", words, tl.Error)
		}
	}
}

func TestAllowEmpty(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{AllowEmpty: true})
	s.Head(1, Head{200, eventStream})
	s.Read(2, 0, []byte(events(stopChunk, "[DONE]")))
	s.End(3, timeline.EOF, nil, nil)
	if tl.Outcome != timeline.OK || s.HasToken() || s.LastTokenUS() != 0 {
		t.Errorf("%s, %v", tl.Outcome, tl.Error)
	}
}

func TestEventOverTheCap(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{MaxEvent: 1024})
	s.Head(1, Head{200, eventStream})
	s.Read(2, 0, []byte(events(content("a"))))
	for i := range int64(10) {
		s.Read(3+i, 0, []byte("data: "+strings.Repeat("x", 1000)))
	}
	s.End(30, timeline.EOF, nil, nil)
	if tl.Outcome != timeline.Parse || !strings.Contains(tl.Error.Message, "1 KiB") || kinds(tl) != "text" {
		t.Errorf("%s, %v, %s", tl.Outcome, tl.Error, kinds(tl))
	}
}

func TestProgressOfAStream(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{})
	s.Head(5, Head{200, eventStream})
	steps := []struct {
		at   int64
		data string
		has  bool
		last int64
		done bool
	}{
		{10, ": ping\n\n", false, 0, false},
		{20, events(content("a")), true, 20, false},
		{30, ": ping\n\n", true, 20, false},
		{40, events(stopChunk), true, 20, false},
		{50, "data: [DONE]\n", true, 20, false},
		{60, "\n", true, 20, true},
	}
	for _, step := range steps {
		s.Read(step.at, 0, []byte(step.data))
		if s.HasToken() != step.has || s.LastTokenUS() != step.last || s.Complete() != step.done {
			t.Errorf("at %d: %v, %d, %v", step.at, s.HasToken(), s.LastTokenUS(), s.Complete())
		}
	}
}

// A retry gives another head: what the answer before left does not count.
func TestSecondHeadStartsAnew(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{})
	s.Head(5, Head{503, http.Header{"Retry-After": {"1.5"}, "Content-Encoding": {"gzip"}}})
	s.Read(6, 0, []byte("no gzip"))
	s.Head(50, Head{200, eventStream})
	s.Read(60, 0, []byte(events(content("a"), stopChunk, "[DONE]")))
	s.End(70, timeline.EOF, nil, nil)
	if tl.Outcome != timeline.OK || tl.HeadUS != timeline.Some(int64(50)) || tl.RetryAfterUS != timeline.Some(int64(1_500_000)) {
		t.Errorf("%+v", tl)
	}
}

func TestTrailersAreTold(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{})
	s.Head(5, Head{200, eventStream})
	s.Read(6, 0, []byte(events(content("a"))))
	s.End(7, timeline.EOF, http.Header{"X-Error": {"worker 3 died"}}, nil)
	if !strings.Contains(tl.Error.Message, "x-error: worker 3 died") {
		t.Error(tl.Error)
	}
}

func TestUnknownContentEncoding(t *testing.T) {
	h := eventStream.Clone()
	h.Set("Content-Encoding", "compress")
	tl := replay(OpenAIChat, Head{200, h}, [][]byte{[]byte("x")}, timeline.EOF)
	if tl.Outcome != timeline.Parse || !strings.Contains(tl.Error.Message, `"compress"`) {
		t.Errorf("%s %v", tl.Outcome, tl.Error)
	}
	h.Set("Content-Encoding", "gzip")
	tl = replay(OpenAIChat, Head{200, h}, [][]byte{[]byte("no gzip at all")}, timeline.EOF)
	if tl.Outcome != timeline.Parse || !strings.Contains(tl.Error.Message, "gzip") {
		t.Errorf("%s %v", tl.Outcome, tl.Error)
	}
}

// Codings may stand in fields of their own: they make one list (RFC 9110, 5.2).
func TestContentEncodingInFields(t *testing.T) {
	zipped := func(p []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(p)
		_ = w.Close()
		return b.Bytes()
	}
	body := []byte(events(content("a"), stopChunk, "[DONE]"))
	for _, c := range []struct {
		fields []string
		body   []byte
	}{
		{[]string{"gzip", "gzip"}, zipped(zipped(body))},
		{[]string{"identity", "", "gzip"}, zipped(body)},
		{[]string{"none"}, body},
		{[]string{"gzip, identity", "gzip"}, zipped(zipped(body))},
	} {
		h := eventStream.Clone()
		h["Content-Encoding"] = c.fields
		if tl := replay(OpenAIChat, Head{200, h}, [][]byte{c.body}, timeline.EOF); tl.Outcome != timeline.OK || tl.Flags.Has(timeline.Compressed) != (c.fields[0] != "none") {
			t.Errorf("%q: %s %v", c.fields, tl.Outcome, tl.Error)
		}
	}
}

// Retry-After in seconds and as a date, which is relative to the answer's own
// Date (B46).
// OpenAI's and Azure's own header is in milliseconds and goes before the other.
func TestRetryAfterMS(t *testing.T) {
	for _, c := range []struct {
		ms, after string
		want      int64 // ms, -1: none
	}{
		{"250", "", 250}, {" 1250.5 ", "2", 1250}, {"0", "7", 0}, {"soon", "2", 2000}, {"-5", "", -1}, {"NaN", "1", 1000}, {"1e300", "", -1},
	} {
		h := http.Header{}
		h.Set("retry-after-ms", c.ms)
		if c.after != "" {
			h.Set("Retry-After", c.after)
		}
		got, ok := RetryAfter(h)
		if ok != (c.want >= 0) || ok && got.Milliseconds() != c.want {
			t.Errorf("%q beside %q: %v, %v", c.ms, c.after, got, ok)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	cases := []struct {
		after, date string
		want        int64 // ms, -1: none
	}{
		{"2", "", 2000}, {" 0.25 ", "", 250}, {"0", "", 0}, {"", "", -1}, {"soon", "", -1}, {"-1", "", -1}, {"NaN", "", -1}, {"1e300", "", -1},
		{"Thu, 01 Jan 2026 00:00:02 GMT", "Thu, 01 Jan 2026 00:00:00 GMT", 2000},
		{"Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:02 GMT", 0},
		{"Thu, 01 Jan 2026 00:00:02 GMT", "", -1},
	}
	for _, c := range cases {
		h := http.Header{}
		h.Set("Retry-After", c.after)
		if c.date != "" {
			h.Set("Date", c.date)
		}
		got, ok := RetryAfter(h)
		if ok != (c.want >= 0) || ok && got.Milliseconds() != c.want {
			t.Errorf("%q with date %q: %v, %v", c.after, c.date, got, ok)
		}
	}
}
