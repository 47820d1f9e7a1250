package api

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// inlineThought follows reasoning that a server without a parser for it leaves in the
// text of a choice, between marks at its very head. The text may come in pieces of any
// size. Where the prompt ends in the opening mark, the closing one comes alone.
type inlineThought struct {
	state inlineState
	close string  // the mark that ends it
	held  []byte  // the head of the text, or its last bytes
	past  [4]byte // of the text, before those held; 0: none
}

type inlineState uint8

const (
	atHead    inlineState = iota // nothing but white space, or a part of a mark
	inThought                    // behind the opening mark
	unmarked                     // there was none; a closing one may come
	inAnswer                     // behind the closing one
)

// thoughtMarks open reasoning and close it.
// Sources: the chat templates of DeepSeek-R1, Qwen3 and MiniMax-M2; of Magistral; of
// Seed-OSS; of MiniMax-M3; of gpt-oss, and what Amazon Bedrock makes of its (Reka's own
// too); of Gemma 4, EXAONE Deep, Kimi-VL, Command A Reasoning and LongCat; llama.cpp's
// --reasoning-format none leaves them.
var thoughtMarks = [...][2]string{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"<seed:think>", "</seed:think>"},
	{"<mm:think>", "</mm:think>"}, {"<|channel|>analysis", harmonyFinal}, {"<|channel>thought", "<channel|>"},
	{"<reasoning>", "</reasoning>"}, {"<thought>", "</thought>"}, {"◁think▷", "◁/think▷"},
	{"<|START_THINKING|>", "<|END_THINKING|>"}, {"<longcat_think>", "</longcat_think>"}}

// harmonyFinal begins the mark behind gpt-oss's thoughts, which ends in harmonyText. Between
// them there may be what form the answer has: "<|channel|>final <|constrain|>json<|message|>".
// Source: https://developers.openai.com/cookbook/articles/openai-harmony
const harmonyFinal, harmonyText = "<|channel|>final", "<|message|>"

// mostHeld bounds the white space before a mark.
const mostHeld = 64

// plain reports whether a text begins with a letter that opens no mark, which nearly every
// answer does; it is not decoded then.
func (t *inlineThought) plain(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " ")
	return len(t.held) == 0 && len(raw) > 0 && raw[0] != '<' && raw[0] != '[' && raw[0] != '\\' && raw[0] != "◁"[0]
}

// markless reports whether nothing in a piece is of a mark that may come alone, and is done
// with it then.
func (t *inlineThought) markless(raw []byte) bool {
	if len(t.held) > 0 || bytes.IndexByte(raw, '<') >= 0 || bytes.IndexByte(raw, '\\') >= 0 {
		return false
	}
	t.pass(raw)
	return true
}

// pass remembers the last bytes of a text that is not held.
func (t *inlineThought) pass(text []byte) {
	for _, c := range text[max(len(text)-len(t.past), 0):] {
		t.past = [4]byte{t.past[1], t.past[2], t.past[3], c}
	}
}

// take reads a piece of the text. began says that what came before was thought, too;
// thought that nothing in the piece is of the answer.
func (t *inlineThought) take(text jsonscan.Text) (began, thought bool) {
	if t.state == atHead && (t.plain(text.Raw) || len(t.held) > mostHeld) {
		t.state, t.held = unmarked, t.held[:0]
	}
	if t.state == inAnswer || t.state == unmarked && t.markless(text.Raw) {
		return false, false
	}
	t.held = text.Append(t.held)
	if t.state == atHead {
		began = t.opened()
	}
	switch t.state {
	case inThought:
		return began, t.closed(t.close)
	case unmarked:
		return t.alone()
	}
	return false, false
}

// closed looks for the mark that ends a thought; it reports whether nothing stands behind it.
func (t *inlineThought) closed(mark string) bool {
	if i := bytes.Index(t.held, []byte(mark)); i >= 0 {
		behind := t.held[i+len(mark):]
		if mark == harmonyFinal {
			t.close = harmonyText
			t.held = append(t.held[:0], behind...)
			return t.closed(harmonyText)
		}
		t.state = inAnswer
		return len(behind) == 0
	}
	if over := len(t.held) - len(mark); over > 0 {
		t.held = append(t.held[:0], t.held[over:]...)
	}
	return true
}

// alone looks for a closing mark that no opening one came before: the templates of
// DeepSeek-R1, DeepSeek-V3.1 and Qwen3's thinking models open the thought. A text with both,
// or with one in quotes, speaks of marks.
// Source: https://github.com/ggml-org/llama.cpp/issues/11861; vLLM's parser deepseek_r1
// takes all that stands before it for reasoning.
func (t *inlineThought) alone() (began, thought bool) {
	open, mark := []byte(thoughtMarks[0][0]), thoughtMarks[0][1]
	from, end := bytes.Index(t.held, open), bytes.Index(t.held, []byte(mark))
	switch {
	case from >= 0 && (end < 0 || from < end):
		t.state = inAnswer
		return false, false
	case end >= 0:
		if t.pass(t.held[:end]); quotes(t.past) {
			t.state = inAnswer
			return false, false
		}
		return true, t.closed(mark)
	}
	last := bytes.LastIndexByte(t.held, '<')
	if last < 0 || len(t.held)-last >= len(mark) {
		last = len(t.held)
	}
	t.pass(t.held[:last])
	t.held = append(t.held[:0], t.held[last:]...)
	return false, false
}

// quotes reports whether a quotation begins behind these bytes: with a mark that opens one,
// or with one that may, and ends no word.
func quotes(past [4]byte) bool {
	last, n := utf8.DecodeLastRune(past[:])
	return strings.ContainsRune("„‚「『", last) ||
		strings.ContainsRune("`\"'“‘«‹", last) && strings.IndexByte(" \t\r\n([{\x00", past[len(past)-1-n]) >= 0
}

// opened looks for a mark at the head.
func (t *inlineThought) opened() bool {
	head := bytes.TrimLeft(t.held, " \t\r\n")
	t.state = unmarked
	for i := range thoughtMarks {
		mark := thoughtMarks[i][0]
		n := min(len(head), len(mark))
		if string(head[:n]) != mark[:n] {
			continue
		}
		if n < len(mark) {
			t.state = atHead
			continue
		}
		t.state, t.close = inThought, thoughtMarks[i][1]
		t.held = append(t.held[:0], head[n:]...)
		return true
	}
	return false
}

// inlineOf is what is known of a choice's text.
func (d *openaiDecoder) inlineOf(choice int) *inlineThought {
	if choice < 0 || choice >= maxChoices {
		return &inlineThought{state: inAnswer}
	}
	for len(d.inline) <= choice {
		d.inline = append(d.inline, inlineThought{})
	}
	return &d.inline[choice]
}

// inlined takes what a chunk of a stream said in the texts of its choices.
func (d *openaiDecoder) inlined(s *Stream) {
	for i := range d.choices {
		ch := &d.choices[i]
		if ch.texts == 0 {
			continue
		}
		t := d.inlineOf(ch.index)
		apart := s.reasoned > 0 && !s.tl.Flags.Has(timeline.InlineReasoning) // the server knows thoughts
		if ch.texts > 1 || s.form == whole || ch.said.inThought || t.state == unmarked && apart {
			t.state = inAnswer
			continue
		}
		began, thought := t.take(ch.text)
		if began {
			s.tl.Flags |= timeline.InlineReasoning
			s.tl.Events.Amend(func(e *timeline.Event) bool {
				if e.Kind == timeline.Text && e.Choice == ch.index {
					e.Kind = timeline.Reasoning
				}
				return true
			})
		}
		if thought {
			ch.said.kinds = ch.said.kinds&^(1<<timeline.Text) | 1<<timeline.Reasoning
		}
	}
}
