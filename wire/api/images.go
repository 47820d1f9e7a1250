package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/picture"
)

// Image is a picture or a video in a message, for models that see.
type Image struct {
	MIME string // image/png, video/mp4
	Data []byte
}

// Moves reports whether it is a video.
func (i Image) Moves() bool { return strings.HasPrefix(i.MIME, "video/") }

func (i Image) base64() string { return base64.StdEncoding.EncodeToString(i.Data) }

func (i Image) url() string { return "data:" + i.MIME + ";base64," + i.base64() }

// It is not inlined: the copies made the lean binary 1 kB larger.
//
//go:noinline
func (r *Request) hasImages() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

func (r *Request) hasVideos() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return slices.ContainsFunc(m.Images, Image.Moves) })
}

var (
	errNoImages = errors.New("this API takes no images; use openai-chat, openai-responses, anthropic, gemini, bedrock or ollama-chat")
	errNoVideos = errors.New("this API takes no videos; use openai-chat (of vLLM and its like), gemini, gemini-interactions or bedrock")
)

// describeMedia notes on a timeline what a request has to look at.
func (r *Request) describeMedia(tl *timeline.Timeline) {
	var pictures, videos, bytes int64
	size := ""
	for i := range r.Messages {
		for _, m := range r.Messages[i].Images {
			bytes += int64(len(m.Data))
			if m.Moves() {
				videos++
				continue
			}
			this := ""
			if w, h, ok := picture.Size(m.Data); ok {
				this = fmt.Sprintf("%dx%d", w, h)
			}
			if pictures == 0 {
				size = this
			} else if this != size {
				size = ""
			}
			pictures++
		}
	}
	tl.InputImages, tl.Videos, tl.MediaBytes, tl.ImageSize = above0(pictures), above0(videos), above0(bytes), size
}

func above0(n int64) timeline.Opt[int64] {
	if n == 0 {
		return none
	}
	return timeline.Some(n)
}

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
	if i.Moves() { // vLLM, SGLang and others
		return map[string]any{"type": "video_url", "video_url": map[string]any{"url": i.url()}}
	}
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
	messages := r.onlySystem()
	if !r.hasImages() && !r.hasTools() {
		return messages
	}
	r.pictured = true
	out := make([]any, len(messages))
	for i, m := range messages {
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
