package api

import (
	"maps"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// TGI is text-generation-inference: POST /generate_stream, and /generate for a
// whole reply.
var TGI = &API{
	Name:             "tgi",
	Path:             "/generate_stream",
	Build:            buildTGI,
	Decoder:          func() Decoder { return new(tgiDecoder) },
	Lists:            true,
	StreamsByDefault: true,
	Signs:            []Sign{{"token/id"}, {"token/text"}, {"generated_text"}},
}

func buildTGI(r *Request) (Call, error) {
	path := "/generate"
	if r.Stream {
		path = "/generate_stream"
	}
	parameters := map[string]any{"details": true}
	maps.Copy(parameters, r.length("max_new_tokens"))
	return r.call(path, map[string]any{"inputs": r.Prompt(), "parameters": parameters})
}

// tgiDecoder reads the native events: one token each. The last one also has the
// whole text and the details; special tokens are no part of the answer.
type tgiDecoder struct {
	r       reading
	token   jsonscan.Text
	special bool
	whole   jsonscan.Text
	last    bool
}

func (d *tgiDecoder) apply(_ framing.Event, s *Stream) {
	if d.r.whole {
		d.r.add(timeline.Text, d.whole)
		d.r.ids = notTold
	} else if !d.special {
		d.r.add(timeline.Text, d.token)
	}
	if d.last && d.r.finish.Empty() && d.r.errors == nil {
		d.r.stops = "stop" // without details no reason is given
	}
	d.r.apply(s, timeline.Empty)
	s.progress.done = s.progress.done || d.last
}

func (d *tgiDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.token, d.special, d.whole, d.last = jsonscan.Text{}, false, jsonscan.Text{}, false
	failed := false
	for name := range c.Members {
		switch string(name) {
		case "token":
			d.readToken()
		case "generated_text":
			d.whole, d.last = c.Text()
		case "details":
			d.details()
		case "error":
			failed = c.problem() != nil
		case "error_type":
			failed = true
		}
	}
	if failed {
		d.r.errors = e.Data
	}
	return c.End()
}

func (d *tgiDecoder) readToken() {
	c := &d.r.c
	d.r.ids = 1
	for name := range c.Members {
		switch string(name) {
		case "text":
			d.token, _ = c.Text()
		case "special":
			d.special, _ = c.Boolean()
		}
	}
}

func (d *tgiDecoder) details() {
	c := &d.r.c
	for name := range c.Members {
		switch string(name) {
		case "finish_reason":
			d.r.finish, _ = c.Text()
		case "generated_tokens":
			d.r.count(&d.r.usage.Output)
		case "input_length":
			d.r.count(&d.r.usage.Input)
		case "prefill":
			n := c.length()
			if n > 0 && !d.r.usage.Input.OK() {
				d.r.hasUsage = true
				d.r.usage.Input = timeline.Some(n)
			}
		}
	}
}
