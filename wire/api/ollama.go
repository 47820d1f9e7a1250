package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// OllamaChat is POST /api/chat: newline-delimited JSON, a stream by default.
var OllamaChat = &API{
	Name:             "ollama-chat",
	Path:             "/api/chat",
	Build:            buildOllamaChat,
	Decoder:          func() Decoder { return new(ollamaDecoder) },
	Framer:           func(max int) framing.Framer { return framing.NewLines(max) },
	StreamsByDefault: true,
	Opening:          `"done":false`,
	Signs:            []Sign{{"message", "done"}},
}

// OllamaGenerate is POST /api/generate, the same for a bare prompt.
var OllamaGenerate = &API{
	Name:             "ollama-generate",
	Path:             "/api/generate",
	Build:            buildOllamaGenerate,
	Decoder:          OllamaChat.Decoder,
	Framer:           OllamaChat.Framer,
	StreamsByDefault: true,
	Opening:          OllamaChat.Opening,
	Signs:            []Sign{{"response", "done"}},
}

func buildOllamaChat(r *Request) (Call, error) {
	body := ollamaBody(r)
	body["messages"] = r.ollamaMessages()
	return r.call("/api/chat", body)
}

func buildOllamaGenerate(r *Request) (Call, error) {
	body := ollamaBody(r)
	body["prompt"] = r.Prompt()
	return r.call("/api/generate", body)
}

// ollamaBody asks for the length in options. Ollama cannot ignore the end token.
func ollamaBody(r *Request) map[string]any {
	body := map[string]any{"model": r.Model, "stream": r.Stream}
	within(body, "options", r.length("num_predict"))
	return body
}

// ollamaDecoder reads the lines of both endpoints. The last one has done:true,
// the counts, and durations in nanoseconds. Its usage is the final one; an
// error comes as a line of its own.
type ollamaDecoder struct {
	r    reading
	done bool
}

func (d *ollamaDecoder) apply(_ framing.Event, s *Stream) {
	if d.done && d.r.finish.Empty() {
		d.r.stops = "stop" // before v0.1.42 no reason was given
	}
	d.r.apply(s, timeline.Empty)
	s.progress.done = s.progress.done || d.done
}

func (d *ollamaDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.done = false
	var decodeNS, decoded float64
	for name := range c.Members {
		switch string(name) {
		case "message":
			for name := range c.Members {
				if !d.said(name) {
					c.left(inMessage, name)
				}
			}
		case "response":
			d.r.piece(timeline.Text)
		case "logprobs":
			d.r.ids = c.length()
		case "done":
			d.done, _ = c.Boolean()
		case "done_reason":
			d.r.finish, _ = c.Text()
		case "prompt_eval_count":
			d.r.count(&d.r.usage.Input)
		case "prompt_eval_cached_count": // within the former; since August 2026 (ollama/ollama#17943)
			d.r.count(&d.r.usage.Cached)
		case "eval_count":
			d.r.count(&d.r.usage.Output)
			decoded = float64(d.r.usage.Output.Or(0))
		case "prompt_eval_duration":
			d.r.timings.nanos(prefillMS, c)
		case "eval_duration":
			d.r.timings.nanos(decodeMS, c)
			decodeNS = d.r.timings.values[decodeMS] * 1e6
		case "load_duration":
			d.r.timings.nanos(loadMS, c)
		case "total_duration":
			d.r.timings.nanos(totalMS, c)
		case "content", "role": // of a message alone
		case "model", "error":
			d.r.member(name)
		default:
			d.said(name)
		}
	}
	if decoded > 0 && decodeNS > 0 {
		d.r.timings.set(decodePerTokenMS, decodeNS/1e6/decoded)
	}
	return c.End()
}

// said reads a member of a message, some of which stand beside it too; false: it is not known.
func (d *ollamaDecoder) said(name []byte) bool {
	c := &d.r.c
	switch string(name) {
	case "content":
		d.r.piece(timeline.Text)
	case "thinking":
		d.r.piece(timeline.Reasoning)
	case "tool_calls":
		for range c.Elements {
			d.r.calledFunction()
		}
	case "images", "image":
		d.r.media()
	case "role":
		if t, ok := c.Text(); ok && !t.Empty() {
			d.r.said.add(timeline.Role, 0)
		}
	default:
		return false
	}
	return true
}
