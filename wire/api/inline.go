package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// inlineThought follows reasoning that a server without a parser for it leaves in the
// text of the answer, between marks at its very head. The text may come in pieces of any
// size.
type inlineThought struct {
	state inlineState
	close []byte // the mark that ends it
	held  []byte // the head of the text, or the last bytes of the thought
}

type inlineState uint8

const (
	atHead    inlineState = iota // nothing but white space, or a part of a mark
	inThought                    // behind the opening mark
	inAnswer                     // there was none, or behind the closing one
)

// thoughtMarks open reasoning; what closes it has a slash behind the first letter.
// Sources: the chat templates of DeepSeek-R1, Qwen3 and MiniMax-M2; of Magistral; of
// Seed-OSS; of MiniMax-M3; llama.cpp's --reasoning-format none leaves them.
var thoughtMarks = []string{"<think>", "[THINK]", "<seed:think>", "<mm:think>"}

// mostHeld bounds the white space before a mark.
const mostHeld = 64

// plain reports whether a text begins with a letter that opens no mark, which nearly every
// answer does; it is not decoded then.
func (t *inlineThought) plain(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " ")
	return len(t.held) == 0 && len(raw) > 0 && raw[0] != '<' && raw[0] != '[' && raw[0] != '\\'
}

// take reads a piece of the text. began says that the mark is whole with it, so that what
// came before was thought, too; thought that nothing in it is of the answer.
func (t *inlineThought) take(text jsonscan.Text) (began, thought bool) {
	if t.state == inAnswer || t.state == atHead && (t.plain(text.Raw) || len(t.held) > mostHeld) {
		t.state = inAnswer
		return false, false
	}
	t.held = text.Append(t.held)
	if t.state == atHead {
		if began = t.opened(); !began {
			return false, false
		}
	}
	if i := bytes.Index(t.held, t.close); i >= 0 {
		t.state = inAnswer
		return began, i+len(t.close) == len(t.held)
	}
	if over := len(t.held) - len(t.close); over > 0 {
		t.held = append(t.held[:0], t.held[over:]...)
	}
	return began, true
}

// opened looks for a mark at the head.
func (t *inlineThought) opened() bool {
	head := bytes.TrimLeft(t.held, " \t\r\n")
	t.state = inAnswer
	for _, mark := range thoughtMarks {
		n := min(len(head), len(mark))
		if string(head[:n]) != mark[:n] {
			continue
		}
		if n < len(mark) {
			t.state = atHead
			continue
		}
		t.state, t.close = inThought, []byte(mark[:1]+"/"+mark[1:])
		t.held = append(t.held[:0], head[n:]...)
		return true
	}
	return false
}

// inlined takes what a chunk of a stream said in the text of the only choice.
func (d *openaiDecoder) inlined(s *Stream) {
	t := &d.inline
	for i := range d.choices {
		ch := &d.choices[i]
		switch {
		case ch.index != 0 || s.form == whole:
			t.state = inAnswer // of several choices it is not told
		case ch.texts == 1:
			began, thought := t.take(ch.text)
			if began {
				s.tl.Flags |= timeline.InlineReasoning
				s.tl.Events.Amend(func(e *timeline.Event) bool {
					if e.Kind == timeline.Text {
						e.Kind = timeline.Reasoning
					}
					return true
				})
			}
			if thought {
				ch.said.kinds = ch.said.kinds&^(1<<timeline.Text) | 1<<timeline.Reasoning
			}
		case ch.texts > 1:
			t.state = inAnswer
		}
	}
}
