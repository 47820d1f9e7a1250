package api

import (
	"strings"
	"testing"
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

func TestPromptIsTheWholeConversation(t *testing.T) {
	r := &Request{Messages: []Message{{Role: "system", Content: "a"}, {Role: "user", Content: "b"}}}
	if p := r.Prompt(); p != "a\n\nb" {
		t.Errorf("%q", p)
	}
	if p := (&Request{}).Prompt(); p != "" {
		t.Errorf("%q", p)
	}
}
