package api

import (
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
	for name := range c.Members {
		if string(name) == "text" {
			d.delta, _ = c.Text()
		}
	}
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
	case "audio": // of Realtime
		c.membersUnder(d.soundFormat, "output", "format")
	case "output_audio_format": // of its beta
		if t, ok := c.Text(); ok {
			d.format = map[string]string{"g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma"}[t.String()]
		}
	default:
		d.r.account(name)
	}
}

// newItem reads an output item. Where it starts, a call's name counts as text;
// where it is done, it has all of its text.
func (d *responsesDecoder) newItem() {
	c := &d.r.c
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
		case "arguments", "input", "code":
			d.whole(timeline.Tool)
		case "result": // the picture of an image_generation_call
			d.whole(timeline.Media)
		}
	}
}

// output reads the output of a whole reply.
func (d *responsesDecoder) output() {
	c := &d.r.c
	for range c.Elements {
		for name := range c.Members {
			switch string(name) {
			case "content":
				d.texts(timeline.Text)
			case "summary":
				d.texts(timeline.Reasoning)
			case "name":
				d.r.piece(timeline.Tool)
			case "arguments", "input":
				d.r.arguments()
			case "result": // the picture of an image_generation_call
				if c.media() {
					d.r.said.add(timeline.Media, 0)
				}
			}
		}
	}
}

// texts reads a list of text parts.
func (d *responsesDecoder) texts(kind timeline.Kind) {
	c := &d.r.c
	for range c.Elements {
		kind := kind
		var t jsonscan.Text
		for name := range c.Members {
			switch string(name) {
			case "type":
				if is, ok := c.Text(); ok && is.Is("reasoning_text") {
					kind = timeline.Reasoning
				}
			case "text":
				t, _ = c.Text()
			case "refusal":
				d.r.piece(timeline.Refusal)
			}
		}
		d.r.add(kind, t)
	}
}
