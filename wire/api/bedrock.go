package api

import (
	"net/url"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Bedrock is POST /model/MODEL/converse-stream and /converse: a binary event
// stream whose metadata comes after messageStop. Requests carry a Bedrock API key
// (a bearer token), or whoever sends them signs them. Source: the model of botocore 1.44.8.
var Bedrock = &API{
	Name:             "bedrock",
	Path:             "/model/MODEL/converse-stream",
	Aliases:          []string{"/converse-stream", "/converse"},
	StreamsByDefault: true, // the path tells
	Build:            buildBedrock,
	Decoder:          func() Decoder { return new(bedrockDecoder) },
	Signs:            []Sign{{"contentBlockIndex"}, {"output/message/content", "stopReason"}},
}

func buildBedrock(r *Request) (Call, error) {
	path := "/model/" + url.PathEscape(r.Model) + "/converse"
	if r.Stream {
		path += "-stream"
	}
	var messages []any
	system, others := r.system()
	for _, m := range others {
		if m.ToolCallID != "" {
			messages = append(messages, map[string]any{"role": "user", "content": []any{map[string]any{
				"toolResult": map[string]any{"toolUseId": m.ToolCallID, "content": []any{map[string]any{"text": m.Content}}}}}})
		} else {
			messages = append(messages, map[string]any{"role": m.Role, "content": bedrockParts(&m)})
		}
	}
	r.pictured, r.filmed, r.tooled = true, true, true
	body := map[string]any{"messages": messages}
	if system != nil {
		body["system"] = textParts(system)
	}
	within(body, "inferenceConfig", r.length("maxTokens"))
	return r.call(path, body)
}

func bedrockParts(m *Message) []any {
	var parts []any
	for _, picture := range m.Images {
		kind, format, _ := strings.Cut(picture.MIME, "/")
		parts = append(parts, map[string]any{kind: map[string]any{
			"format": format, "source": map[string]any{"bytes": picture.base64()}}})
	}
	if m.Content != "" || parts == nil && len(m.ToolCalls) == 0 {
		parts = append(parts, map[string]any{"text": m.Content})
	}
	for _, c := range m.ToolCalls {
		parts = append(parts, map[string]any{"toolUse": map[string]any{
			"toolUseId": c.ID, "name": c.Function.Name, "input": argumentsOf(c.Function.Arguments)}})
	}
	return parts
}

// bedrockDecoder reads the events, whose type is their name. Input leaves out
// what was read from the cache or written to it.
type bedrockDecoder struct {
	r      reading
	sealed bool // the reasoning that came last had no words
}

// perhapsClaudeSummarises is [claudeSummarises] by the name that the request has, as replies have none. It
// may be unknown, or an inference profile's.
func perhapsClaudeSummarises(model string) bool {
	if makeIn(model, "claude") >= 0 {
		return claudeSummarises(model)
	}
	return model == "" || strings.HasPrefix(model, "arn:")
}

func (d *bedrockDecoder) apply(e framing.Event, s *Stream) {
	s.usage.exclusive = true
	otherwise := timeline.Empty
	switch {
	case e.Name == "messageStart":
		otherwise = timeline.Role
	case d.r.hasUsage && !d.r.whole:
		otherwise = timeline.UsageEvent
	}
	d.r.apply(s, otherwise)
	s.sealed = s.sealed || d.sealed && s.reasoned == 0
	s.abridged = s.abridged || d.r.c.signed && s.reasoned > 0 && perhapsClaudeSummarises(s.tl.Model)
	if e.Name == "metadata" {
		s.progress.done = true
	}
}

func (d *bedrockDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	for name := range c.Members {
		switch string(name) {
		case "start", "delta":
			d.block()
		case "output": // the whole reply
			c.under("message", func() {
				c.under("content", func() {
					for range c.Elements {
						d.block()
					}
				})
			})
		case "stopReason":
			d.r.finish, _ = c.Text()
		case "usage":
			d.r.counts()
		case "serviceTier":
			c.under("type", func() { c.tier(&d.r.usage) })
		case "metrics":
			c.under("latencyMs", func() { d.r.timings.number(totalMS, c) })
		}
	}
	return c.End()
}

// block reads a content block, the start of one, or a piece of one.
func (d *bedrockDecoder) block() {
	c := &d.r.c
	for name := range c.Members {
		switch string(name) {
		case "text":
			d.r.piece(timeline.Text)
		case "reasoningContent":
			d.sealed = !c.thoughts(func() bool { return d.r.piece(timeline.Reasoning) })
		case "citationsContent": // what is cited, beside where it stands
			c.under("content", func() {
				for range c.Elements {
					c.under("text", func() { d.r.piece(timeline.Text) })
				}
			})
		case "toolUse":
			d.r.call("input")
		case "toolResult":
		default:
			d.r.other(inContent, name)
		}
	}
}
