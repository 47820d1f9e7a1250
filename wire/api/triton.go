package api

import (
	"maps"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Triton is the generate extension of Triton and KServe: POST
// /v2/models/MODEL/generate_stream, whose reply ends when the body does, and
// /generate for a whole reply. Source: Triton's protocol/extension_generate.md
var Triton = &API{
	Name:             "triton",
	Path:             "/v2/models/MODEL/generate_stream",
	Aliases:          []string{"/models/MODEL/generate"},
	Build:            buildTriton,
	Decoder:          func() Decoder { return new(tritonDecoder) },
	StreamsByDefault: true,
	Ends:             ByBody,
	Signs:            []Sign{{"model_name", "text_output"}, {"model_name", "model_version"}},
}

func buildTriton(r *Request) (Call, error) {
	path := "/v2/models/" + r.Model + "/generate"
	if r.Stream {
		path += "_stream"
	}
	body := map[string]any{"text_input": r.Prompt(), "stream": r.Stream}
	maps.Copy(body, r.length("max_tokens"))
	return r.call(path, body)
}

// tritonDecoder reads the events, each a response of the model: a piece of the
// answer in text_output and whatever else the model gives out.
type tritonDecoder struct{ r reading }

func (d *tritonDecoder) apply(_ framing.Event, s *Stream) { d.r.apply(s, timeline.Empty) }

func (d *tritonDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	ids, worded := false, false
	for name := range c.Members {
		switch string(name) {
		case "text_output":
			worded = true
			c.oneOrMore(func() { d.r.piece(timeline.Text) })
		case "output_ids": // of TensorRT-LLM's own model, which has no tokenizer
			n := c.length()
			if ids = n > 0; !d.r.whole { // a whole answer may have the prompt's, too
				d.r.ids = n
			}
		case "model_name":
			d.r.model, _ = c.Text()
		case "error":
			d.r.errors = c.problem()
		}
	}
	if ids && !worded {
		d.r.said.add(timeline.Text, 0)
	}
	return c.End()
}
