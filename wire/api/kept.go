package api

import (
	"bytes"

	"tokenmeter/record/timeline"
)

// keptText is the text of an answer by channel and choice, when it was asked to
// be kept.
type keptText struct {
	answer, thought, calls []byChoice
	bytes                  int // as received
}

type byChoice []byte

// maxKept bounds the text of a reply that does not end, in bytes as received.
const maxKept = 64 << 20

// keep adds a piece of generated text.
func (s *Stream) keep(kind timeline.Kind, choice int, t text) {
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
	(*channel)[choice] = t.append((*channel)[choice])
	s.kept.bytes += len(t.raw)
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
