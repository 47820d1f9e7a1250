package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// read scans one chunk; false when it is no JSON.
func (d *openaiDecoder) read(e framing.Event, s *Stream) bool {
	if d.again = d.same(e, s); d.again {
		return true
	}
	keep := s.opts.KeepText
	d.c.unread = &s.unread
	d.c.Reset(e.Data)
	d.like.chunk, d.like.texts = d.like.chunk[:0], 0
	d.choices, d.pieces = d.choices[:0], d.pieces[:0]
	if d.hasUsage {
		d.usage, d.hasUsage = usage{}, false
	}
	if d.timings.known != 0 {
		d.timings.known = 0
	}
	d.timed, d.progress, d.errors = false, false, nil
	d.model, d.object, d.usage.tier, d.fingerprint = jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}, jsonscan.Text{}
	var value, modality jsonscan.Text
	c := &d.c
	for name := range c.Members {
		switch string(name) {
		case "choices":
			for range c.Elements {
				d.choice(keep)
			}
		case "usage":
			d.readUsage()
		case "timings":
			d.timed = c.Peek() == '{'
			d.timings.llamacpp(c)
		case "metrics":
			d.timings.vllm(c)
		case "time_info": // Cerebras
			var none usage
			c.usage(&none, &d.timings)
		case "prompt_progress":
			d.progress = c.Peek() == '{'
		case "error":
			d.errors = c.problem()
		case "base_resp":
			if raw := c.baseResp(); raw != nil {
				d.errors = raw
			}
		case "model":
			d.model, _ = c.Text()
		case "service_tier":
			c.tier(&d.usage)
		case "system_fingerprint":
			d.fingerprint, _ = c.Text()
		case "object":
			d.object, _ = c.Text()
		case "modality":
			modality, _ = c.Text()
		case "value":
			value, _ = c.Text()
		default:
			d.vendor(name)
		}
	}
	switch {
	case modality.Is("audio"):
		d.inPlaceOfText(audioOutput)
	case modality.Is("image"):
		d.inPlaceOfText(imageOutput)
	case s.api == OpenAICompletions && len(d.choices) == 0 && !value.Empty():
		d.value(value, s, keep)
	}
	return c.End()
}

// value takes a chunk of Writer's completions, which is its text alone: only the body's end
// says that it was the last. Source: writerai/types/completion_chunk.py
func (d *openaiDecoder) value(t jsonscan.Text, s *Stream, keep bool) {
	s.endless = true
	d.choices = append(d.choices, openaiChoice{ids: notTold})
	d.say(&d.choices[0], 0, timeline.Text, t, keep)
}

// inPlaceOfText takes what stands as the text for a medium, in base64, as vLLM-Omni sends it:
// each chunk is of one modality, and its usage counts the text alone, so that none of the
// output's tokens are the medium's.
// Source: vllm-project/vllm-omni, entrypoints/openai/serving_chat.py, chat_completion_stream_generator
func (d *openaiDecoder) inPlaceOfText(tokens timing) {
	for i := range d.choices {
		ch := &d.choices[i]
		if ch.said.kind() == timeline.Text {
			ch.said = saying{kinds: 1 << timeline.Media}
		}
		if ch.said.kind() == timeline.Media {
			d.timings.set(tokens, 0)
		}
		ch.text, ch.texts = jsonscan.Text{}, 0
	}
	d.pieces, d.like.texts = d.pieces[:0], 0 // not a model
}

func (d *openaiDecoder) readUsage() {
	if d.c.Peek() == '{' {
		d.hasUsage = true
	}
	d.c.usage(&d.usage, &d.timings)
}

// vendor looks into an object that some vendor added: it may hold the usage, and
// Groq's why the stream was stopped early.
func (d *openaiDecoder) vendor(of []byte) {
	groq := string(of) == "x_groq"
	for name := range d.c.Members {
		switch {
		case string(name) == "usage":
			d.readUsage()
		case groq && string(name) == "error":
			if raw := d.c.problem(); raw != nil {
				d.errors = raw
			}
		default:
			d.c.leftCount(of, name)
		}
	}
}

// choice reads one element of choices.
func (d *openaiDecoder) choice(keep bool) {
	c := &d.c
	d.choices = append(d.choices, openaiChoice{ids: notTold})
	ordinal := len(d.choices) - 1
	ch := &d.choices[ordinal]
	ids, logprobs := int64(notTold), int64(notTold)
	var message, text jsonscan.Scanner // where one begins
	spoke := false                     // the delta did
	chat := false
	for name := range c.Members {
		switch string(name) {
		case "index":
			if n, ok := c.Integer(); ok {
				ch.index = int(n)
			}
		case "delta":
			before := ch.said
			chat = true
			d.delta(ch, ordinal, keep, inDelta)
			spoke = ch.said != before
		case "message":
			c.Space()
			chat = true
			message = c.Scanner
			c.Skip()
		case "text":
			c.Space()
			text = c.Scanner
			c.Skip()
		case "finish_reason":
			ch.finish = c.reason()
		case "logprobs":
			logprobs = c.logprobs()
		case "token_ids":
			ids = c.length()
		case "usage":
			d.readUsage()
		case "error": // OpenRouter
			if raw := c.problem(); raw != nil {
				d.errors = raw
			}
		default:
			if isReasoning(name) {
				d.reasoning(ch, ordinal, keep)
			} else {
				c.left(inChoices, name)
			}
		}
	}
	if text.Whole() != nil && !c.Failed() && !spoke { // else it repeats what the delta said, as Together's does
		after := c.Scanner
		c.Scanner = text
		d.piece(ch, ordinal, timeline.Text, keep)
		c.Scanner = after
	}
	if ch.inDelta = ch.said.kind().Bears(); message.Whole() != nil && !c.Failed() && !ch.inDelta && !d.hasDelta(ch.index) {
		after := c.Scanner
		c.Scanner = message
		d.delta(ch, ordinal, keep, inMessage)
		c.Scanner = after
	}
	ch.idsOnly = ids > 0 && !chat && !ch.said.kind().Bears()
	if ch.ids = ids; ids == notTold {
		ch.ids = logprobs
	}
}

// hasDelta reports whether the text of a choice came in deltas so far: a message
// then repeats them.
func (d *openaiDecoder) hasDelta(choice int) bool {
	return choice >= 0 && choice < maxChoices && d.deltas&(1<<choice) != 0
}
