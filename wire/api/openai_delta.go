package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// delta reads what a chunk adds to a choice, or a whole message; place is which of them.
func (d *openaiDecoder) delta(ch *openaiChoice, ordinal int, keep bool, place []byte) {
	c := &d.c
	for name := range c.Members {
		switch string(name) {
		case "content":
			if c.Peek() == '"' {
				ch.blank = !d.piece(ch, ordinal, timeline.Text, keep)
			} else {
				d.parts(ch, ordinal, keep)
			}
		case "refusal":
			d.piece(ch, ordinal, timeline.Refusal, keep)
		case "role":
			ch.roled = true
			if t, ok := c.Text(); ok && !t.Empty() {
				ch.said.add(timeline.Role, 0)
			}
		case "tool_calls":
			if c.Peek() == '{' { // one, without a list (TGI 2)
				d.toolCall(ch, ordinal, keep)
				continue
			}
			for range c.Elements {
				d.toolCall(ch, ordinal, keep)
			}
		case "function_call":
			d.function(ch, ordinal, keep)
		case "extra_content":
			d.extra(ch)
		case "provider_metadata": // of Vercel's gateway, which leaves Google's thoughts out of its own counts
			tier := d.usage.tier // the gateway bills
			for range c.Members {
				c.under("usageMetadata", d.readUsage)
			}
			d.usage.tier = tier
		case "provider_specific_fields": // LiteLLM's copy of what others have beside it, but perhaps of what is sealed
			for name := range c.Members {
				switch string(name) {
				case "thinking_blocks":
					d.sealed(ch, func() { c.thoughts(c.worded) })
				case "compaction_blocks": // the context in short: the answer follows in another request
					d.compacted = c.length() > 0 || d.compacted
				}
			}
		case "content_blocks": // Portkey's: Anthropic's blocks, and other vendors' by that form
			d.sealed(ch, func() {
				for range c.Elements {
					d.block(ch, ordinal, keep)
				}
			})
		case "cot_summary": // Copilot's name for OpenAI's
			d.reasoning(ch, ordinal, keep)
			c.summed = c.summed || ch.said.thought
		default:
			switch {
			case isMedia(name):
				d.media(ch)
			case isReasoning(name):
				d.reasoning(ch, ordinal, keep)
			default:
				c.left(place, name)
			}
		}
	}
	if ch.said.inThought { // Google marks reasoning that it sends as content
		ch.said.kinds &^= 1 << timeline.Text
		ch.said.kinds |= 1 << timeline.Reasoning
		for i := range d.pieces {
			if d.pieces[i].choice == ordinal && d.pieces[i].kind == timeline.Text {
				d.pieces[i].kind = timeline.Reasoning
			}
		}
	}
}

// extra reads what Google adds to a delta: google.thought says that the content
// is reasoning.
func (d *openaiDecoder) extra(ch *openaiChoice) {
	c := &d.c
	c.under("google", func() {
		c.under("thought", func() {
			is, _ := c.Boolean()
			ch.said.inThought = ch.said.inThought || is
			c.summed = c.summed || is // Google streams no thoughts in full
		})
	})
}

// reasoning reads a member that holds reasoning. Where several do, they hold the
// same: the first that says something is taken. The others may tell that it is a
// summary (OpenRouter's reasoning_details).
func (d *openaiDecoder) reasoning(ch *openaiChoice, ordinal int, keep bool) {
	d.sealed(ch, func() {
		switch {
		case !ch.said.thought:
			ch.said.thought = d.c.thoughts(func() bool { return d.piece(ch, ordinal, timeline.Reasoning, keep) })
		case d.c.Peek() == '"':
			d.c.Skip()
		default:
			d.c.thoughts(d.c.worded)
		}
	})
}

// block reads a content block that stands beside the content: its thinking, a piece of which
// is in a delta, stands there alone, while its text is the content once more.
// Source: https://portkey.ai/docs/product/ai-gateway/multimodal-capabilities/thinking-mode
func (d *openaiDecoder) block(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.Members {
		switch string(name) {
		case "delta":
			d.block(ch, ordinal, keep)
		case "thinking":
			d.reasoning(ch, ordinal, keep)
		case "signature":
			c.signature()
		case "data": // of redacted thinking
			sealed := c.worded()
			c.sealed = c.sealed || sealed
		}
	}
}

// sealed notes of what read finds that it was thought, where its words are kept back.
func (d *openaiDecoder) sealed(ch *openaiChoice, read func()) {
	before := d.c.sealed
	d.c.sealed, d.c.withheld = false, false
	read()
	if d.c.sealed {
		ch.said.add(timeline.Reasoning, 0)
	}
	ch.withheld = ch.withheld || d.c.withheld
	d.c.sealed = d.c.sealed || before
}

// piece reads a string of generated text; true when there was some.
func (d *openaiDecoder) piece(ch *openaiChoice, ordinal int, kind timeline.Kind, keep bool) bool {
	t, _ := d.c.Text()
	if t.Empty() {
		return false
	}
	d.like.found(kind, &d.c, t)
	d.say(ch, ordinal, kind, t, keep)
	return true
}

// say takes generated text.
func (d *openaiDecoder) say(ch *openaiChoice, ordinal int, kind timeline.Kind, t jsonscan.Text, keep bool) {
	ch.said.add(kind, t.Size())
	if kind == timeline.Reasoning {
		d.c.wide = d.c.wide || t.Wide || t.Escaped && bytes.Contains(t.Raw, []byte(`\u`))
	}
	if kind == timeline.Text {
		ch.text = t
		ch.texts++
	}
	if keep {
		d.pieces = append(d.pieces, piece{kind, ordinal, t})
	}
}

// written takes the JSON that stands where a text does, with its own bytes.
func (d *openaiDecoder) written(ch *openaiChoice, ordinal int, kind timeline.Kind, keep bool) {
	if raw := d.c.object(); len(raw) > 0 {
		ch.said.add(kind, int64(len(raw)))
		if keep {
			d.pieces = append(d.pieces, piece{kind, ordinal, jsonscan.Text{Raw: raw}})
		}
	}
}

// parts reads content that is a list of parts, or one of them: text, refusals,
// media, and reasoning, which may hold a list of its own (Mistral). An object that is
// no part is structured output of Cloudflare's Workers AI.
func (d *openaiDecoder) parts(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	if c.Peek() == '{' {
		if c.isPart() {
			d.part(ch, ordinal, keep)
		} else {
			d.written(ch, ordinal, timeline.Text, keep)
		}
		return
	}
	for range c.Elements {
		if c.Peek() == '"' {
			d.piece(ch, ordinal, timeline.Text, keep)
			continue
		}
		d.part(ch, ordinal, keep)
	}
}

// isPart reports whether an object is a part of content: it has a part's type and the member
// of that type, or nothing but text. Any other is an answer, whatever its members are called.
func (s *scan) isPart() bool {
	from := s.Scanner
	var kind jsonscan.Text
	var text, refusal, thought, media bool
	others := 0 // members beside the type
	for name := range s.Members {
		switch others++; {
		case string(name) == "type":
			kind, _ = s.Text()
			others--
		case string(name) == "text":
			text = true
		case string(name) == "refusal":
			refusal = true
		default:
			thought = thought || string(name) == "summary" || isReasoning(name) || string(name) == "content" && s.Peek() == '['
			media = media || string(name) == "source" || isMedia(name)
		}
	}
	s.Scanner = from
	switch {
	case isReasoning(kind.Raw):
		return thought || text
	case bytes.HasSuffix(kind.Raw, []byte("text")):
		return text
	case kind.Is("refusal"):
		return refusal
	case isMedia(kind.Raw):
		return media
	}
	return kind.Empty() && (others == 0 || others == 1 && text)
}

func (d *openaiDecoder) part(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	kind := timeline.Text
	if isReasoning(c.ahead("type").Raw) {
		kind = timeline.Reasoning
	}
	for name := range c.Members {
		switch string(name) {
		case "text":
			d.piece(ch, ordinal, kind, keep)
		case "refusal":
			d.piece(ch, ordinal, timeline.Refusal, keep)
		case "summary": // of reasoning (Databricks)
			c.summary(func() bool { return d.piece(ch, ordinal, timeline.Reasoning, keep) })
		default:
			switch {
			case kind == timeline.Reasoning && string(name) == "content":
				c.thoughts(func() bool { return d.piece(ch, ordinal, timeline.Reasoning, keep) })
			case isMedia(name):
				d.media(ch)
			case isReasoning(name):
				c.thoughts(func() bool { return d.piece(ch, ordinal, timeline.Reasoning, keep) })
			default:
				c.left(inContent, name)
			}
		}
	}
}

func (d *openaiDecoder) toolCall(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.Members {
		switch string(name) {
		case "function", "custom":
			d.function(ch, ordinal, keep)
		default:
			c.left(inCalls, name)
		}
	}
}

// function reads a call's name and arguments. Arguments are a string of JSON;
// a few servers send them as an object, which counts with its own bytes.
func (d *openaiDecoder) function(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for name := range c.Members {
		switch string(name) {
		case "name", "arguments", "input":
			if c.Peek() != '{' {
				d.piece(ch, ordinal, timeline.Tool, keep)
				continue
			}
			d.written(ch, ordinal, timeline.Tool, keep)
		default:
			c.left(inFunction, name)
		}
	}
}

// media counts pictures, sound and video that were generated. The description of
// one that has not begun (an id, an expiry) is none.
func (d *openaiDecoder) media(ch *openaiChoice) {
	if d.c.media() {
		ch.said.add(timeline.Media, 0)
	}
}
