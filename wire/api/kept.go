package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// keptText is the text of an answer by channel and choice, when it was asked to
// be kept.
type keptText struct {
	answer, thought, calls []byChoice
	pieced                 []pieced // of the answer, by choice
	bytes                  int      // as received
}

type byChoice []byte

// pieced is of how many pieces a text was made, and how long the last is.
type pieced struct{ n, last int }

// maxKept bounds the text of a reply that does not end, in bytes as received.
const maxKept = 64 << 20

// keep adds a piece of generated text.
func (s *Stream) keep(kind timeline.Kind, choice int, t jsonscan.Text) {
	if choice >= maxChoices && !s.scattered {
		choice = maxChoices - 1 // it may be the number of a chunk
	}
	if !s.opts.KeepText || choice < 0 || choice >= maxChoices || s.total > maxKept {
		return
	}
	channel := &s.kept.answer
	switch kind {
	case timeline.Reasoning:
		channel = &s.kept.thought
	case timeline.Tool:
		channel = &s.kept.calls
	}
	for len(*channel) <= choice {
		*channel = append(*channel, nil)
	}
	before := len((*channel)[choice])
	(*channel)[choice] = t.Append((*channel)[choice])
	if channel == &s.kept.answer {
		for len(s.kept.pieced) <= choice {
			s.kept.pieced = append(s.kept.pieced, pieced{})
		}
		p := &s.kept.pieced[choice]
		p.n, p.last = p.n+1, len((*channel)[choice])-before
	}
	s.kept.bytes += len(t.Raw)
}

// joined puts the choices one after another.
func joined(channel []byChoice, between string) string {
	var parts [][]byte
	for _, p := range channel {
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	return string(bytes.Join(parts, []byte(between)))
}

// leastRepeated is of how many pieces a text must be for one more, that says all of
// it again, to be a repetition: "ha" may follow "ha".
const leastRepeated = 3

// dropRepeated takes back the last piece of an answer that says all before it again:
// some servers close a stream of deltas with the whole text in one. It was no new
// token. Only texts that are kept can tell.
func (s *Stream) dropRepeated() {
	for choice, p := range s.kept.pieced {
		text := s.kept.answer[choice]
		first := len(text) - p.last
		if p.n <= leastRepeated || first != p.last || !bytes.Equal(text[:first], text[first:]) ||
			!s.tl.Events.TakeBack(choice, int64(p.last)) {
			continue
		}
		s.kept.answer[choice] = text[:first]
		s.tokens--
		s.tl.Flags |= timeline.RepeatedText
	}
}
