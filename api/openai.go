package api

import (
	"tokenmeter/timeline"
	"tokenmeter/wire"
)

// openaiDecoder reads the chunks of chat completions and completions, of OpenAI
// and of the many servers that speak its dialect with small differences.
type openaiDecoder struct {
	c       scan
	choices []openaiChoice
	pieces  []piece // text of the chunk's choices, only when it is kept

	usage    timeline.Usage
	hasUsage bool
	timings  serverTimings
	timed    bool // the chunk had llama.cpp's timings
	progress bool
	model    text
	errors   []byte // the error object
	object   text
}

// openaiChoice is what a chunk said of one choice.
type openaiChoice struct {
	index  int
	said   saying
	finish text
	ids    int64 // number of token ids or logprobs, or notTold
}

// saying is what an event carried, over its channels.
type saying struct {
	kinds   uint16 // set of timeline.Kind
	bytes   int64
	thought bool // reasoning under one name was read; the other is its copy
}

func (y *saying) add(kind timeline.Kind, bytes int64) {
	y.kinds |= 1 << kind
	y.bytes += bytes
}

// saidOrder is which kind an event has when it carried several: an answer
// before reasoning, text before anything else.
var saidOrder = [...]timeline.Kind{timeline.Text, timeline.Refusal, timeline.Tool,
	timeline.Media, timeline.Reasoning, timeline.Role}

// kind is what the event is recorded as; Empty when it carried nothing.
func (y *saying) kind() timeline.Kind {
	for _, k := range saidOrder {
		if y.kinds&(1<<k) != 0 {
			return k
		}
	}
	return timeline.Empty
}

// piece is a part of the answer's text.
type piece struct {
	kind   timeline.Kind
	choice int // ordinal within the chunk
	text   text
}

// Event implements Decoder.
func (d *openaiDecoder) Event(e wire.Event, s *Stream) {
	if string(e.Data) == "[DONE]" {
		s.done()
		return
	}
	if !d.read(e.Data, s.opts.KeepText) {
		if e.Name == "error" {
			s.fail(quote(e.Data))
			return
		}
		s.bad(e.Partial)
		return
	}
	if e.Name == "error" && len(d.errors) == 0 {
		d.errors = e.Data
	}
	d.apply(s)
}

// Body implements Decoder.
func (d *openaiDecoder) Body(data []byte, s *Stream) {
	if !d.read(data, s.opts.KeepText) {
		s.notJSON(data)
		return
	}
	d.apply(s)
}

// read scans one chunk; false when it is no JSON.
func (d *openaiDecoder) read(data []byte, keep bool) bool {
	d.c.reset(data)
	d.choices, d.pieces = d.choices[:0], d.pieces[:0]
	if d.hasUsage {
		d.usage, d.hasUsage = timeline.Usage{}, false
	}
	if d.timings.known != 0 {
		d.timings.known = 0
	}
	d.timed, d.progress, d.errors = false, false, nil
	d.model, d.object = text{}, text{}
	c := &d.c
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			break
		}
		switch string(name) {
		case "choices":
			for ok := c.open('['); ok && c.element(); {
				d.choice(keep)
			}
		case "usage":
			d.readUsage()
		case "timings":
			d.timed = c.peek() == '{'
			d.timings.llamacpp(c)
		case "metrics":
			d.timings.vllm(c)
		case "prompt_progress":
			d.progress = c.peek() == '{'
			c.skip()
		case "error":
			d.errors = c.problem()
		case "model":
			d.model, _ = c.text()
		case "object":
			d.object, _ = c.text()
		default:
			d.vendor()
		}
	}
	return c.end()
}

// problem reads the value of an error member; nil when it says that there is none.
func (c *scan) problem() []byte {
	c.space()
	from := c.i
	switch c.peek() {
	case 'n', 'f':
		c.skip()
		return nil
	}
	c.skip()
	if c.bad {
		return nil
	}
	if raw := c.b[from:c.i]; string(raw) != `""` && string(raw) != "{}" {
		return raw
	}
	return nil
}

func (d *openaiDecoder) readUsage() {
	if d.c.peek() == '{' {
		d.hasUsage = true
	}
	d.c.usage(&d.usage, &d.timings)
}

// vendor looks into an object that some vendor added: it may hold the usage.
func (d *openaiDecoder) vendor() {
	c := &d.c
	if c.peek() != '{' {
		c.skip()
		return
	}
	for ok := c.enter(); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			return
		}
		if string(name) == "usage" {
			d.readUsage()
		} else {
			c.skip()
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
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			break
		}
		switch string(name) {
		case "index":
			if n, ok := c.integer(); ok {
				ch.index = int(n)
			}
		case "delta", "message":
			d.delta(ch, ordinal, keep)
		case "text":
			d.piece(ch, ordinal, timeline.Text, keep)
		case "finish_reason":
			ch.finish, _ = c.text()
		case "logprobs":
			logprobs = c.logprobs()
		case "token_ids":
			ids = c.length()
		case "usage":
			d.readUsage()
		default:
			c.skip()
		}
	}
	if ch.ids = ids; ids == notTold {
		ch.ids = logprobs
	}
}

// delta reads what a chunk adds to a choice.
func (d *openaiDecoder) delta(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			return
		}
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
			for ok := c.open('['); ok && c.element(); {
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
	if keep {
		d.pieces = append(d.pieces, piece{kind, ordinal, t})
	}
	return true
}

// parts reads content that is a list: text parts, and thinking parts that hold
// a list of their own (Mistral).
func (d *openaiDecoder) parts(ch *openaiChoice, ordinal int, keep bool) {
	c := &d.c
	for ok := c.open('['); ok && c.element(); {
		for ok := c.open('{'); ok; {
			var name []byte
			if name, ok = c.member(); !ok {
				break
			}
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
	for ok := c.open('['); ok && c.element(); {
		for ok := c.open('{'); ok; {
			var name []byte
			if name, ok = c.member(); !ok {
				break
			}
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
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			return
		}
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
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			return
		}
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

// object passes over an object and returns its bytes; nil when it is empty.
func (c *scan) object() []byte {
	from := c.i
	c.skip()
	if c.bad || c.i-from <= len("{}") {
		return nil
	}
	return c.b[from:c.i]
}

func (d *openaiDecoder) audio(ch *openaiChoice) {
	c := &d.c
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			return
		}
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

// length counts the elements of an array; notTold for any other value.
func (c *scan) length() int64 {
	n := int64(0)
	ok := c.open('[')
	if !ok {
		return notTold
	}
	for c.element() {
		c.skip()
		n++
	}
	return n
}

// logprobs counts the tokens that a logprobs object lists, whatever its shape.
func (c *scan) logprobs() int64 {
	n := int64(notTold)
	for ok := c.open('{'); ok; {
		var name []byte
		if name, ok = c.member(); !ok {
			break
		}
		switch string(name) {
		case "content", "refusal", "tokens":
			if l := c.length(); l != notTold {
				n = max(n, 0) + l
			}
		default:
			c.skip()
		}
	}
	return n
}

// apply tells the stream what the chunk said.
func (d *openaiDecoder) apply(s *Stream) {
	s.named(d.model)
	s.server.merge(&d.timings)
	if d.hasUsage {
		d.applyUsage(s)
	}
	failed := len(d.errors) > 0 || d.object.is("error")
	for i := range d.choices {
		for _, p := range d.pieces {
			if p.choice == i {
				s.keep(p.kind, d.choices[i].index, p.text)
			}
		}
	}
	recorded := false
	for i := range d.choices {
		recorded = d.applyChoice(s, &d.choices[i], failed) || recorded
	}
	switch {
	case failed && !recorded:
		s.fail(d.failure())
	case failed:
		s.failQuietly(d.failure())
	case !recorded:
		s.add(d.structural(), 0, 0, none)
	}
	for i := range d.choices {
		if ch := &d.choices[i]; !ch.finish.empty() {
			s.finish(ch.index, ch.finish)
			if ch.finish.is("error") || ch.finish.is("abort") {
				s.failQuietly("the server ended the reply with finish reason " + s.tl.FinishReason)
			}
		}
	}
}

// applyChoice records what a choice carried. A finish reason alone is recorded
// too, unless the chunk is an error. It returns whether an event was recorded.
func (d *openaiDecoder) applyChoice(s *Stream, ch *openaiChoice, failed bool) bool {
	kind := ch.said.kind()
	var output timeline.Opt[int64]
	if d.hasUsage && len(d.choices) == 1 && ch.index == 0 && s.progress.seen&^1 == 0 {
		output = d.usage.Output
	}
	tokens := s.count.of(kind.Bears(), ch.ids, output)
	switch {
	case kind.Bears():
	case !ch.finish.empty() && !failed:
		kind = timeline.Finish
	default:
		return false
	}
	s.add(kind, ch.index, ch.said.bytes, tokens)
	return true
}

// structural is what a chunk without text, finish reason and error is.
func (d *openaiDecoder) structural() timeline.Kind {
	if d.progress {
		return timeline.Progress
	}
	for i := range d.choices {
		if d.choices[i].said.kind() == timeline.Role {
			return timeline.Role
		}
	}
	if d.hasUsage && len(d.choices) == 0 {
		return timeline.UsageEvent
	}
	return timeline.Empty
}

// applyUsage takes the chunk's usage. llama.cpp sends one for each choice, with
// its timings; it is known by them.
func (d *openaiDecoder) applyUsage(s *Stream) {
	final := true
	for i := range d.choices {
		final = final && !d.choices[i].finish.empty()
	}
	if d.timed && final {
		s.usage.sequence(d.usage)
	} else {
		s.usage.merge(d.usage)
	}
}

// failure is the words of the chunk's error.
func (d *openaiDecoder) failure() string {
	data := d.errors
	if data == nil && d.object.is("error") {
		data = d.c.b
	}
	if words := errorWords(data); words != "" {
		return words
	}
	if len(data) > 0 {
		return quote(data)
	}
	return ""
}
