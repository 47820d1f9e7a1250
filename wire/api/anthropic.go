package api

import (
	"bytes"
	"net/http"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// Anthropic is POST /v1/messages: named events, message_stop at the end.
var Anthropic = &API{
	Name: "anthropic",
	Path: "/v1/messages",
	// Vertex AI, and InvokeModel of Bedrock, where other models speak other forms.
	Aliases: []string{"/anthropic/models/MODEL:streamRawPredict", "/anthropic/models/MODEL:rawPredict", "anthropic.MODEL/invoke-with-response-stream", "anthropic.MODEL/invoke",
		// The same by a profile's Amazon Resource Name, which does not tell its model.
		"/model/arnMODEL/invoke-with-response-stream", "/model/arnMODEL/invoke"},
	Build:      buildAnthropic,
	Decoder:    func() Decoder { return new(anthropicDecoder) },
	Events:     "message content_block ping error",
	AuthHeader: "x-api-key",
	// Of all models that count their thinking apart; Claude 3.7 told it in full and counted it nowhere.
	// Source: https://platform.claude.com/docs/en/build-with-claude/thinking
	Summarises: true,
	Signs: []Sign{{"type=message_start"}, {"type=content_block_*"}, {"type=message", "stop_reason"},
		{"type=message", "content"}},
}

const (
	anthropicVersion = "2023-06-01"
	anthropicLength  = 1024 // max_tokens is required
)

func buildAnthropic(r *Request) (Call, error) {
	system, messages := r.system()
	body := map[string]any{"model": r.Model, "messages": r.parts(messages, "text", anthropicImage), "stream": r.Stream,
		"max_tokens": r.MaxTokens.Or(anthropicLength)}
	if system != nil {
		body["system"] = strings.Join(system, "\n\n")
	}
	if r.IgnoreEOS { // vLLM and others that speak this API
		body["ignore_eos"] = true
	}
	r.tooled = true
	call, err := r.call("/v1/messages", body)
	call.Header = http.Header{"Anthropic-Version": {anthropicVersion}}
	return call, err
}

// anthropicDecoder reads messages. Usage is cumulative: message_start has the
// input and a provisional output count, message_delta the final one. Input
// leaves cached tokens out, so they are added at the end.
type anthropicDecoder struct {
	r reading

	last  jsonscan.Text // the last text of the event
	ahead []byte        // text that a block began with, as far as no delta has repeated it

	signed, redacted bool // thinking ended; some came whose words are kept back
	seal             bool // a signature is as long as Claude's
}

// repeats reports whether the event's text was there before: the end of a block
// or of the message with all of it, or deltas of a block that began with its
// text, as some gateways write them.
func (d *anthropicDecoder) repeats(s *Stream) bool {
	switch string(d.r.kind.Raw) {
	case "content_block_stop", "message_delta":
		return s.tokens > 0
	case "message_start", "content_block_start":
		d.ahead = d.last.Append(d.ahead[:0])
	case "content_block_delta":
		if len(d.ahead) == 0 || d.last.Empty() {
			return false
		}
		var again bool
		if d.ahead, again = bytes.CutPrefix(d.ahead, d.last.Append(nil)); !again {
			d.ahead = nil
		}
		return again
	}
	return false
}

func (d *anthropicDecoder) apply(e framing.Event, s *Stream) {
	if e.Name == "error" && d.r.errors == nil {
		d.r.errors = e.Data
	}
	s.usage.exclusive = true
	otherwise := timeline.Empty
	switch string(d.r.kind.Raw) {
	case "ping":
		otherwise = timeline.Ping
	case "message_start":
		otherwise = timeline.Role
		// Anthropic has counted the prompt, and some output, by then. Others have an estimate,
		// as Ollama (anthropic/anthropic.go) and new-api (service/convert.go), and no output.
		n, told := d.r.usage.Output.Get()
		s.usage.estimated = told && n == 0 && d.r.usage.Cached.Or(0)+d.r.usage.CacheWrite.Or(0) == 0
		d.r.usage.Output = none // provisional
	case "message_delta":
		otherwise = timeline.UsageEvent
	case "message_stop":
		s.done()
		return
	}
	if d.repeats(s) {
		d.r.said, d.r.pieces = saying{}, d.r.pieces[:0]
	}
	d.r.apply(s, otherwise)
	s.sealed = s.sealed || d.redacted || d.signed && s.reasoned == 0
	s.signed = d.seal
}

func (d *anthropicDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.last = jsonscan.Text{}
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.r.typed()
		case "delta", "content_block":
			d.part(inDelta)
		case "message":
			for name := range c.Members {
				d.member(name)
			}
		default:
			d.member(name)
		}
	}
	return c.End()
}

// member reads a member of a message, which stands in message_start, or is the whole
// reply.
func (d *anthropicDecoder) member(name []byte) {
	c := &d.r.c
	switch string(name) {
	case "stop_reason":
		d.r.finish, _ = c.Text()
	case "content":
		for range c.Elements {
			d.part(inContent)
		}
	default:
		d.r.account(name)
	}
}

// part reads a content block, or a piece of one. What lies deeper, as the
// results of tools do, was not generated.
func (d *anthropicDecoder) part(place []byte) {
	c := &d.r.c
	for name := range c.Members {
		switch string(name) {
		case "type":
		case "text":
			d.piece(timeline.Text)
		case "thinking":
			d.piece(timeline.Reasoning)
		case "partial_json":
			d.piece(timeline.Tool)
		case "name":
			d.r.piece(timeline.Tool)
		case "input":
			c.Space()
			from := c.Place()
			if d.r.arguments(); !c.Failed() && c.Place() > from+len("{}") {
				d.last = jsonscan.Text{Raw: c.Since(from)}
			}
		case "source": // of a picture
			d.r.media()
		case "signature": // of a thinking block, which was sealed where it had no words
			t, _ := c.Text()
			d.signed = d.signed || !t.Empty()
			d.seal = d.seal || t.Size() >= leastSeal
		case "data": // of a redacted thinking block: no words, but the model thought
			if t, ok := c.Text(); ok && !t.Empty() {
				d.r.said.add(timeline.Reasoning, 0)
				d.redacted = true
			}
		case "stop_reason":
			d.r.finish, _ = c.Text()
		case "content":
			if !bytes.Contains(c.Whole(), []byte(`_result"`)) && !bytes.Contains(c.Whole(), []byte(`"compaction`)) { // what a tool gave, or the context in short
				c.left(place, name)
			}
		default:
			c.left(place, name)
		}
	}
}

// piece reads generated text and remembers it.
func (d *anthropicDecoder) piece(kind timeline.Kind) {
	if t, ok := d.r.read(kind); ok {
		d.last = t
	}
}
