package workload

import (
	"maps"
	"strings"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

// given makes an item of the file's entry.
func (c *class) given(it *Item) {
	if c.source.sessions != nil {
		c.session(it)
		return
	}
	e, err := c.source.entry(it.Index)
	if err != nil {
		it.Err = err
		return
	}
	c.entry(it, &e)
}

// entry makes an item of an entry.
func (c *class) entry(it *Item, e *entry) {
	if e.messages != nil && !c.turns.IsZero() {
		e.turns = turnsOf(e.messages)
	}
	if c.shape.Output() != "" || !e.output.OK() { // what was asked for goes before the record
		e.output = outputLength(c.output(), c.seed, it.Index)
	}
	switch {
	case e.messages != nil && e.turns == nil:
		it.Messages = e.messages
		it.MaxTokens = e.output
	case e.turns != nil:
		c.recorded(it, e.turns, e.output)
	default:
		c.fromLengths(it, e)
	}
	it.Model, it.Check = e.model, e.check
	if e.extra != nil {
		it.Extra = merged(c.extra, e.extra)
	}
}

// output is the distribution of output lengths that was asked for; zero: none.
func (c *class) output() Lengths {
	if len(c.shape.parts) == 1 {
		return c.shape.parts[0].output
	}
	return Lengths{}
}

func merged(a, b map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// recorded makes the turns of a recorded conversation. The answers' lengths are
// what was answered then, as our tokenizer counts them; where a turn has no answer, which
// is the request that was recorded, what it asked for.
func (c *class) recorded(it *Item, turns []turn, asked timeline.Opt[int64]) {
	most := 1
	if !c.turns.IsZero() {
		src := random.New(c.seed, turnsKey, uint64(it.Index))
		most = int(c.turns.Draw(&src))
	}
	turns = turns[:min(len(turns), most)]
	if len(turns) > 1 {
		it.Kind = Conversation
		it.More = make([]Step, len(turns)-1)
	}
	think := random.New(c.seed, thinkKey, uint64(it.Index))
	for k, t := range turns {
		s := it.Nth(k)
		if s.Messages = t.messages; s.Messages == nil {
			s.Messages = user(t.user)
		}
		s.Answer, s.Calls = t.answer, t.calls
		said := t.answer
		for _, call := range t.calls {
			said += call.Function.Name + call.Function.Arguments
		}
		if s.MaxTokens = outputLength(c.output(), random.Mix(c.seed^uint64(k)), it.Index); !s.MaxTokens.OK() && said != "" {
			s.MaxTokens = timeline.Some(max(int64(c.maker.count(said)), 1))
		} else if !s.MaxTokens.OK() {
			s.MaxTokens = asked
		}
		if said == "" && !c.live && k < len(turns)-1 { // the user's turns alone were recorded
			s.Answer = c.maker.make(answerKey^partKey(k), it.Index, c.maker.units(s.MaxTokens.Or(defaultAnswer)))
		}
		if k > 0 {
			s.After, s.Continue = []int{k - 1}, timeline.Some(k-1)
			s.Wait = c.think.Draw(&think)
		}
	}
}

// fromLengths makes a prompt of a recorded length. Equal hash ids become equal
// stretches of text, so that prompts share what the recorded ones shared.
func (c *class) fromLengths(it *Item, e *entry) {
	n := e.input.Or(1)
	it.InputTokens, it.MaxTokens = timeline.Some(n), e.output
	if len(e.hashes) == 0 || c.source.block <= 0 {
		it.Units, it.Corpus = c.unitsOf(it.Index, 0, n), c.maker.corpus
		it.Messages = user(c.maker.make(c.salt, it.Index, it.Units))
		return
	}
	var b strings.Builder
	add := func(text string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	left, units := n, 0
	for _, id := range e.hashes {
		if left <= 0 {
			break
		}
		whole := c.maker.units(c.source.block)
		part := whole
		if left < c.source.block {
			part = min(c.maker.units(left), whole)
		}
		add(c.stretch(c.salt, int64(id), whole, part))
		left -= c.source.block
		units += part
	}
	if left > 0 { // more tokens than ids: the rest is its own
		part := c.maker.units(left)
		add(c.maker.make(c.salt, it.Index, part))
		units += part
	}
	it.Messages = user(b.String())
	if c.system == "" {
		it.Units, it.Corpus = units, c.maker.corpus
	}
}

// stretch is the text of a hash id, or its beginning.
func (c *class) stretch(salt uint64, id int64, whole, part int) string {
	if part == whole || c.maker.corpus == Words && c.maker.plain {
		return c.maker.make(salt^prefixKey, id, part)
	}
	return c.maker.make(salt^prefixKey^uint64(part), id, part)
}
