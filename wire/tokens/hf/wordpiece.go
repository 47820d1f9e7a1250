package hf

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"tokenmeter/wire/tokens/bpe"
)

// wordPiece takes the longest token that a word starts with, again and again.
type wordPiece struct {
	*vocab             // tokens as they are
	follows *bpe.Vocab // those that continue a word, without their prefix
	unk     uint32
	most    int // characters of a word
}

func parseWordPiece(raw modelJSON) (model, error) {
	v, err := read[struct {
		typed
		UnkToken string `json:"unk_token"`
		Prefix   string `json:"continuing_subword_prefix"`
		Most     int    `json:"max_input_chars_per_word"`
	}]("model", raw.settings)
	if err != nil {
		return nil, err
	}
	known, unk, err := wordsOf(raw.vocab, v.UnkToken)
	if err != nil {
		return nil, err
	}
	m := &wordPiece{vocab: known, unk: unk, most: v.Most}
	rest := make([]string, len(known.names))
	for id, name := range known.names {
		if len(name) > len(v.Prefix) && name[:len(v.Prefix)] == v.Prefix {
			rest[id] = name[len(v.Prefix):]
		}
	}
	m.follows = bpe.NewVocab(rest)
	return m, nil
}

func (m *wordPiece) encode(s string, out *scratch) {
	w := &out.word
	w.Reset()
	if utf8.RuneCountInString(s) > m.most {
		out.add(m.unk)
		return
	}
	for start, vocab := 0, m.Vocab; start < len(s); vocab = m.follows {
		end := min(len(s), start+vocab.Longest())
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end--
		}
		id := bpe.None
		for end > start {
			if !out.budget.Look(end - start) {
				return
			}
			if id = vocab.Find(s[start:end]); id != bpe.None {
				break
			}
			_, n := utf8.DecodeLastRuneInString(s[start:end])
			end -= n
		}
		if id == bpe.None {
			out.add(m.unk)
			return
		}
		w.IDs = append(w.IDs, id)
		start = end
	}
	out.addAll(w.IDs)
}

// wordLevel knows whole words only.
type wordLevel struct {
	*vocab
	unk uint32
}

func parseWordLevel(raw modelJSON) (model, error) {
	v, err := read[struct {
		typed
		UnkToken string `json:"unk_token"`
	}]("model", raw.settings)
	if err != nil {
		return nil, err
	}
	known, unk, err := wordsOf(raw.vocab, v.UnkToken)
	return &wordLevel{known, unk}, err
}

// wordsOf reads a vocabulary that has a token for unknown words.
func wordsOf(raw json.RawMessage, unknown string) (known *vocab, unk uint32, err error) {
	if known, err = readVocab(raw); err != nil {
		return nil, 0, err
	}
	unk, ok := known.find(unknown)
	if !ok {
		return nil, 0, fmt.Errorf("the vocabulary lacks the token for unknown words, %q", unknown)
	}
	return known, unk, nil
}

func (m *wordLevel) encode(s string, out *scratch) {
	if id := m.vocab.Find(s); id != bpe.None {
		out.add(id)
		return
	}
	out.add(m.unk)
}
