package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api/jsonscan"
	"tokenmeter/wire/framing"
)

// LlamaCpp is POST /completion, the native API of llama.cpp's server.
var LlamaCpp = &API{
	Name:    "llamacpp",
	Path:    "/completion",
	Build:   buildLlamaCpp,
	Decoder: func() Decoder { return new(llamacppDecoder) },
	Signs:   []Sign{{"content", "stop", "tokens_predicted"}, {"content", "stop", "id_slot"}},
}

func buildLlamaCpp(r *Request) (Call, error) {
	body := map[string]any{"prompt": r.Prompt(), "stream": r.Stream}
	if r.Model != "" {
		body["model"] = r.Model // a router of several models needs it
	}
	if n, ok := r.MaxTokens.Get(); ok {
		body["n_predict"] = n
	}
	if r.IgnoreEOS {
		body["ignore_eos"] = true
	}
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

// Event implements Decoder.
func (d *llamacppDecoder) Event(e framing.Event, s *Stream) bool {
	if !d.read(e.Data, s.opts.KeepText) {
		return false
	}
	if e.Name == "error" && d.r.errors == nil {
		d.r.errors = e.Data
	}
	d.apply(s)
	if d.stop {
		s.progress.done = s.progress.complete()
	}
	return true
}

// Body implements Decoder. Several prompts give a list.
func (d *llamacppDecoder) Body(data []byte, s *Stream) bool {
	return eachObject(data, func(data []byte) bool {
		if !d.read(data, s.opts.KeepText) {
			return false
		}
		d.r.running = false
		d.apply(s)
		return true
	})
}

func (d *llamacppDecoder) apply(s *Stream) {
	if d.stop && d.r.finish.Empty() && d.r.stops == "" {
		d.r.stops = "stop"
	}
	if d.stop && d.r.hasUsage {
		s.usage.sequence(d.r.usage)
		d.r.hasUsage = false
	}
	otherwise := timeline.Empty
	if d.progress {
		otherwise = timeline.Progress
	}
	d.r.apply(s, otherwise)
}

func (d *llamacppDecoder) read(data []byte, keep bool) bool {
	c := d.r.start(data, keep)
	d.stop, d.progress = false, false
	d.r.running = true
	for name := range c.Members {
		switch string(name) {
		case "content":
			d.r.piece(timeline.Text)
		case "index":
			if n, ok := c.Integer(); ok {
				d.r.choice = int(n)
			}
		case "stop":
			d.stop, _ = c.Boolean()
		case "stop_type":
			d.r.finish, _ = c.Text()
		case "tokens_predicted":
			d.r.hasUsage = true
			c.count(&d.r.usage.Output)
		case "tokens_evaluated":
			d.r.hasUsage = true
			c.count(&d.r.usage.Input)
		case "timings":
			d.r.timings.llamacpp(c)
			if d.r.timings.known&(1<<cachedTokens) != 0 {
				d.r.usage.Cached = timeline.Some(int64(d.r.timings.values[cachedTokens]))
			}
		case "prompt_progress":
			d.progress = c.Peek() == '{'
			c.Skip()
		case "stopped_eos", "stopped_limit", "stopped_word": // before stop_type
			if is, _ := c.Boolean(); is {
				d.r.stops = string(name[len("stopped_"):])
			}
		case "model":
			d.r.model, _ = c.Text()
		case "error":
			d.r.errors = c.problem()
		}
	}
	if !d.stop {
		d.r.finish = jsonscan.Text{} // "none" until the end
	}
	return c.End()
}

// eachObject hands out a whole reply, or each reply of a list of them.
func eachObject(data []byte, use func([]byte) bool) bool {
	var c scan
	c.Reset(data)
	if c.Peek() != '[' {
		return use(data)
	}
	var parts [][]byte
	for range c.Elements {
		c.Space()
		from := c.Place()
		c.Skip()
		parts = append(parts, data[from:min(c.Place(), len(data))])
	}
	if !c.End() {
		return false
	}
	for _, part := range parts {
		use(part)
	}
	return true
}
