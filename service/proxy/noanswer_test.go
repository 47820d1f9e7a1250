package proxy

import (
	"fmt"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
)

// Who asks for no answer gets none: that is no failure of the server, and spends no
// error budget. Who asks for one and gets nothing was failed.
func TestNoAnswerWasAskedFor(t *testing.T) {
	const (
		vertex = "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict"
		empty  = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"length"}]}`
		none   = `{"type":"message","role":"assistant","content":[],"stop_reason":"max_tokens","usage":{"input_tokens":9,"output_tokens":0}}`
		loaded = `{"model":"m","response":"","done":true,"done_reason":"load"}`
		chat   = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`
		queued = `{"id":"resp_1","object":"response","status":"queued","output":[],"usage":null}`
		warmed = `{"object":"response","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":0}}`
		scored = `{"text":"","meta_info":{"finish_reason":{"type":"length","length":0},"prompt_tokens":2,"completion_tokens":0}}`
	)
	for _, c := range []struct {
		path, body, reply string
		outcome           timeline.Outcome
	}{
		{"/api/generate", `{"model":"m"}`, loaded, timeline.OK}, // Ollama loads, and below unloads
		{"/api/generate", `{"model":"m","prompt":"","keep_alive":0}`, loaded, timeline.OK},
		{"/api/chat", `{"model":"m","messages":[]}`, chat, timeline.OK},
		{"/api/chat", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, chat, timeline.EmptyOutput},
		{"/api/generate", `{"model":"m","prompt":"x"}`, loaded, timeline.EmptyOutput},
		{"/v1/messages", `{"model":"m","max_tokens":0,"messages":[]}`, none, timeline.OK}, // Anthropic reads the prompt into its cache
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[]}`, none, timeline.EmptyOutput},
		{"/v1/responses", `{"model":"m","input":"x","prompt_cache_options":{"prewarm":true}}`, warmed, timeline.OK},
		{"/v1/responses", `{"model":"m","input":"x","prompt_cache_options":{"prewarm":false}}`, warmed, timeline.EmptyOutput},
		{"/v1/responses", `{"model":"m","input":"x","background":true}`, queued, timeline.OK},
		{"/v1/chat/completions", `{"model":"m","messages":[],"deferred":true}`, `{"request_id":"r"}`, timeline.OK}, // xAI
		{"/v1/chat/completions", `{"model":"m","messages":[]}`, empty, timeline.EmptyOutput},
		{"/generate", `{"text":"x","sampling_params":{"max_new_tokens":0}}`, scored, timeline.OK}, // SGLang
		{"/generate", `{"text":"x","sampling_params":{"max_new_tokens":8}}`, scored, timeline.EmptyOutput},
		{"/infill", `{"input_prefix":"x","input_suffix":"","n_predict":0}`, `{"content":"","stop":true,"tokens_predicted":0,"tokens_evaluated":9}`, timeline.OK}, // editors warm the cache
		{"/v1/audio/transcriptions", `x`, `{"text":""}`, timeline.OK},                                                                                            // of silence
		{vertex, `{"model":"m","messages":[]}`, `{"input_tokens":14}`, timeline.OK},                                                                              // Anthropic's SDK counts
	} {
		synctest.Test(t, func(t *testing.T) {
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n", len(c.reply))
			h := open(t, play("0ms "+head+c.reply), nil)
			got := h.talk(post(c.path, c.body), 0)
			h.settled()
			want(t, "body's end", got.err, nil)
			want(t, c.path+" "+c.body, h.sink.one(t).Outcome, c.outcome)
		})
	}
}

// A count at Vertex AI is of the model that the body names, where a route takes some only.
func TestACountIsOfItsModel(t *testing.T) {
	a, err := readAsked([]byte(`{"model":"claude","messages":[]}`))
	a.readPath(nil, "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict")
	want(t, "error", err, nil)
	want(t, "model", a.model, "claude")
}
