package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

func (d *responsesDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.alone = s.tokens == 0 && !d.r.whole
	d.repeats.item, d.repeats.whole = notTold, d.repeats.whole[:0]
	d.delta, d.status, d.why, d.item, d.itemType, d.id = jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.r.typed()
		case "delta", "partial_image_b64":
			d.readDelta()
		case "logprobs":
			d.r.ids = c.length()
		case "response":
			d.response()
		case "item":
			d.newItem()
		case "output":
			d.output()
		case "output_index":
			if n, ok := c.Integer(); ok {
				d.repeats.item = n
			}
		case "text":
			d.whole(timeline.Text)
		case "refusal":
			d.whole(timeline.Refusal)
		case "arguments", "input", "code", "command", "diff":
			d.whole(timeline.Tool)
		case "part":
			d.wholePart(timeline.Text)
		default:
			d.responseMember(name)
		}
	}
	return c.End()
}

// readDelta reads a text, or the object with a text that some gateways send.
func (d *responsesDecoder) readDelta() {
	c := &d.r.c
	if c.Peek() != '{' {
		d.delta, _ = c.Text()
		return
	}
	c.under("text", func() { d.delta, _ = c.Text() })
}

// response reads the response object of a structural event; its output repeats
// what the deltas brought, if there were any.
func (d *responsesDecoder) response() {
	c := &d.r.c
	for name := range c.Members {
		switch {
		case d.alone && string(name) == "output":
			d.output()
		case string(name) == "id":
			d.id, _ = c.Text()
		default:
			d.responseMember(name)
		}
	}
}

func (d *responsesDecoder) responseMember(name []byte) {
	c := &d.r.c
	switch string(name) {
	case "status":
		d.status, _ = c.Text()
	case "incomplete_details", "status_details":
		for name := range c.Members {
			switch string(name) {
			case "reason":
				d.why, _ = c.Text()
			case "error":
				d.r.errors = c.problem()
			}
		}
	case "provider_specific_fields": // of LiteLLM, with Claude's thoughts, their signatures and what is sealed
		c.under("thinking_blocks", func() { c.thoughts(c.worded) })
	case "audio": // of Realtime
		c.under("output", func() { c.under("format", d.soundFormat) })
	case "output_audio_format": // of its beta
		if t, ok := c.Text(); ok {
			d.format = map[string]string{"g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma"}[t.String()]
		}
	default:
		d.r.account(name)
	}
}

// newItem reads an output item. Where it starts, a call's name counts as text;
// where it is done, it has all of its text: what a call asks for too, under the names
// that OpenAI's tools have for it. What a tool gave was not generated, and what is
// searched for is told when the search is over.
func (d *responsesDecoder) newItem() {
	c, from := &d.r.c, len(d.repeats.whole)
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.itemType, _ = c.Text()
		case "name":
			d.item, _ = c.Text()
		case "content":
			d.wholeParts(timeline.Text)
		case "summary":
			d.wholeParts(timeline.Reasoning)
		case "arguments", "input", "code", "action", "actions", "operation":
			d.note(timeline.Tool, c.written())
		case "result": // the picture of an image_generation_call
			d.whole(timeline.Media)
		case "output", "outputs", "results", "queries", "revised_prompt", "environment": // of tools that the service runs, and what it asked them
		default:
			c.left(inItem, name)
		}
	}
	d.compacted = d.compacted || d.itemType.Is("compaction")
	if bytes.HasSuffix(d.itemType.Raw, []byte("_output")) || d.itemType.Is("web_search_call") {
		d.repeats.whole = d.repeats.whole[:from]
	}
}

// output reads the output of a whole reply.
func (d *responsesDecoder) output() {
	for range d.r.c.Elements {
		d.item, d.itemType = jsonscan.Text{}, jsonscan.Text{}
		from := len(d.repeats.whole)
		d.newItem()
		d.r.add(timeline.Tool, d.item)
		for _, p := range d.repeats.whole[from:] {
			d.add(p)
		}
		d.repeats.whole = d.repeats.whole[:from]
	}
}
