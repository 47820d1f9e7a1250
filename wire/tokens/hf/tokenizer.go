// Package hf reads the tokenizer.json of Hugging Face tokenizers and encodes as
// they do.
//
// A part of the file that it does not know is an error that names it: a count
// that may be wrong is worse than none. What has no say in how a text is cut is
// passed over: the post-processor (begin and end markers), truncation and
// padding. Text that is not UTF-8 has each wrong byte replaced by U+FFFD.
package hf

import (
	"strings"
	"sync"
	"unicode/utf8"

	"tokenmeter/wire/tokens/bpe"
	"tokenmeter/wire/tokens/pattern"
)

// Options change how a tokenizer reads a text.
type Options struct {
	// Specials makes the names of special tokens inside a text count as one
	// token each. Added tokens that are not special always do.
	Specials bool
}

// Tokenizer is what a tokenizer.json describes. It may be used from many
// goroutines.
type Tokenizer struct {
	raw       *added // added tokens that are looked for in the text as it is
	cooked    *added // those that are looked for in the normalised text
	normalize normalizer
	split     []preTokenizer
	model     model
	decode    decoder
	decodeErr error // why there is no decoder
	names     []string
	known     []bool
	scratches sync.Pool
}

// normalizer changes a text before it is cut. cut says that the first
// character of the text is gone.
type normalizer interface {
	normalize(s string, b *pattern.Budget) (out string, cut bool)
}

// preTokenizer cuts pieces into smaller ones.
type preTokenizer interface {
	split(pieces, into []piece, b *pattern.Budget) []piece
}

// model makes tokens of a piece.
type model interface {
	encode(s string, out *scratch)
	// tokens are the names of the tokens by id; gaps are empty.
	tokens() []string
	// find is the id of a token.
	find(token string) (uint32, bool)
}

// piece is a part of a text.
type piece struct {
	text string
	// first says that it starts where the text that was given starts.
	first bool
}

// scratch is the working space of one encoding.
type scratch struct {
	ids   []uint32
	count int
	// counting says that ids are not wanted.
	counting bool
	pieces   [2][]piece
	cache    *bpe.Cache
	word     bpe.Word
	best     []node // of a Unigram model
	budget   pattern.Budget
}

func (s *scratch) add(id uint32) {
	s.count++
	if !s.counting {
		s.ids = append(s.ids, id)
	}
}

// known adds a text that needs no merging: a token of its own in whole, which may be
// nil, or one that was counted before.
func (s *scratch) known(text string, whole *bpe.Vocab) bool {
	if whole != nil {
		if id := whole.Find(text); id != bpe.None {
			s.add(id)
			return true
		}
	}
	if !s.counting {
		return false
	}
	n, ok := s.cache.Find(text)
	s.count += n
	return ok
}

// merge adds what is left of the word in hand, a text's symbols, after all merges.
func (s *scratch) merge(text string, m *bpe.Merges) {
	m.Merge(&s.word)
	s.addAll(s.word.IDs)
	if s.counting {
		s.cache.Store(text, len(s.word.IDs))
	}
}

func (s *scratch) addAll(ids []uint32) {
	s.count += len(ids)
	if !s.counting {
		s.ids = append(s.ids, ids...)
	}
}

// Size is one more than the highest id.
func (t *Tokenizer) Size() int { return len(t.names) }

// Count is the number of tokens of a text. The only errors are a pattern or
// tokens of the file that take too many steps on it, a *pattern.ExhaustedError, and replacements
// that make too much of it, a *pattern.GrownError.
func (t *Tokenizer) Count(text string) (int, error) {
	s := t.scratch()
	defer t.scratches.Put(s)
	s.counting, s.count = true, 0
	if err := t.encode(text, s); err != nil {
		return 0, err
	}
	return s.count, nil
}

// Append appends the ids of a text. After an error, which is one of Count's,
// there are none of them.
func (t *Tokenizer) Append(ids []uint32, text string) ([]uint32, error) {
	s := t.scratch()
	defer t.scratches.Put(s)
	s.counting, s.count, s.ids = false, 0, ids
	err := t.encode(text, s)
	if err == nil {
		ids = s.ids
	}
	s.ids = nil
	return ids, err
}

func (t *Tokenizer) scratch() *scratch {
	if s, ok := t.scratches.Get().(*scratch); ok {
		return s
	}
	return &scratch{cache: new(bpe.Cache)}
}

func (t *Tokenizer) encode(text string, s *scratch) error {
	s.budget.Reset(len(text))
	if !utf8.ValidString(text) {
		text = valid(text)
	}
	t.raw.each(text, &s.budget, s.add, func(part string, start int) {
		cut := false
		if t.normalize != nil {
			part, cut = t.normalize.normalize(part, &s.budget)
		}
		t.cooked.each(part, &s.budget, s.add, func(part string, at int) {
			t.pieces(piece{part, start == 0 && at == 0 && !cut}, s)
		})
	})
	return s.budget.Err()
}

// fewSteps are too few to make much more of a text than it is: each at most doubles it.
const fewSteps = 3

func size(pieces []piece) (bytes int) {
	for _, p := range pieces {
		bytes += len(p.text)
	}
	return bytes
}

// pieces cuts a part of the text and gives each piece to the model.
func (t *Tokenizer) pieces(p piece, s *scratch) {
	if len(t.split) == 0 {
		t.model.encode(p.text, s)
		return
	}
	now, next := append(s.pieces[0][:0], p), s.pieces[1][:0]
	for i, step := range t.split {
		next = step.split(now, next[:0], &s.budget)
		now, next = next, now
		if i >= fewSteps && !s.budget.Holds(size(now)) {
			now = now[:0]
			break
		}
	}
	for _, p := range now {
		t.model.encode(p.text, s)
	}
	s.pieces[0], s.pieces[1] = now, next
}

// valid replaces each byte that is not UTF-8.
func valid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
