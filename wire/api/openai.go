package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// openaiDecoder reads the chunks of chat completions and completions, of OpenAI
// and of the many servers that speak its dialect with small differences.
type openaiDecoder struct {
	c       scan
	choices []openaiChoice
	pieces  []piece // text of the chunk's choices, only when it is kept
	deltas  uint64  // choices that have said something in deltas

	usage       usage
	hasUsage    bool
	timings     serverTimings
	timed       bool // the chunk had llama.cpp's timings
	progress    bool
	compacted   bool // a context in short came
	model       jsonscan.Text
	errors      []byte // the error object
	object      jsonscan.Text
	fingerprint jsonscan.Text

	inline []inlineThought // of each choice

	like  model
	again bool // the chunk is like the model
}

// openaiChoice is what a chunk said of one choice.
type openaiChoice struct {
	index  int
	said   saying
	finish jsonscan.Text
	ids    int64 // number of token ids or logprobs, or notTold

	text  jsonscan.Text // the last piece of the answer's
	texts int

	withheld bool // it holds reasoning whose words are kept back, Claude's or another's
	inDelta  bool // it said so in a delta, not in a message
	idsOnly  bool // it holds token ids, no text and no member of a chat
	blank    bool // its content is there and empty
	roled    bool // it has a role, be it null
}

// apply tells the stream what the chunk said.
func (d *openaiDecoder) apply(e framing.Event, s *Stream) {
	if d.again {
		d.applyChoice(s, &d.choices[0], false)
		return
	}
	if e.Name == "error" && len(d.errors) == 0 {
		d.errors = e.Data
	}
	d.tell(s)
	d.learn(e.Data)
}

// tell tells the stream what a chunk said that was scanned.
func (d *openaiDecoder) tell(s *Stream) {
	s.named(d.model)
	s.served(d.usage.tier)
	s.identified(d.fingerprint)
	s.server.merge(&d.timings)
	s.summed, s.thought = s.summed || d.c.summed, s.thought || d.c.thought
	s.reasonedWide = s.reasonedWide || d.c.wide
	s.signed, s.sealed = s.signed || d.c.signed, s.sealed || d.c.sealed || d.compacted // its tokens came as no words of the answer, either
	s.compacted = s.compacted || d.compacted
	if d.hasUsage {
		d.applyUsage(s)
	}
	if len(d.choices) == 0 && !d.progress && !d.timed && len(d.errors) == 0 {
		d.errors = refusal(d.c.Whole())
		s.unread.strange = !d.hasUsage
	}
	failed := len(d.errors) > 0 || d.object.Is("error")
	for i := range d.choices {
		for _, p := range d.pieces {
			if p.choice == i {
				s.keep(p.kind, d.choices[i].index, p.text)
			}
		}
	}
	d.claimWithheld(s)
	d.inlined(s)
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
		if ch := &d.choices[i]; !ch.finish.Empty() {
			s.finish(ch.index, ch.finish)
		}
	}
}

// claimWithheld takes reasoning whose words are kept back for Claude's by the model's name, where
// nothing beside it says whose it is (Bifrost). Others keep back what may be no thought.
func (d *openaiDecoder) claimWithheld(s *Stream) {
	for i := range d.choices {
		if ch := &d.choices[i]; ch.withheld && s.modelIs(isClaude) {
			ch.said.add(timeline.Reasoning, 0)
			s.sealed = true
		}
	}
}

// applyChoice records what a choice carried. A finish reason alone is recorded
// too, unless the chunk is an error; before it the empty content that came beside it,
// as vLLM sends a token without text. It returns whether an event was recorded.
func (d *openaiDecoder) applyChoice(s *Stream, ch *openaiChoice, failed bool) bool {
	kind := ch.said.kind()
	if ch.idsOnly {
		if s.form == whole || !ch.finish.Empty() {
			s.onlyIDs()
		}
		if s.bare.sure && !endsText(ch.finish, ch.ids) {
			kind = timeline.Text
		}
	}
	var output timeline.Opt[int64]
	if d.hasUsage && len(d.choices) == 1 && s.progress.only(ch.index) {
		output = d.usage.Output
	}
	var tokens timeline.Opt[int64]
	if ch.finish.Empty() {
		tokens = s.count.of(kind.Bears(), ch.ids, output)
	} else {
		tokens = s.count.last(kind.Bears(), ch.finish, ch.ids, output)
	}
	switch {
	case kind.Bears():
	case !ch.finish.Empty() && !failed:
		kind = timeline.Finish
		if ch.blank && !ch.roled {
			s.add(timeline.Empty, ch.index, 0, none)
		}
	case ch.idsOnly && !failed:
		s.addIDs(ch.index, ch.ids)
		return true
	default:
		return false
	}
	if ch.inDelta && ch.index >= 0 && ch.index < maxChoices {
		d.deltas |= 1 << ch.index
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
// its timings; it is known by them. That of others is of one choice where it counts
// fewer tokens than events have come, or fewer than a choice before had.
func (d *openaiDecoder) applyUsage(s *Stream) {
	final := true
	for i := range d.choices {
		final = final && !d.choices[i].finish.Empty()
	}
	if n, ok := d.usage.Output.Get(); final && (d.timed || ok && len(d.choices) == 1) {
		s.usage.sequence(d.usage, d.timed || n < s.tokens || n < s.usage.last.Output.Or(0))
	} else {
		s.usage.merge(d.usage)
	}
}

// failure is the words of the chunk's error.
func (d *openaiDecoder) failure() string {
	data := d.errors
	if data == nil && d.object.Is("error") {
		data = d.c.Whole()
	}
	return wordsOf(data)
}
