package hf

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"tokenmeter/wire/tokens/bpe"
)

type bpeJSON struct {
	typed
	Dropout      *float64
	UnkToken     *string `json:"unk_token"`
	Prefix       *string `json:"continuing_subword_prefix"`
	Suffix       *string `json:"end_of_word_suffix"`
	FuseUnk      *bool   `json:"fuse_unk"`
	ByteFallback *bool   `json:"byte_fallback"`
	IgnoreMerges *bool   `json:"ignore_merges"`
}

func parseBPE(raw modelJSON, steps []preTokenizer) (model, []preTokenizer, error) {
	v, err := read[bpeJSON]("model", raw.settings)
	if err != nil {
		return nil, nil, err
	}
	if v.Dropout != nil && *v.Dropout != 0 {
		return nil, nil, &UnsupportedError{"dropout of the model", fmt.Sprint(*v.Dropout)}
	}
	vocab, err := readVocab(raw.vocab)
	if err != nil {
		return nil, nil, err
	}
	if raw.merges == nil {
		return nil, nil, errors.New("the model has no merges")
	}
	merges, err := v.merges(raw, vocab)
	if err != nil {
		return nil, nil, err
	}
	if n := len(steps); n > 0 && text(v.Prefix) == "" && text(v.Suffix) == "" {
		if _, ok := steps[n-1].(letters); ok {
			if m, ok := newByteBPE(vocab, merges, is(v.IgnoreMerges)); ok {
				return m, steps[: n-1 : n-1], nil
			}
		}
	}
	m, err := v.charBPE(vocab, merges)
	return m, steps, err
}

// text and is read settings that may be missing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func is(b *bool) bool { return b != nil && *b }

func (v *bpeJSON) merges(raw modelJSON, vocab *vocab) (*bpe.Merges, error) {
	prefix, rank := text(v.Prefix), uint32(0)
	merges := bpe.NewMerges(len(vocab.names))
	err := readMerges(raw.merges, func(a, b string) error {
		left, ok1 := vocab.find(a)
		right, ok2 := vocab.find(b)
		if !ok1 || !ok2 || len(b) < len(prefix) {
			return fmt.Errorf("%q and %q are not both in the vocabulary", a, b)
		}
		id, ok := vocab.find(a + b[len(prefix):])
		if !ok {
			return fmt.Errorf("%q and %q make no token", a, b)
		}
		merges.Add(left, right, rank, id)
		rank++
		return nil
	})
	return merges, err
}

// byteBPE is a model whose symbols are the bytes of the text.
type byteBPE struct {
	*vocab // as in the file: letters
	bytes  [256]uint32
	merges *bpe.Merges
	whole  *bpe.Vocab // tokens that need no merges, or nil
}

// newByteBPE makes one, if every byte has its token.
func newByteBPE(vocab *vocab, merges *bpe.Merges, ignoreMerges bool) (*byteBPE, bool) {
	m := &byteBPE{vocab: vocab, merges: merges}
	for i := range m.bytes {
		m.bytes[i] = bpe.None
	}
	plain := make([]string, len(vocab.names))
	for id, name := range vocab.names {
		s, ok := fromLetters(name)
		if !ok {
			continue // no text makes it
		}
		plain[id] = s
		if len(s) == 1 {
			m.bytes[s[0]] = uint32(id)
		}
	}
	for _, id := range m.bytes {
		if id == bpe.None {
			return nil, false
		}
	}
	if ignoreMerges {
		m.whole = bpe.NewVocab(plain)
	}
	return m, true
}

func (m *byteBPE) encode(s string, out *scratch) {
	if out.known(s, m.whole) {
		return
	}
	w := &out.word
	w.Reset()
	for i := range len(s) {
		w.IDs = append(w.IDs, m.bytes[s[i]])
	}
	out.merge(s, m.merges)
}

// charBPE is a model whose symbols are the characters of the text.
type charBPE struct {
	*vocab
	merges         *bpe.Merges
	prefix, suffix string
	unk            uint32 // or bpe.None: an unknown character is dropped
	fuseUnk        bool
	bytes          *byteTokens // what an unknown character falls back to, or nil
	whole          *bpe.Vocab  // words that are tokens are not merged; nil: they are
}

func (v *bpeJSON) charBPE(vocab *vocab, merges *bpe.Merges) (model, error) {
	m := &charBPE{vocab: vocab, merges: merges, prefix: text(v.Prefix), suffix: text(v.Suffix), unk: bpe.None,
		fuseUnk: is(v.FuseUnk)}
	if is(v.IgnoreMerges) {
		m.whole = vocab.Vocab
	}
	if is(v.ByteFallback) {
		m.bytes = newByteTokens(vocab.find)
	}
	if v.UnkToken != nil {
		id, ok := vocab.find(*v.UnkToken)
		if !ok && (m.bytes == nil || slices.Contains(m.bytes[:], bpe.None)) {
			return nil, fmt.Errorf("the vocabulary lacks the token for unknown characters, %q", *v.UnkToken)
		}
		if ok {
			m.unk = id
		}
	}
	return m, nil
}

func (m *charBPE) encode(s string, out *scratch) {
	if out.known(s, m.whole) {
		return
	}
	w := &out.word
	w.Reset()
	m.symbols(s, w)
	out.merge(s, m.merges)
}

// symbols makes a symbol of every character. An unknown one waits for the next
// that is known: so those that follow it as bytes come first, as in the
// original.
func (m *charBPE) symbols(s string, w *bpe.Word) {
	waiting := false
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		symbol := s[i : i+n]
		if m.prefix != "" && i > 0 {
			symbol = m.prefix + symbol
		}
		if m.suffix != "" && i+n == len(s) {
			symbol += m.suffix
		}
		i += n
		if id := m.vocab.Find(symbol); id != bpe.None {
			if waiting {
				w.IDs = append(w.IDs, m.unk)
				waiting = false
			}
			w.IDs = append(w.IDs, id)
			continue
		}
		if m.bytes.spell(symbol) {
			for j := range len(symbol) {
				w.IDs = append(w.IDs, m.bytes[symbol[j]])
			}
			continue
		}
		if m.unk == bpe.None {
			continue
		}
		if waiting && !m.fuseUnk {
			w.IDs = append(w.IDs, m.unk)
		}
		waiting = true
	}
	if waiting {
		w.IDs = append(w.IDs, m.unk)
	}
}
