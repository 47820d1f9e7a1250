package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// This file is of answers in token ids without text, as servers without a tokenizer give
// them: SGLang's --skip-tokenizer-init, vLLM's /inference/v1/generate, and completions of
// TensorRT-LLM with detokenize=false, whose text is empty. The ids bear the tokens.
//
// An event with ids and an empty text may also be the first part of a letter, in an answer
// with text. Such events wait for a few more.

// idsOnly is what is known of whether an answer has no text.
type idsOnly struct {
	sure    bool
	waiting int // events with ids and no text, before any text
}

const mostWaiting = 8

// addIDs records an event that has ids and no text.
func (s *Stream) addIDs(choice int, ids int64) {
	if s.tokens > 0 {
		s.add(timeline.Empty, choice, 0, none)
		return
	}
	s.add(timeline.Empty, choice, 0, timeline.Some(ids))
	s.lastToken = s.at
	if s.bare.waiting++; s.bare.waiting == mostWaiting {
		s.onlyIDs()
	}
}

// onlyIDs takes what waits for generation events, unless text came.
func (s *Stream) onlyIDs() {
	if s.tokens == 0 && !s.bare.sure {
		s.bare.sure, s.count.pending = true, 0
		s.settleIDs(timeline.Text)
	}
}

// settleIDs makes generation events of what waits, or empty ones: their tokens are then
// those of the text that came.
func (s *Stream) settleIDs(kind timeline.Kind) {
	left := s.bare.waiting
	if s.bare.waiting = 0; left == 0 {
		return
	}
	s.tl.Events.Amend(func(e *timeline.Event) bool {
		if e.Kind != timeline.Empty || !e.Tokens.OK() {
			return true
		}
		if e.Kind = kind; kind == timeline.Empty {
			e.Tokens = none
		} else {
			s.came(e.Choice)
		}
		left--
		return left > 0
	})
}

// endsText reports whether the only id of an event with this finish reason is the token
// that ended the answer: it is no part of it.
func endsText(why jsonscan.Text, ids int64) bool {
	return ids == 1 && !why.Empty() && !why.Is("length")
}
