package api

import (
	"maps"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Cohere is POST /v2/chat: events by type, message-end at the end. What version 1 answers
// at /v1/chat is read too: lines of JSON by event_type, stream-end at the end. Source: the
// types of Cohere's SDK 7.3.1.
var Cohere = &API{
	Name:    "cohere",
	Path:    "/v2/chat",
	Common:  true,
	Build:   buildCohere,
	Decoder: func() Decoder { return new(cohereDecoder) },
	Events:  "message- content- tool- citation- debug stream- search- text-generation",
	Signs: []Sign{{"type=message-start"}, {"type=content-*", "delta/message"}, {"type=message-end"},
		{"message/content/type", "finish_reason"},
		{"event_type=stream-*"}, {"event_type=text-generation"}, {"generation_id", "text", "finish_reason"}},
}

func buildCohere(r *Request) (Call, error) {
	r.tooled = true // they are written as they stand
	body := map[string]any{"model": r.Model, "stream": r.Stream, "messages": r.parts(r.onlySystem(), "text", chatImage)}
	maps.Copy(body, r.length("max_tokens"))
	return r.call("/v2/chat", body)
}

// cohereDecoder reads the events. Counts are fractions in this API, and those
// that are billed are not those of the model.
type cohereDecoder struct {
	r      reading
	called bool // version 1: pieces of calls came, which an event behind them repeats
}

func (d *cohereDecoder) apply(_ framing.Event, s *Stream) {
	otherwise := timeline.Empty
	switch {
	case d.r.kind.Is("message-start"), d.r.kind.Is("stream-start"):
		otherwise = timeline.Role
	case d.r.kind.Is("debug"):
		otherwise = timeline.Ping
	}
	d.r.apply(s, otherwise)
	if d.r.kind.Is("message-end") || d.r.kind.Is("stream-end") {
		s.progress.done = true
	}
}

func (d *cohereDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	for name := range c.Members {
		switch string(name) {
		case "type", "event_type":
			d.r.typed()
		case "text":
			d.r.piece(timeline.Text)
		case "tool_call_delta":
			d.called = true
			d.r.call("parameters")
		case "tool_calls":
			if d.called {
				c.Skip()
				continue
			}
			c.oneOrMore(func() { d.r.call("parameters") })
		case "response": // at the end: the text again
			c.under("meta", d.usage)
		case "meta":
			d.usage()
		case "delta":
			for name := range c.Members {
				d.member(name)
			}
		default:
			d.member(name)
		}
	}
	return c.End()
}

// member reads a member of a delta, or of the whole reply.
func (d *cohereDecoder) member(name []byte) {
	c := &d.r.c
	switch string(name) {
	case "message":
		if c.Peek() == '"' { // the words of an error
			d.r.errors = c.problem()
			return
		}
		for name := range c.Members {
			d.message(name)
		}
	case "finish_reason":
		d.r.finish, _ = c.Text()
	case "error":
		d.r.errors = c.problem()
	case "usage":
		d.usage()
	}
}

// message reads a member of a message. Citations point into the text and are no
// part of it.
func (d *cohereDecoder) message(name []byte) {
	c := &d.r.c
	switch string(name) {
	case "content":
		c.oneOrMore(d.content)
	case "tool_plan":
		d.r.piece(timeline.Reasoning)
	case "tool_calls":
		c.oneOrMore(d.r.calledFunction)
	default:
		c.left(inMessage, name)
	}
}

func (d *cohereDecoder) content() {
	c := &d.r.c
	for name := range c.Members {
		switch string(name) {
		case "text":
			d.r.piece(timeline.Text)
		case "thinking":
			d.r.piece(timeline.Reasoning)
		default:
			c.left(inContent, name)
		}
	}
}

func (d *cohereDecoder) usage() {
	c, u := &d.r.c, &d.r.usage
	count := func(field *timeline.Opt[int64]) {
		if n, ok := c.Float(); ok && n >= 0 && n < 1<<53 {
			rise(field, timeline.Some(int64(n)))
		}
	}
	for name := range c.Members {
		switch string(name) {
		case "tokens":
			for name := range c.Members {
				switch string(name) {
				case "input_tokens":
					d.r.hasUsage = true
					count(&u.Input)
				case "output_tokens":
					d.r.hasUsage = true
					count(&u.Output)
				}
			}
		case "cached_tokens":
			count(&u.Cached)
		}
	}
}
