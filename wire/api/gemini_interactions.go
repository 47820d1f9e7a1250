package api

import (
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api/jsonscan"
	"tokenmeter/wire/framing"
)

// GeminiInteractions is POST /v1beta/interactions: events by event_type,
// interaction.completed at the end. Source: the types of google-genai 3.6.1.
var GeminiInteractions = &API{
	Name:       "gemini-interactions",
	Path:       "/v1beta/interactions",
	Build:      buildInteractions,
	Decoder:    func() Decoder { return new(interactionsDecoder) },
	AuthHeader: "x-goog-api-key",
	Signs:      []Sign{{"event_type=interaction.*"}, {"event_type=step.*"}, {"object=interaction"}},
}

func buildInteractions(r *Request) (Call, error) {
	body := map[string]any{"model": r.Model, "stream": r.Stream}
	var system string
	var turns []any
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == "system" {
			if system != "" {
				system += "\n\n"
			}
			system += m.Content
			continue
		}
		role := "user"
		if m.Role == "assistant" {
			role = "model"
		}
		var content any = m.Content
		if len(m.Images) > 0 {
			var parts []any
			for _, picture := range m.Images {
				kind, _, _ := strings.Cut(picture.MIME, "/")
				parts = append(parts, map[string]any{"type": kind, "mime_type": picture.MIME, "data": picture.base64()})
			}
			content = append(parts, map[string]any{"type": "text", "text": m.Content})
		}
		turns = append(turns, map[string]any{"role": role, "content": content})
	}
	r.pictured, r.filmed = true, true
	body["input"] = turns
	if len(turns) == 1 && !r.hasImages() {
		body["input"] = turns[0].(map[string]any)["content"]
	}
	if system != "" {
		body["system_instruction"] = system
	}
	if n, ok := r.MaxTokens.Get(); ok {
		body["generation_config"] = map[string]any{"max_output_tokens": n}
	}
	return r.call("/v1beta/interactions", body)
}

// interactionsDecoder reads the events. What a step generates comes in its
// deltas; the last event may repeat all of it, and only its usage is read.
type interactionsDecoder struct {
	r     reading
	event jsonscan.Text // event_type
}

// Event implements Decoder.
func (d *interactionsDecoder) Event(e framing.Event, s *Stream) bool {
	if !d.read(e.Data, s.opts.KeepText, false) {
		return false
	}
	is := func(kind string) bool { return d.event.Is(kind) || d.event.Empty() && e.Name == kind }
	otherwise, completed := timeline.Empty, is("interaction.completed")
	switch {
	case is("interaction.created"):
		otherwise = timeline.Role
	case completed:
		if d.r.stops == "" {
			d.r.stops = "completed"
		}
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
	return true
}

// Body implements Decoder.
func (d *interactionsDecoder) Body(data []byte, s *Stream) bool {
	if !d.read(data, s.opts.KeepText, true) {
		return false
	}
	d.r.apply(s, timeline.Empty)
	return true
}

// read reads an event, or the whole interaction.
func (d *interactionsDecoder) read(data []byte, keep, whole bool) bool {
	c := d.r.start(data, keep)
	d.event = jsonscan.Text{}
	for name := range c.Members {
		switch string(name) {
		case "event_type":
			d.event, _ = c.Text()
		case "delta":
			d.content()
		case "interaction":
			for name := range c.Members {
				d.member(name, false)
			}
		case "step": // a step that starts names the tool that it calls
			d.start()
		case "error":
			d.r.errors = c.problem()
		default:
			d.member(name, whole)
		}
	}
	return c.End()
}

// member reads a member of an interaction.
func (d *interactionsDecoder) member(name []byte, whole bool) {
	c := &d.r.c
	switch string(name) {
	case "model":
		d.r.model, _ = c.Text()
	case "service_tier":
		c.tier(&d.r.usage)
	case "usage":
		if c.Peek() != '{' {
			c.Skip()
			return
		}
		d.r.hasUsage = true
		d.usage()
	case "status":
		if t, ok := c.Text(); ok {
			d.status(t)
		}
	case "outputs", "steps", "output":
		if !whole {
			c.Skip()
			return
		}
		for range c.Elements {
			d.content()
		}
	case "error":
		d.r.errors = c.problem()
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
// arguments of a call, media. What tools gave was not generated.
func (d *interactionsDecoder) content() {
	c := &d.r.c
	var kind, says jsonscan.Text
	for name := range c.Members {
		switch string(name) {
		case "type":
			kind, _ = c.Text()
		case "text":
			says, _ = c.Text()
		case "content", "summary":
			switch {
			case kind.Is("thought_summary"), kind.Is("thought"):
				c.thoughts(func() bool { return d.r.piece(timeline.Reasoning) })
			case strings.HasSuffix(string(kind.Raw), "_result"):
				c.Skip()
			default:
				c.oneOrMore(d.content)
			}
		case "arguments":
			d.r.arguments()
		case "data", "uri":
			if t, ok := c.Text(); ok && !t.Empty() {
				d.r.said.add(timeline.Media, 0)
			}
		case "name":
			if kind.Is("function_call") {
				d.r.piece(timeline.Tool)
			} else {
				c.Skip()
			}
		}
	}
	switch {
	case kind.Is("thought_summary"), kind.Is("thought"):
		d.r.add(timeline.Reasoning, says)
	case kind.Is("text"), kind.Empty():
		d.r.add(timeline.Text, says)
	}
}

func (d *interactionsDecoder) start() {
	c := &d.r.c
	for name := range c.Members {
		if string(name) == "name" {
			d.r.piece(timeline.Tool)
		}
	}
}

func (d *interactionsDecoder) usage() {
	c, u := &d.r.c, &d.r.usage
	for name := range c.Members {
		switch string(name) {
		case "total_input_tokens":
			c.count(&u.Input)
		case "total_output_tokens":
			c.count(&u.Output)
		case "total_thought_tokens":
			c.count(&u.Reasoning)
		case "total_cached_tokens":
			c.count(&u.Cached)
		case "total_tool_use_tokens":
			c.part(&u.parts[promptTool])
		case "total_tokens":
			c.count(&u.Total)
		case "input_tokens_by_modality":
			c.modalities(u)
		}
	}
}
