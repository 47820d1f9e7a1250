package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// noIgnoreEOS are APIs whose documentation has no field to ignore the end token: asking
// one for it must not look as if it did.
var noIgnoreEOS = map[string]bool{"ollama-chat": true, "ollama-generate": true, "tgi": true, "gemini": true,
	"gemini-interactions": true, "bedrock": true, "cohere": true, "triton": true}

// OpenAI's developer is the system to all others: Anthropic, Amazon and Cohere refuse the
// role, Google has no such one.
func TestDeveloperIsTheSystem(t *testing.T) {
	build := func(a *API, role string) string {
		call, err := a.Build(&Request{Model: "m", Messages: []Message{{Role: role, Content: "s"}, {Role: "user", Content: "hi"}}})
		if err != nil {
			t.Fatal(a.Name, err)
		}
		return string(call.Body)
	}
	for _, a := range []*API{Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, OllamaChat} {
		if got, want := build(a, "developer"), build(a, "system"); got != want {
			t.Errorf("%s: %s, want %s", a.Name, got, want)
		}
	}
	for _, a := range []*API{OpenAIChat, OpenAIResponses} { // whose word it is
		if got := build(a, "developer"); !strings.Contains(got, `"role":"developer"`) {
			t.Errorf("%s: %s", a.Name, got)
		}
	}
}

// The request each API is sent for one prompt of 8 tokens out, streamed, and as
// a whole reply.
func TestRequests(t *testing.T) {
	const messages = `"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]`
	want := map[string][2]string{ // path and body: streamed, whole
		"openai-chat": {
			`/v1/chat/completions {"model":"m",` + messages + `,"max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true,"seed":1}`,
			`/v1/chat/completions {"model":"m",` + messages + `,"max_tokens":8,"stream":false,"ignore_eos":true,"seed":1}`},
		"openai-completions": {
			`/v1/completions {"model":"m","prompt":"s\n\nhi","max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true,"seed":1}`,
			`/v1/completions {"model":"m","prompt":"s\n\nhi","max_tokens":8,"stream":false,"ignore_eos":true,"seed":1}`},
		"openai-responses": {
			`/v1/responses {"model":"m","input":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"max_output_tokens":8,"stream":true,"ignore_eos":true,"seed":1}`,
			`/v1/responses {"model":"m","input":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"max_output_tokens":8,"stream":false,"ignore_eos":true,"seed":1}`},
		"anthropic": {
			`/v1/messages {"model":"m","system":"s","messages":[{"role":"user","content":"hi"}],"max_tokens":8,"stream":true,"ignore_eos":true,"seed":1}`,
			`/v1/messages {"model":"m","system":"s","messages":[{"role":"user","content":"hi"}],"max_tokens":8,"stream":false,"ignore_eos":true,"seed":1}`},
		"ollama-chat": {
			`/api/chat {"model":"m",` + messages + `,"options":{"num_predict":8},"stream":true,"seed":1}`,
			`/api/chat {"model":"m",` + messages + `,"options":{"num_predict":8},"stream":false,"seed":1}`},
		"ollama-generate": {
			`/api/generate {"model":"m","prompt":"s\n\nhi","options":{"num_predict":8},"stream":true,"seed":1}`,
			`/api/generate {"model":"m","prompt":"s\n\nhi","options":{"num_predict":8},"stream":false,"seed":1}`},
		"llamacpp": {
			`/completion {"model":"m","prompt":"s\n\nhi","n_predict":8,"stream":true,"ignore_eos":true,"seed":1}`,
			`/completion {"model":"m","prompt":"s\n\nhi","n_predict":8,"stream":false,"ignore_eos":true,"seed":1}`},
		"tgi": {
			`/generate_stream {"inputs":"s\n\nhi","parameters":{"max_new_tokens":8,"details":true},"seed":1}`,
			`/generate {"inputs":"s\n\nhi","parameters":{"max_new_tokens":8,"details":true},"seed":1}`},
		"sglang": {
			`/generate {"text":"s\n\nhi","sampling_params":{"max_new_tokens":8,"ignore_eos":true},"stream":true,"seed":1}`,
			`/generate {"text":"s\n\nhi","sampling_params":{"max_new_tokens":8,"ignore_eos":true},"stream":false,"seed":1}`},
		"gemini": {
			`/v1beta/models/m:streamGenerateContent?alt=sse {"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":8},"seed":1}`,
			`/v1beta/models/m:generateContent {"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":8},"seed":1}`},
		"gemini-interactions": {
			`/v1beta/interactions {"model":"m","system_instruction":"s","input":"hi","generation_config":{"max_output_tokens":8},"stream":true,"seed":1}`,
			`/v1beta/interactions {"model":"m","system_instruction":"s","input":"hi","generation_config":{"max_output_tokens":8},"stream":false,"seed":1}`},
		"bedrock": {
			`/model/m/converse-stream {"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":8},"seed":1}`,
			`/model/m/converse {"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":8},"seed":1}`},
		"cohere": {
			`/v2/chat {"model":"m",` + messages + `,"max_tokens":8,"stream":true,"seed":1}`,
			`/v2/chat {"model":"m",` + messages + `,"max_tokens":8,"stream":false,"seed":1}`},
		"triton": {
			`/v2/models/m/generate_stream {"text_input":"s\n\nhi","max_tokens":8,"stream":true,"seed":1}`,
			`/v2/models/m/generate {"text_input":"s\n\nhi","max_tokens":8,"stream":false,"seed":1}`},
		"embeddings": {
			`/v1/embeddings {"model":"m","input":["s","hi"],"seed":1}`,
			`/v1/embeddings {"model":"m","input":["s","hi"],"seed":1}`},
		"rerank": {
			`/v1/rerank {"model":"m","query":"s","documents":["hi"],"seed":1}`,
			`/v1/rerank {"model":"m","query":"s","documents":["hi"],"seed":1}`},
		"tei-rerank": {
			`/rerank {"model":"m","query":"s","texts":["hi"],"seed":1}`,
			`/rerank {"model":"m","query":"s","texts":["hi"],"seed":1}`},
		"speech": {
			`/v1/audio/speech {"model":"m","input":"s\n\nhi","voice":"alloy","response_format":"wav","seed":1}`,
			`/v1/audio/speech {"model":"m","input":"s\n\nhi","voice":"alloy","response_format":"wav","seed":1}`},
		"images": {
			`/v1/images/generations {"model":"m","prompt":"s\n\nhi","seed":1}`,
			`/v1/images/generations {"model":"m","prompt":"s\n\nhi","seed":1}`},
	}
	for _, a := range All {
		if a == Transcription || a == Realtime {
			continue // see TestTranscriptionRequest and TestRealtimeRequest
		}
		for i, stream := range []bool{true, false} {
			r := &Request{Model: "m", Stream: stream, MaxTokens: timeline.Some(int64(8)), IgnoreEOS: !noIgnoreEOS[a.Name],
				Messages: []Message{{Role: "system", Content: "s"}, {Role: "user", Content: "hi"}}, Extra: map[string]any{"seed": 1}}
			call, err := a.Build(r)
			if err != nil {
				t.Fatal(err)
			}
			if a.IgnoresEOS() == noIgnoreEOS[a.Name] {
				t.Errorf("%s: IgnoresEOS %v", a.Name, a.IgnoresEOS())
			}
			if ignoring := *r; noIgnoreEOS[a.Name] {
				ignoring.IgnoreEOS = true
				if _, err := a.Build(&ignoring); !errors.Is(err, errNoIgnoreEOS) {
					t.Errorf("%s, which has no field to ignore the end token: %v", a.Name, err)
				}
			}
			path, body, _ := strings.Cut(want[a.Name][i], " ")
			var got, exp any
			if json.Unmarshal(call.Body, &got) != nil || json.Unmarshal([]byte(body), &exp) != nil || !reflect.DeepEqual(got, exp) || call.Path != path {
				t.Errorf("%s, stream %v:\n got %s %s\nwant %s", a.Name, stream, call.Path, call.Body, want[a.Name][i])
			}
			if at, _, _ := strings.Cut(call.Path, "?"); stream && at != strings.Replace(a.Path, "MODEL", "m", 1) {
				t.Errorf("%s: path %s, table says %s", a.Name, call.Path, a.Path)
			}
		}
	}
}

func TestRequestDetails(t *testing.T) {
	r := &Request{Model: "m", Messages: []Message{{Role: "user", Content: "hi"}}}
	for _, a := range All {
		if a == Transcription || a == Realtime {
			continue
		}
		call, err := a.Build(r)
		if err != nil {
			t.Fatal(err)
		}
		limited := strings.Contains(string(call.Body), "max") || strings.Contains(string(call.Body), "predict")
		if limited != (a == Anthropic) { // it requires a length
			t.Errorf("%s without a length: %s", a.Name, call.Body)
		}
	}
	call, _ := Anthropic.Build(r)
	if call.Header.Get("anthropic-version") == "" || Anthropic.AuthHeader != "x-api-key" {
		t.Errorf("header %v", call.Header)
	}
	call, _ = OpenAIResponses.Build(r)
	if !strings.Contains(string(call.Body), `"input":"hi"`) {
		t.Errorf("%s", call.Body)
	}
	r.MaxTokensField, r.MaxTokens = "max_completion_tokens", timeline.Some(int64(3))
	call, _ = OpenAIChat.Build(r)
	if s := string(call.Body); !strings.Contains(s, `"max_completion_tokens":3`) || strings.Contains(s, "max_tokens") {
		t.Errorf("%s", s)
	}
	r.Extra = map[string]any{"options": map[string]any{"temperature": 0}, "model": "other"}
	call, _ = OllamaChat.Build(r)
	if s := string(call.Body); !strings.Contains(s, `"options":{"num_predict":3,"temperature":0}`) || !strings.Contains(s, `"model":"other"`) {
		t.Errorf("%s", s)
	}
	r.Stream = true
	r.Extra = map[string]any{"stream_options": nil, "temperature": 0}
	call, _ = OpenAIChat.Build(r)
	if s := string(call.Body); strings.Contains(s, "stream_options") || !strings.Contains(s, `"temperature":0`) {
		t.Errorf("%s", s)
	}
	r.Extra = map[string]any{"stream_options": map[string]any{"include_usage": nil, "x": 1}}
	call, _ = OpenAIChat.Build(r)
	if s := string(call.Body); !strings.Contains(s, `"stream_options":{"x":1}`) {
		t.Errorf("%s", s)
	}
	r.Extra = map[string]any{"bad": func() {}}
	if _, err := OllamaChat.Build(r); err == nil {
		t.Error("a function was written as JSON")
	}
	if new(Request).Prompt() != "" {
		t.Error("a request without messages has a prompt")
	}
}

func TestByName(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All {
		if got, err := ByName(a.Name); got != a || err != nil || seen[a.Name] || a.Signs == nil || a.Decoder == nil {
			t.Errorf("%s: %v, %v", a.Name, got, err)
		}
		seen[a.Name] = true
	}
	if _, err := ByName("opnai"); err == nil || !strings.Contains(err.Error(), "openai-chat, openai-completions") {
		t.Error(err)
	}
}

func TestRecognise(t *testing.T) {
	cases := map[string]string{
		events(content("a")): "openai-chat", events(`{"choices":[],"object":"chat.completion.chunk"}`): "openai-chat",
		events(`{"object":"text_completion","choices":[]}`):  "openai-completions",
		": ping\n\n" + events(`{"choices":[{"text":""}]}`):   "openai-completions",
		typed(`{"type":"ping"}`, `{"type":"message_start"}`): "anthropic",
		typed(`{"type":"response.created"}`):                 "openai-responses",
		`{"model":"m","message":{},"done":false}` + "\n":     "ollama-chat",
		`{"model":"m","response":"","done":false}`:           "ollama-generate",
		events(`{"token":{"id":1}}`):                         "tgi", `[{"generated_text":"a"}]`: "tgi",
		events(`{"text":"a","meta_info":{}}`):              "sglang",
		events(`{"content":"a","stop":false,"id_slot":1}`): "llamacpp",
		events(`{"content":"a"}`):                          "", "": "", "<html>": "", `{"error":"x"}`: "",
	}
	for body, want := range cases {
		got := ""
		if a := Recognise([]byte(body)); a != nil {
			got = a.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
