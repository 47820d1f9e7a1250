package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

// Tokenizer counts and writes tokens; an encoder of package tokens is one. It
// may be used from many goroutines.
type Tokenizer interface {
	Name() string
	Count(text string) (int, error)
	// Size is one more than the highest id.
	Size() int
	AppendText(text []byte, ids []uint32) ([]byte, error)
}

// CountAnswer is how many tokens a tokenizer sees in an answer: in what was
// thought, said and called.
func CountAnswer(by Tokenizer, tl *timeline.Timeline) (n int64, err error) {
	for _, text := range []string{tl.Thought, tl.Text, tl.Calls} {
		counted, err := by.Count(text)
		if err != nil {
			return 0, err
		}
		n += int64(counted)
	}
	return n, nil
}

// maker makes texts of a length from one corpus. Lengths are in units: tokens
// of the tokenizer, or without one words and their like, which a calibration
// turns into the server's tokens. Safe for concurrent use.
type maker struct {
	corpus    string
	grammar   *grammar // nil: words or ids
	tokenizer Tokenizer
	plain     bool     // every word of the list is one unit
	fillers   []string // with a space in front, one unit each
	ids       []string // the pieces of the corpus ids, one token each
	additive  bool     // pieces count together what they count alone
	calibrated

	mu   sync.RWMutex
	cost map[string]int // of pieces, as far as they were met
}

// calibrated is how the server counts units.
type calibrated struct{ now atomic.Pointer[Calibration] }

func (c *calibrated) get() Calibration {
	if p := c.now.Load(); p != nil {
		return *p
	}
	return Calibration{}
}

// newMaker returns a maker. Without a tokenizer, lengths are estimated.
func newMaker(corpus string, tokenizer Tokenizer) (*maker, error) {
	corpus = cmp.Or(corpus, Words)
	m := &maker{corpus: corpus, tokenizer: tokenizer, cost: map[string]int{}}
	switch corpus {
	case Words:
	case IDs:
		if tokenizer == nil {
			return nil, errors.New("random token ids need to know the tokenizer: name it with tokenizer or --tokenizer")
		}
		if m.ids = safeIDs(tokenizer); len(m.ids) < 1000 {
			return nil, fmt.Errorf("the tokenizer %s has only %d tokens that stay one token when they are written out; use another corpus", tokenizer.Name(), len(m.ids))
		}
	default:
		g, err := grammarOf(corpus)
		if err != nil {
			return nil, err
		}
		m.grammar = g
	}
	m.plain = true
	if tokenizer == nil && corpus == Words {
		m.additive = true
		return m, nil // a word is a unit
	}
	for _, w := range words {
		switch {
		case m.count(" "+w) != 1:
			m.plain = false
		default:
			m.fillers = append(m.fillers, " "+w)
		}
		if m.count(w) != 1 || m.count(strings.ToUpper(w[:1])+w[1:]) != 1 {
			m.plain = false
		}
	}
	if len(m.fillers) == 0 {
		return nil, fmt.Errorf("the tokenizer %s has no common word that is one token; texts of a given length can't be made with it", tokenizer.Name())
	}
	m.additive = true
	for i := range int64(8) {
		if tokenizer == nil {
			break
		}
		n := 64 << i
		got, err := tokenizer.Count(m.make(0x7465737473616c74, i, n))
		if err != nil {
			return nil, err // also of counts before, for a pattern that is slow on words is on texts
		}
		if got != n {
			m.additive, m.plain = false, false
		}
	}
	return m, nil
}

// safeIDs are the tokens that can stand in a row and still be the same tokens
// when the text is read again: a space and letters.
func safeIDs(t Tokenizer) (pieces []string) {
	var alone, twice []byte
	for id := range uint32(t.Size()) {
		var err error
		if alone, err = t.AppendText(alone[:0], []uint32{id}); err != nil || len(alone) == 0 {
			continue
		}
		// Some leave the space out with which a text begins: a token's own text is what it adds.
		if twice, err = t.AppendText(twice[:0], []uint32{id, id}); err != nil || len(twice) < len(alone)+2 {
			continue
		}
		buf := twice[len(alone):]
		if buf[0] != ' ' || !utf8.Valid(buf) {
			continue
		}
		s := string(buf)
		if strings.IndexFunc(s[1:], func(r rune) bool { return !unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }) >= 0 {
			continue
		}
		if n, err := countAfter(t, s); err == nil && n == 1 {
			pieces = append(pieces, s)
		}
	}
	return pieces
}

// countAfter is how many tokens a piece adds to a text: of one that begins with a space,
// behind a letter, as some tokenizers put a mark of their own in front of a text.
func countAfter(t Tokenizer, piece string) (int, error) {
	const before = "a"
	n, err := t.Count(piece)
	if err != nil || n <= 1 || !strings.HasPrefix(piece, " ") {
		return n, err
	}
	without, err := t.Count(before)
	if err != nil {
		return n, nil
	}
	if with, err := t.Count(before + piece); err == nil && with > without {
		n = min(n, with-without)
	}
	return n, nil
}

var errNoTokenizer = errors.New("no tokenizer")

// count is how many units a piece has; where the tokenizer gives up on it, about
// how many.
func (m *maker) count(piece string) int {
	m.mu.RLock()
	n, known := m.cost[piece]
	m.mu.RUnlock()
	if known {
		return n
	}
	err := errNoTokenizer
	if m.tokenizer != nil {
		n, err = countAfter(m.tokenizer, piece)
	}
	if err != nil {
		n = guess(piece)
	}
	m.mu.Lock()
	if len(m.cost) < 1<<16 {
		m.cost[strings.Clone(piece)] = n
	}
	m.mu.Unlock()
	return n
}

// guess is about how many tokens a piece has in the usual vocabularies.
func guess(piece string) (n int) {
	letters, wide := 0, 0
	flush := func() {
		n += (letters+11)/12 + (wide+2)/3
		letters, wide = 0, 0
	}
	for _, r := range piece {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			letters++
		case unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
			flush()
			n++
		case unicode.IsLetter(r) || unicode.IsMark(r):
			wide++
		case r == ' ':
			flush()
		default:
			flush()
			n++
		}
	}
	flush()
	return max(n, 1)
}

// units is how many units make n tokens at the server: at least one.
func (m *maker) units(n int64) int { return m.unitsAt(n, nearest) }

// unitsAt is units with a fraction of one rounded up in so many cases that the
// mean is right, where u is drawn between 0 and 1. Of texts that are a few words
// of several tokens each, the nearest number would miss by the same each time.
func (m *maker) unitsAt(n int64, u float64) int {
	c := m.get()
	return c.words(n, u)
}

// nearest rounds a half up.
const nearest = 0.5

// span is units for a stretch within a prompt, which has no part in what a chat
// template adds to the whole.
func (m *maker) span(n int64) int {
	c := m.get()
	c.Overhead = 0
	return c.words(n, nearest)
}

// make returns text i under a salt: n units, different from the first word on
// from the 1023 texts around it, and different from any other.
func (m *maker) make(salt uint64, i int64, n int) string {
	if m.corpus == Words && m.plain {
		return text(salt, i, n)
	}
	want := n
	for range 8 {
		s := m.write(salt, i, want)
		if m.additive || m.tokenizer == nil {
			return s
		}
		counted, err := m.tokenizer.Count(s)
		off := counted - n
		if err != nil || off == 0 || want-off < 1 {
			return s
		}
		want -= off
	}
	return m.write(salt, i, want)
}

// nonceWords is how many words at most tell texts apart: 37 bits of them.
const nonceWords = 4

// write puts a nonce, sentences and a filler together, as if pieces counted the
// same alone and in a row.
func (m *maker) write(salt uint64, i int64, n int) string {
	var b strings.Builder
	b.Grow(5 * n)
	left := n
	nonce := text(salt, i, min(n, nonceWords))
	lines := m.grammar != nil && m.grammar.lines
	if lines && n >= 2*nonceWords {
		nonce = "// " + nonce + "\n"
		left -= m.count(nonce)
	} else {
		for k, word := range strings.Fields(nonce) {
			if k > 0 {
				word = " " + word
			}
			if k > 0 && m.count(word) > left {
				break
			}
			left -= m.count(word)
			b.WriteString(word)
		}
		nonce = ""
	}
	b.WriteString(nonce)
	src := random.New(salt, textKey, uint64(i))
	switch {
	case m.ids != nil:
		for ; left > 0; left-- {
			b.WriteString(m.ids[src.Between(0, int64(len(m.ids)-1))])
		}
	case m.grammar != nil:
		left = m.sentences(&b, &src, left)
	}
	for ; left > 0; left-- {
		b.WriteString(m.fillers[src.Between(0, int64(len(m.fillers)-1))])
	}
	return b.String()
}

// sentences writes sentences until the next piece does not fit.
func (m *maker) sentences(b *strings.Builder, src *random.Source, left int) int {
	if b.Len() > 0 && !m.grammar.lines && !m.grammar.tight && left > 0 {
		if n := m.count("."); n <= left {
			b.WriteByte('.')
			left -= n
		}
	}
	for fits := true; fits && left > 0; {
		m.grammar.pieces(m.grammar.sentence(src), func(piece string) bool {
			n := m.count(piece)
			if fits = n <= left; fits {
				b.WriteString(piece)
				left -= n
			}
			return fits
		})
	}
	return left
}

// words returns how many units make a prompt of n tokens, rounded up from the
// fraction 1 − u on: at least one.
func (c *Calibration) words(n int64, u float64) int {
	per := c.PerWord
	if !(per > 0) {
		per = 1
	}
	return max(int(math.Floor((float64(n)-c.Overhead)/per+u)), 1)
}
