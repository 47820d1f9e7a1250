package api

import "tokenmeter/record/timeline"

func (d *responsesDecoder) read(data []byte, keep bool) bool {
	c := d.r.start(data, keep)
	d.kind, d.delta, d.status, d.why, d.item, d.itemType = text{}, text{}, text{}, text{}, text{}, text{}
	for name := range c.members {
		switch string(name) {
		case "type":
			d.kind, _ = c.text()
		case "delta", "partial_image_b64":
			d.delta, _ = c.text()
		case "logprobs":
			d.r.ids = c.length()
		case "response":
			d.response()
		case "item":
			d.newItem()
		case "output":
			d.output()
		default:
			d.responseMember(name)
		}
	}
	return c.end()
}

// response reads the response object of a structural event; its output repeats
// what the deltas brought, if there were any.
func (d *responsesDecoder) response() {
	c := &d.r.c
	for name := range c.members {
		if d.alone && string(name) == "output" {
			d.output()
		} else {
			d.responseMember(name)
		}
	}
}

func (d *responsesDecoder) responseMember(name []byte) {
	c := &d.r.c
	switch string(name) {
	case "model":
		d.r.model, _ = c.text()
	case "status":
		d.status, _ = c.text()
	case "error":
		d.r.errors = c.problem()
	case "incomplete_details":
		for name := range c.members {
			if string(name) == "reason" {
				d.why, _ = c.text()
			} else {
				c.skip()
			}
		}
	case "usage":
		d.r.hasUsage = c.peek() == '{'
		c.usage(&d.r.usage, &d.r.timings)
	default:
		c.skip()
	}
}

// newItem reads the output item that starts: a call's name counts as text.
func (d *responsesDecoder) newItem() {
	c := &d.r.c
	for name := range c.members {
		switch string(name) {
		case "type":
			d.itemType, _ = c.text()
		case "name":
			d.item, _ = c.text()
		default:
			c.skip()
		}
	}
}

// output reads the output of a whole reply.
func (d *responsesDecoder) output() {
	c := &d.r.c
	for range c.elements {
		for name := range c.members {
			switch string(name) {
			case "content":
				d.texts(timeline.Text)
			case "summary":
				d.texts(timeline.Reasoning)
			case "name":
				d.r.piece(timeline.Tool)
			case "arguments", "input":
				d.r.arguments()
			default:
				c.skip()
			}
		}
	}
}

// texts reads a list of text parts.
func (d *responsesDecoder) texts(kind timeline.Kind) {
	c := &d.r.c
	for range c.elements {
		kind := kind
		var t text
		for name := range c.members {
			switch string(name) {
			case "type":
				if is, ok := c.text(); ok && is.is("reasoning_text") {
					kind = timeline.Reasoning
				}
			case "text":
				t, _ = c.text()
			case "refusal":
				d.r.piece(timeline.Refusal)
			default:
				c.skip()
			}
		}
		if !t.empty() {
			d.r.said.add(kind, t.size())
			if d.r.keep {
				d.r.pieces = append(d.r.pieces, piece{kind: kind, text: t})
			}
		}
	}
}
