package api

import (
	"encoding/base64"
	"errors"
)

// Image is a picture in a message, for models that see.
type Image struct {
	MIME string // image/png
	Data []byte
}

func (i Image) base64() string { return base64.StdEncoding.EncodeToString(i.Data) }

func (i Image) url() string { return "data:" + i.MIME + ";base64," + i.base64() }

func (r *Request) hasImages() bool {
	for i := range r.Messages {
		if len(r.Messages[i].Images) > 0 {
			return true
		}
	}
	return false
}

var errNoImages = errors.New("this API takes no images; use openai-chat, openai-responses, anthropic or ollama-chat")

// parts writes messages in the way of an API that takes text and images as
// parts of a content; a message without images stays as it is.
func (r *Request) parts(messages []Message, textType string, image func(Image) any) any {
	if !r.hasImages() && (r.tooled || !r.hasTools()) {
		return messages
	}
	r.pictured = true
	out := make([]any, len(messages))
	for i, m := range messages {
		if len(m.Images) == 0 && (r.tooled || !m.tools()) {
			out[i] = m
			continue
		}
		var content []any
		for _, picture := range m.Images {
			content = append(content, image(picture))
		}
		if m.Content != "" {
			content = append(content, map[string]any{"type": textType, "text": m.Content})
		}
		out[i] = map[string]any{"role": m.Role, "content": content}
		if m.tools() {
			out[i] = anthropicTools(&m, content)
		}
	}
	return out
}

func chatImage(i Image) any {
	return map[string]any{"type": "image_url", "image_url": map[string]any{"url": i.url()}}
}

func responsesImage(i Image) any {
	return map[string]any{"type": "input_image", "image_url": i.url()}
}

func anthropicImage(i Image) any {
	return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": i.MIME, "data": i.base64()}}
}

// ollamaMessages writes images beside the content, and the arguments of tools
// as objects.
func (r *Request) ollamaMessages() any {
	r.tooled = true
	if !r.hasImages() && !r.hasTools() {
		return r.Messages
	}
	r.pictured = true
	out := make([]any, len(r.Messages))
	for i, m := range r.Messages {
		one := map[string]any{"role": m.Role, "content": m.Content}
		var images []string
		for _, picture := range m.Images {
			images = append(images, picture.base64())
		}
		if images != nil {
			one["images"] = images
		}
		var calls []any
		for _, c := range m.ToolCalls {
			calls = append(calls, map[string]any{"function": map[string]any{"name": c.Function.Name, "arguments": argumentsOf(c.Function.Arguments)}})
		}
		if calls != nil {
			one["tool_calls"] = calls
		}
		out[i] = one
	}
	return out
}
