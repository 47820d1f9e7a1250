package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// LlamaCpp is POST /completion, the native API of llama.cpp's server.
var LlamaCpp = &API{
	Name:    "llamacpp",
	Path:    "/completion",
	Aliases: []string{"/infill"}, // what editors complete code by; the same events
	Build:   buildLlamaCpp,
	Decoder: func() Decoder { return new(llamacppDecoder) },
	Lists:   true,
	Signs:   []Sign{{"content", "stop", "tokens_predicted"}, {"content", "stop", "id_slot"}},
}

func buildLlamaCpp(r *Request) (Call, error) {
	body := map[string]any{"prompt": r.Prompt(), "stream": r.Stream}
	if r.Model != "" {
		body["model"] = r.Model // a router of several models needs it
	}
	r.limits(body, "n_predict")
	return r.call("/completion", body)
}

// llamacppDecoder reads the native events. tokens_predicted is a running count
// and holds more than the token ids listed: a character of several tokens comes
// as one event with the last id only. The event with stop:true is the last one;
// there is no other terminator.
type llamacppDecoder struct {
	r        reading
	stop     bool
	progress bool
}

func (d *llamacppDecoder) apply(e framing.Event, s *Stream) {
	if e.Name == "error" && d.r.errors == nil {
		d.r.errors = e.Data
	}
	if d.stop && d.r.finish.Empty() && d.r.stops == "" {
		d.r.stops = "stop"
	}
	if d.stop && d.r.hasUsage {
		s.usage.sequence(d.r.usage, true)
		d.r.hasUsage = false
	}
	otherwise := timeline.Empty
	if d.progress {
		otherwise = timeline.Progress
	}
	d.r.apply(s, otherwise)
	if d.stop {
		s.progress.done = s.progress.complete()
	}
}

func (d *llamacppDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.stop, d.progress = false, false
	d.r.running = !d.r.whole
	for name := range c.Members {
		switch string(name) {
		case "content":
			d.r.piece(timeline.Text)
		case "index":
			d.r.index()
		case "stop":
			d.stop, _ = c.Boolean()
		case "stop_type":
			d.r.finish, _ = c.Text()
		case "tokens_predicted":
			d.r.count(&d.r.usage.Output)
		case "tokens_evaluated":
			d.r.count(&d.r.usage.Input)
		case "timings":
			d.r.timings.llamacpp(c)
			if d.r.timings.known&(1<<cachedTokens) != 0 {
				d.r.usage.Cached = timeline.Some(int64(d.r.timings.values[cachedTokens]))
			}
		case "prompt_progress":
			d.progress = c.Peek() == '{'
		case "stopped_eos", "stopped_limit", "stopped_word": // before stop_type
			if is, _ := c.Boolean(); is {
				d.r.stops = string(name[len("stopped_"):])
			}
		default:
			d.r.member(name)
		}
	}
	if !d.stop {
		d.r.finish = jsonscan.Text{} // "none" until the end
	}
	return c.End()
}
