package api

import "tokenmeter/record/timeline"

// delta reads what a chunk adds to a choice.
func (d *openaiDecoder) delta(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.members {
		switch string(name) {
		case "content":
			if c.peek() == '[' {
				d.parts(ch, ordinal, keep)
			} else {
				d.piece(ch, ordinal, timeline.Text, keep)
			}
		case "reasoning_content", "reasoning":
			if ch.said.thought {
				c.skip()
				continue
			}
			ch.said.thought = d.piece(ch, ordinal, timeline.Reasoning, keep)
		case "refusal":
			d.piece(ch, ordinal, timeline.Refusal, keep)
		case "role":
			if t, ok := c.text(); ok && !t.empty() {
				ch.said.add(timeline.Role, 0)
			}
		case "tool_calls":
			for range c.elements {
				d.toolCall(ch, ordinal, keep)
			}
		case "function_call":
			d.function(ch, ordinal, keep)
		case "audio":
			d.audio(ch)
		default:
			c.skip()
		}
	}
}

// piece reads a string of generated text; true when there was some.
func (d *openaiDecoder) piece(ch *openaiChoice, ordinal int, kind timeline.Kind, keep bool) bool {
	t, ok := d.c.text()
	if !ok || t.empty() {
		return false
	}
	ch.said.add(kind, t.size())
	d.like.found(kind, &d.c, t)
	if keep {
		d.pieces = append(d.pieces, piece{kind, ordinal, t})
	}
	return true
}

// parts reads content that is a list: text parts, and thinking parts that hold
// a list of their own (Mistral).
func (d *openaiDecoder) parts(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for range c.elements {
		for name := range c.members {
			switch string(name) {
			case "text":
				d.piece(ch, ordinal, timeline.Text, keep)
			case "refusal":
				d.piece(ch, ordinal, timeline.Refusal, keep)
			case "thinking":
				d.thinking(ch, ordinal, keep)
			default:
				c.skip()
			}
		}
	}
}

func (d *openaiDecoder) thinking(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	if c.peek() == '"' {
		d.piece(ch, ordinal, timeline.Reasoning, keep)
		return
	}
	for range c.elements {
		for name := range c.members {
			if string(name) == "text" {
				d.piece(ch, ordinal, timeline.Reasoning, keep)
			} else {
				c.skip()
			}
		}
	}
}

func (d *openaiDecoder) toolCall(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.members {
		switch string(name) {
		case "function", "custom":
			d.function(ch, ordinal, keep)
		default:
			c.skip()
		}
	}
}

// function reads a call's name and arguments. Arguments are a string of JSON;
// a few servers send them as an object, which counts with its own bytes.
func (d *openaiDecoder) function(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.members {
		switch string(name) {
		case "name", "arguments", "input":
			if c.peek() != '{' {
				d.piece(ch, ordinal, timeline.Tool, keep)
				continue
			}
			if raw := c.object(); len(raw) > 0 {
				ch.said.add(timeline.Tool, int64(len(raw)))
				if keep {
					d.pieces = append(d.pieces, piece{timeline.Tool, ordinal, text{raw: raw}})
				}
			}
		default:
			c.skip()
		}
	}
}

func (d *openaiDecoder) audio(ch *openaiChoice) {
	c := &d.c
	for name := range c.members {
		switch string(name) {
		case "data", "transcript":
			if t, ok := c.text(); ok && !t.empty() {
				ch.said.add(timeline.Media, 0)
			}
		default:
			c.skip()
		}
	}
}
