package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

func TestImages(t *testing.T) {
	ask := func() *Request {
		return &Request{Model: "m", Messages: []Message{{Role: "system", Content: "s"},
			{Role: "user", Content: "what?", Images: []Image{{MIME: "image/png", Data: []byte("PNG")}}}}}
	}
	const data = "UE5H" // PNG in base64
	for _, c := range []struct {
		api  *API
		want string
	}{
		{OpenAIChat, `{"messages":[{"role":"system","content":"s"},{"content":[{"image_url":{"url":"data:image/png;base64,` + data + `"},"type":"image_url"},{"text":"what?","type":"text"}],"role":"user"}]`},
		{OpenAIResponses, `{"input":[{"role":"system","content":"s"},{"content":[{"image_url":"data:image/png;base64,` + data + `","type":"input_image"},{"text":"what?","type":"input_text"}],"role":"user"}]`},
		{Anthropic, `"messages":[{"content":[{"source":{"data":"` + data + `","media_type":"image/png","type":"base64"},"type":"image"},{"text":"what?","type":"text"}],"role":"user"}]`},
		{OllamaChat, `{"messages":[{"content":"s","role":"system"},{"content":"what?","images":["` + data + `"],"role":"user"}]`},
	} {
		call, err := c.api.Build(ask())
		if err != nil || !strings.Contains(string(call.Body), c.want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.api.Name, err, call.Body, c.want)
		}
	}
	for _, a := range []*API{OpenAICompletions, OllamaGenerate, TGI, LlamaCpp, SGLang} {
		if _, err := a.Build(ask()); err == nil || !strings.Contains(err.Error(), "images") {
			t.Errorf("%s takes images: %v", a.Name, err)
		}
	}
}

// Videos are written where an API has a form for them, and refused elsewhere.
func TestVideos(t *testing.T) {
	ask := func() *Request {
		return &Request{Model: "m", Messages: []Message{{Role: "user", Content: "what?", Images: []Image{{MIME: "video/mp4", Data: []byte("PNG")}}}}}
	}
	for _, c := range []struct {
		api  *API
		want string
	}{
		// https://docs.vllm.ai/en/latest/features/multimodal_inputs/
		{OpenAIChat, `{"type":"video_url","video_url":{"url":"data:video/mp4;base64,UE5H"}}`},
		// https://ai.google.dev/gemini-api/docs/video-understanding
		{Gemini, `{"inlineData":{"data":"UE5H","mimeType":"video/mp4"}}`},
		{GeminiInteractions, `{"data":"UE5H","mime_type":"video/mp4","type":"video"}`},
		// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_VideoBlock.html
		{Bedrock, `{"video":{"format":"mp4","source":{"bytes":"UE5H"}}}`},
	} {
		call, err := c.api.Build(ask())
		if err != nil || !strings.Contains(string(call.Body), c.want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.api.Name, err, call.Body, c.want)
		}
	}
	for _, a := range []*API{OpenAIResponses, Anthropic, OllamaChat, OpenAICompletions} {
		if _, err := a.Build(ask()); err == nil || !strings.Contains(err.Error(), "takes no") {
			t.Errorf("%s takes videos: %v", a.Name, err)
		}
	}
}

// Google counts what was looked at by kind, in each event anew.
func TestTokensOfWhatWasLookedAt(t *testing.T) {
	const gemini = `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2070,"candidatesTokenCount":1,"totalTokenCount":2071,` +
		`"promptTokensDetails":[{"modality":"TEXT","tokenCount":6},{"modality":"IMAGE","tokenCount":258},{"modality":"VIDEO","tokenCount":1806}]}}`
	const interactions = `{"event_type":"interaction.completed","interaction":{"status":"completed","usage":{"total_input_tokens":264,"total_output_tokens":1,"total_tokens":265,` +
		`"input_tokens_by_modality":[{"modality":"text","tokens":6},{"modality":"image","tokens":258}]}}}`
	for _, c := range []struct {
		api   *API
		event string
		want  int64
	}{{Gemini, gemini, 258 + 1806}, {GeminiInteractions, interactions, 258}} {
		tl := reply(c.api, "text/event-stream", events(c.event, c.event), timeline.EOF)
		if tl.Usage.Media.Or(0) != c.want {
			t.Errorf("%s: %v tokens, want %d", c.api.Name, tl.Usage.Media, c.want)
		}
	}
}

// Sound is counted by kind too, within prompt and answer: each event tells all so far.
func TestTokensOfWhatWasHeard(t *testing.T) {
	const gemini = `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":106,"candidatesTokenCount":26,"thoughtsTokenCount":4,"toolUsePromptTokenCount":7,"totalTokenCount":143,` +
		`"promptTokensDetails":[{"modality":"TEXT","tokenCount":6},{"modality":"AUDIO","tokenCount":100}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":25}]}}`
	const interactions = `{"event_type":"interaction.completed","interaction":{"status":"completed","usage":{"total_input_tokens":106,"total_output_tokens":26,"total_tokens":132,` +
		`"input_tokens_by_modality":[{"modality":"text","tokens":6},{"modality":"audio","tokens":100}],"output_tokens_by_modality":[{"modality":"audio","tokens":25}]}}}`
	for _, c := range []struct {
		api          *API
		event, usage string
	}{
		{Gemini, gemini, `{"input":113,"output":30,"reasoning":4,"total":143}`},
		{GeminiInteractions, interactions, `{"input":106,"output":26,"total":132}`},
	} {
		tl := reply(c.api, "text/event-stream", events(c.event, c.event), timeline.EOF)
		if got := jsonOf(tl.Server); got != `{"input_audio_tokens":100,"output_audio_tokens":25}` || jsonOf(tl.Usage) != c.usage {
			t.Errorf("%s: %s, %s", c.api.Name, got, jsonOf(tl.Usage))
		}
	}
}

func TestPromptIsTheWholeConversation(t *testing.T) {
	r := &Request{Messages: []Message{{Role: "system", Content: "a"}, {Role: "user", Content: "b"}}}
	if p := r.Prompt(); p != "a\n\nb" {
		t.Errorf("%q", p)
	}
	if p := (&Request{}).Prompt(); p != "" {
		t.Errorf("%q", p)
	}
}
