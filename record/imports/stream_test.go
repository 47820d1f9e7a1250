package imports

import (
	"fmt"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Answers as servers end them, or fail to: of inference-perf 0.7, whose client takes each
// for a success, and of perf_analyzer, which keeps the same bytes event by event.
func TestAnswersAsTheyCame(t *testing.T) {
	const (
		token  = `data: {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": " w"}, "finish_reason": null}]}` + "\n\n"
		finish = `data: {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}` + "\n\n"
		done   = "data: [DONE]\n\n"
		cutOff = "the body ended without a finish reason"
	)
	for _, c := range []struct {
		name    string
		events  []string
		outcome timeline.Outcome
		words   string
	}{
		{"whole", []string{token, token, finish, done}, timeline.OK, ""},
		{"without a terminator", []string{token, token, finish}, timeline.OK, ""},
		{"without a finish reason", []string{token, token, done}, timeline.OK, ""},
		{"no errors", []string{token, `data: {"error": null, "choices": [{"text": "\"error\"", "finish_reason": null}]}` + "\n\n", `data: {"error": {}}` + "\n\n", `data: {"error": ""}` + "\n\n", done}, timeline.OK, ""},
		{"vLLM's error", []string{token, token, `data: {"error":{"message":"EngineCore encountered an issue","type":"InternalServerError","code":500}}` + "\n\n", done},
			timeline.StreamError, "EngineCore encountered an issue (type InternalServerError, code 500)"},
		{"vLLM's older error", []string{token, token, `data: {"object":"error","message":"too long","code":400}` + "\n\n", done}, timeline.StreamError, "too long (code 400)"},
		{"TGI's error", []string{token, token, `data:{"error":"Request failed during generation","error_type":"generation"}` + "\n\n"}, timeline.StreamError, "Request failed during generation"},
		{"an error without words", []string{token, token, `data: {"error":{"code":500}}` + "\n\n"}, timeline.StreamError, "code 500"},
		{"a code and its words", []string{token, `data: {"error_code":50001,"text":"NETWORK ERROR"}` + "\n\n"}, timeline.StreamError, "NETWORK ERROR (error_code 50001)"},
		{"a finish reason of failure", []string{token, `data: {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "abort"}]}` + "\n\n", done}, timeline.StreamError, "the server ended the reply with finish reason abort"},
		{"an answer about errors", []string{"error: is what it says"}, timeline.OK, ""},
		{"cut off", []string{token, token}, timeline.StreamTruncated, cutOff},
		{"cut off within an event", []string{token, token, token[:40]}, timeline.StreamTruncated, cutOff},
		{"an event in two", []string{token, token, finish[:40], finish[40:]}, timeline.OK, ""},
		{"events in one", []string{token, token + finish}, timeline.OK, ""},
		{"of another API", []string{"data: {\"text_output\":\"w\"}\n\n", "data: {\"text_output\":\"w\"}\n\n"}, timeline.OK, ""},
		{"whole, no stream", []string{`{"choices":[{"message":{"content":"w"},"finish_reason":"stop"}]}`}, timeline.OK, ""},
	} {
		times, outputs := []string{}, []string{}
		for i, e := range c.events {
			times = append(times, fmt.Sprint(1772546400100000000+int64(i)*100000000))
			outputs = append(outputs, fmt.Sprintf(`{"response":%q}`, e))
		}
		for from, file := range map[string]string{
			"inference-perf": fmt.Sprintf(`[{"start_time":100,"end_time":101,"response":%q,"info":{"response_metrics":{"output_tokens":2,"output_token_times":[100.4,100.5]}},"error":null}]`, strings.Join(c.events, "")),
			"genai-perf": fmt.Sprintf(`{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":1772546400000000000,"response_timestamps":[%s],"response_outputs":[%s]}]}],"service_kind":"openai"}`,
				strings.Join(times, ","), strings.Join(outputs, ",")),
		} {
			tool, all := read(t, c.name, []byte(file))
			words := ""
			if e := all[0].Error; e != nil {
				words = e.Message
			}
			if tool != from || all[0].Outcome != c.outcome || words != c.words {
				t.Errorf("%s, %s: %s %q, want %s %q", c.name, tool, all[0].Outcome, words, c.outcome, c.words)
			}
		}
	}
}

// An error alone is no answer of no token, and has no E2E.
func TestErrorAlone(t *testing.T) {
	_, all := read(t, "f", []byte(`{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":1772546400000000000,"response_timestamps":[1772546400100000000,1772546400200000000],
"response_outputs":[{"response":"data: {\"error\":{\"message\":\"x\",\"code\":500}}\n\n"},{"response":"data: [DONE]\n\n"}]}]}],"service_kind":"openai"}`))
	if tl := all[0]; tl.Outcome != timeline.StreamError || tl.Events.Len() != 0 {
		t.Errorf("%s, %d events", tl.Outcome, tl.Events.Len())
	}
}

// The status that inference-perf tells, in the words of 0.7 and of earlier versions.
func TestInferencePerfStatus(t *testing.T) {
	for kind, want := range map[string]timeline.Outcome{
		"HTTP Error 503": timeline.HTTP5xx, "HTTP Error 429": timeline.HTTP429, "404 Not Found": timeline.HTTP4xx,
		"TimeoutError": timeline.TimeoutTotal, "HTTP Error": timeline.Untold, "": timeline.Untold,
	} {
		_, all := read(t, kind, fmt.Appendf(nil, `[{"start_time":5,"end_time":6,"response":"{\"error\":{\"message\":\"busy\"}}","info":{"response_metrics":null},
"error":{"error_type":%q,"error_msg":"{\"error\":{\"message\":\"busy\"}}"}}]`, kind))
		if tl := all[0]; tl.Outcome != want || tl.Error.Message != `{"error":{"message":"busy"}}` || (tl.HTTPStatus != 0) != strings.HasPrefix(string(want), "http_") {
			t.Errorf("%s: %s, %d", kind, tl.Outcome, tl.HTTPStatus)
		}
	}
}
