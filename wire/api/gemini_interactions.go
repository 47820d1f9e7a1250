package api

import (
	"cmp"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// GeminiInteractions is POST /v1beta/interactions: events by event_type,
// interaction.completed at the end. Source: the types of google-genai 3.6.1.
var GeminiInteractions = &API{
	Name:       "gemini-interactions",
	Summarises: true, // https://ai.google.dev/gemini-api/docs/thinking
	Path:       "/v1beta/interactions",
	Build:      buildInteractions,
	Decoder:    func() Decoder { return new(interactionsDecoder) },
	Events:     "interaction. step. content. error",
	AuthHeader: "x-goog-api-key",
	Signs:      []Sign{{"event_type=interaction.*"}, {"event_type=step.*"}, {"object=interaction"}},
}

func buildInteractions(r *Request) (Call, error) {
	body := map[string]any{"model": r.Model, "stream": r.Stream}
	var turns []any
	system, others := r.system()
	for _, m := range others {
		var content any = m.Content
		if len(m.Images) > 0 {
			var parts []any
			for _, picture := range m.Images {
				kind, _, _ := strings.Cut(picture.MIME, "/")
				parts = append(parts, map[string]any{"type": kind, "mime_type": picture.MIME, "data": picture.base64()})
			}
			content = append(parts, map[string]any{"type": "text", "text": m.Content})
		}
		turns = append(turns, map[string]any{"role": m.googleRole(), "content": content})
	}
	r.pictured, r.filmed = true, true
	body["input"] = turns
	if len(turns) == 1 && !r.hasImages() {
		body["input"] = turns[0].(map[string]any)["content"]
	}
	if text := strings.Join(system, "\n\n"); text != "" {
		body["system_instruction"] = text
	}
	within(body, "generation_config", r.length("max_output_tokens"))
	return r.call("/v1beta/interactions", body)
}

// interactionsDecoder reads the events. What a step generates comes in its
// deltas; the last event may repeat all of it, and only its usage is read.
type interactionsDecoder struct{ r reading }

func (d *interactionsDecoder) apply(e framing.Event, s *Stream) {
	if d.r.whole {
		d.r.apply(s, timeline.Empty)
		return
	}
	is := func(kind string) bool { return d.r.kind.Is(kind) || d.r.kind.Empty() && e.Name == kind }
	otherwise, completed := timeline.Empty, is("interaction.completed") || is("interaction.complete") // before the API had steps
	switch {
	case is("interaction.created"), is("interaction.start"):
		otherwise = timeline.Role
	case completed:
		d.r.stops = cmp.Or(d.r.stops, "completed")
	case is("error"):
		if d.r.errors == nil {
			d.r.errors = e.Data
		}
	default:
		d.r.stops = "" // a state on the way
	}
	if d.r.hasUsage && otherwise == timeline.Empty {
		otherwise = timeline.UsageEvent
	}
	d.r.apply(s, otherwise)
	if completed {
		s.progress.done = true
	}
}

func (d *interactionsDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	for name := range c.Members {
		switch string(name) {
		case "event_type":
			d.r.typed()
		case "delta":
			d.content(0)
		case "interaction":
			for name := range c.Members {
				d.member(name, false)
			}
		case "step": // a step that starts names the tool that it calls
			c.under("name", func() { d.r.piece(timeline.Tool) })
		default:
			d.member(name, d.r.whole)
		}
	}
	return c.End()
}

func (d *interactionsDecoder) member(name []byte, whole bool) {
	c := &d.r.c
	switch string(name) {
	case "status":
		if t, ok := c.Text(); ok {
			d.status(t)
		}
	case "outputs", "steps", "output":
		if whole {
			for range c.Elements {
				d.content(0)
			}
		}
	default:
		d.r.account(name)
	}
}

// status takes the state of an interaction as the reason why it ended.
func (d *interactionsDecoder) status(t jsonscan.Text) {
	switch string(t.Raw) {
	case "failed", "cancelled":
		if d.r.errors == nil {
			d.r.errors = []byte(`{"message":"the interaction ` + word(t) + `"}`)
		}
	case "in_progress", "queued", "idle":
		return
	}
	d.r.stops = word(t)
}

// content reads a delta or a content: {type, text}, a summary of thoughts, the
// arguments of a call, media. What tools gave was not generated, and what a search of
// the service's own was asked is no part of the answer: it may be told behind its end.
// depth is how many others it lies in: of a step's content two; what is deeper is nothing
// that the API has, and each level is looked through ahead.
func (d *interactionsDecoder) content(depth int) {
	c := &d.r.c
	if depth > 3 {
		c.Skip()
		return
	}
	var says, arguments jsonscan.Text
	kind := c.ahead("type")
	for name := range c.Members {
		switch string(name) {
		case "text":
			says, _ = c.Text()
		case "content", "summary":
			switch {
			case kind.Is("thought_summary"), kind.Is("thought"):
				c.thoughts(func() bool { return d.r.piece(timeline.Reasoning) })
			case strings.HasSuffix(string(kind.Raw), "_result"):
				c.Skip()
			default:
				c.oneOrMore(func() { d.content(depth + 1) })
			}
		case "arguments":
			arguments = c.written()
		case "data", "uri":
			if t, ok := c.Text(); ok && !t.Empty() {
				d.r.said.add(timeline.Media, 0)
			}
		case "name":
			if kind.Is("function_call") {
				d.r.piece(timeline.Tool)
			}
		case "type", "result":
		default:
			c.left(inDelta, name)
		}
	}
	switch string(kind.Raw) {
	case "thought_summary", "thought":
		d.r.add(timeline.Reasoning, says)
	case "text", "":
		d.r.add(timeline.Text, says)
	}
	switch string(kind.Raw) {
	case "arguments_delta", "function_call", "code_execution_call", "mcp_server_tool_call", "tool_search_call", "":
		d.r.add(timeline.Tool, arguments)
	}
}
