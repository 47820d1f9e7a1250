package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tokenmeter/tokens/bpe"
)

type bpeJSON struct {
	typed
	Dropout      *float64
	UnkToken     *string `json:"unk_token"`
	Prefix       *string `json:"continuing_subword_prefix"`
	Suffix       *string `json:"end_of_word_suffix"`
	FuseUnk      bool    `json:"fuse_unk"`
	ByteFallback bool    `json:"byte_fallback"`
	IgnoreMerges bool    `json:"ignore_merges"`
	Vocab        map[string]uint32
	Merges       []mergeJSON
}

// mergeJSON is "a b" or ["a","b"].
type mergeJSON [2]string

func (m *mergeJSON) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		var pair []string
		if err := json.Unmarshal(raw, &pair); err != nil {
			return err
		}
		if len(pair) != 2 {
			return errors.New("a merge is no pair")
		}
		*m = mergeJSON(pair)
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	left, right, ok := strings.Cut(s, " ")
	if !ok || strings.Contains(right, " ") {
		return fmt.Errorf("the merge %q is no pair", s)
	}
	*m = mergeJSON{left, right}
	return nil
}

func parseBPE(raw json.RawMessage, steps []preTokenizer) (model, []preTokenizer, error) {
	v, err := read[bpeJSON]("model", raw)
	if err != nil {
		return nil, nil, err
	}
	if v.Dropout != nil && *v.Dropout != 0 {
		return nil, nil, &UnsupportedError{"model's dropout", fmt.Sprint(*v.Dropout)}
	}
	names, err := byID(v.Vocab)
	if err != nil {
		return nil, nil, err
	}
	merges, err := v.merges()
	if err != nil {
		return nil, nil, err
	}
	if n := len(steps); n > 0 && !v.affixed() {
		if _, ok := steps[n-1].(letters); ok {
			if m, ok := newByteBPE(names, merges, v.IgnoreMerges); ok {
				return m, steps[: n-1 : n-1], nil
			}
		}
	}
	m, err := v.charBPE(names, merges)
	return m, steps, err
}

func (v *bpeJSON) affixed() bool { return given(v.Prefix) || given(v.Suffix) }

func given(s *string) bool { return s != nil && *s != "" }

func (v *bpeJSON) merges() (*bpe.Merges, error) {
	cut := 0
	if v.Prefix != nil {
		cut = len(*v.Prefix)
	}
	merges := bpe.NewMerges(len(v.Merges))
	for rank, pair := range v.Merges {
		left, ok1 := v.Vocab[pair[0]]
		right, ok2 := v.Vocab[pair[1]]
		if !ok1 || !ok2 || len(pair[1]) < cut {
			return nil, fmt.Errorf("the merge of %q and %q is of tokens that the vocabulary lacks", pair[0], pair[1])
		}
		id, ok := v.Vocab[pair[0]+pair[1][cut:]]
		if !ok {
			return nil, fmt.Errorf("the merge of %q and %q makes no token", pair[0], pair[1])
		}
		merges.Add(left, right, uint32(rank), id)
	}
	return merges, nil
}

// byteBPE is a model whose symbols are the bytes of the text.
type byteBPE struct {
	names  []string // as in the file: letters
	bytes  [256]uint32
	merges *bpe.Merges
	whole  *bpe.Vocab // tokens that need no merges, or nil
}

// newByteBPE makes one, if every byte has its token.
func newByteBPE(names []string, merges *bpe.Merges, ignoreMerges bool) (*byteBPE, bool) {
	m := &byteBPE{names: names, merges: merges}
	for i := range m.bytes {
		m.bytes[i] = bpe.None
	}
	plain := make([]string, len(names))
	for id, name := range names {
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

func (m *byteBPE) tokens() []string { return m.names }

func (m *byteBPE) encode(s string, out *scratch) {
	if m.whole != nil {
		if id := m.whole.Find(s); id != bpe.None {
			out.add(id)
			return
		}
	}
	if out.counting {
		if n, ok := out.cache.Find(s); ok {
			out.count += n
			return
		}
	}
	w := &out.word
	w.Reset()
	for i := range len(s) {
		w.IDs = append(w.IDs, m.bytes[s[i]])
	}
	m.merges.Merge(w)
	out.addAll(w.IDs)
	if out.counting {
		out.cache.Store(s, len(w.IDs))
	}
}

// charBPE is a model whose symbols are the characters of the text.
type charBPE struct {
	names          []string
	vocab          *bpe.Vocab
	merges         *bpe.Merges
	prefix, suffix string
	unk            uint32 // or bpe.None: an unknown character is dropped
	fuseUnk        bool
	bytes          *[256]uint32 // what an unknown character falls back to, or nil
	ignoreMerges   bool
}

func (v *bpeJSON) charBPE(names []string, merges *bpe.Merges) (model, error) {
	m := &charBPE{names: names, vocab: bpe.NewVocab(names), merges: merges, unk: bpe.None, fuseUnk: v.FuseUnk, ignoreMerges: v.IgnoreMerges}
	if v.Prefix != nil {
		m.prefix = *v.Prefix
	}
	if v.Suffix != nil {
		m.suffix = *v.Suffix
	}
	if v.ByteFallback {
		ids, ok := byteTokens(func(s string) (uint32, bool) { id, ok := v.Vocab[s]; return id, ok })
		if !ok {
			return nil, errors.New("the model falls back to bytes, but the vocabulary lacks some of <0x00> to <0xFF>")
		}
		m.bytes = &ids
	}
	if v.UnkToken != nil {
		id, ok := v.Vocab[*v.UnkToken]
		if !ok && m.bytes == nil {
			return nil, fmt.Errorf("the vocabulary lacks the token for unknown characters, %q", *v.UnkToken)
		}
		if ok {
			m.unk = id
		}
	}
	return m, nil
}

func (m *charBPE) tokens() []string { return m.names }

func (m *charBPE) encode(s string, out *scratch) {
	if m.ignoreMerges {
		if id := m.vocab.Find(s); id != bpe.None {
			out.add(id)
			return
		}
	}
	if out.counting {
		if n, ok := out.cache.Find(s); ok {
			out.count += n
			return
		}
	}
	w := &out.word
	w.Reset()
	m.symbols(s, w)
	m.merges.Merge(w)
	out.addAll(w.IDs)
	if out.counting {
		out.cache.Store(s, len(w.IDs))
	}
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
		if m.bytes != nil {
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
