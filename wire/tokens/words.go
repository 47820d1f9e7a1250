package tokens

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Words are words that are one token each for an encoder, whatever stands
// before and after them. Joined by spaces they make texts of a known length,
// which a server that uses the same tokenizer counts the same: ids drawn at
// random do not, for what they decode to encodes to other ids.
type Words struct {
	enc   Encoder
	words []string
}

// mostWords bounds a list of words; the commonest come first.
const mostWords = 4096

// NewWords finds the words of an encoder. A tokenizer that has none (one of
// bytes or characters only) is an error.
func NewWords(enc Encoder) (*Words, error) {
	w := &Words{enc: enc}
	for word := range candidates() {
		if w.fits(word) {
			if w.words = append(w.words, word); len(w.words) == mostWords {
				break
			}
		}
	}
	if len(w.words) < leastWords {
		return nil, fmt.Errorf("tokenizer %s has %d English words that are one token, %d are needed to make texts", enc.Name(), len(w.words), leastWords)
	}
	return w, nil
}

// fits says whether a word is one token wherever it stands, and not one that
// means "unknown": its id must decode to the word.
func (w *Words) fits(word string) bool {
	enc := w.enc
	if enc.Count(word) != 1 || enc.Count(word+" "+word) != 2 || enc.Count("a "+word+" a "+word) != 2*enc.Count("a "+word) {
		return false
	}
	text, err := enc.AppendText(nil, enc.Append(nil, word))
	return err == nil && strings.TrimSpace(string(text)) == word
}

// leastWords is the smallest list that makes texts which differ.
const leastWords = 16

// candidates are the words of three letters or more that o200k_base has as one
// token after a space, the commonest first.
func candidates() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		r := builtins[Default].ranks()
		for id := range uint32(r.Len()) {
			word, ok := strings.CutPrefix(r.Token(id), " ")
			if ok && len(word) > 2 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" && !yield(word) {
				return
			}
		}
	}
}

// List is the words. It must not be changed.
func (w *Words) List() []string { return w.words }

// Text is a text of exactly n tokens, made of words that next draws: it gives
// random numbers, all 64 bits of them. The same numbers make the same text. No
// tokens are the empty text.
func (w *Words) Text(next func() uint64, n int) (string, error) {
	if n < 0 {
		return "", errors.New("a text has no fewer than 0 tokens")
	}
	var b strings.Builder
	b.Grow(7 * n)
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.draw(next))
	}
	text := b.String()
	// The words were tested in pairs; a merge of more is caught here.
	for tries := 0; ; tries++ {
		got := w.enc.Count(text)
		switch {
		case got == n:
			return text, nil
		case tries == mostTries:
			return "", fmt.Errorf("tokenizer %s: no text of %d tokens was found", w.enc.Name(), n)
		case got < n:
			for range n - got {
				text += " " + w.draw(next)
			}
		default:
			for range got - n {
				i := strings.LastIndexByte(text, ' ')
				text = text[:max(i, 0)]
			}
		}
	}
}

const mostTries = 20

func (w *Words) draw(next func() uint64) string {
	// The high bits, times the number of words: no word is likelier than another
	// by more than the size of a list over 2^32.
	return w.words[(next()>>32)*uint64(len(w.words))>>32]
}

// wordsOf remembers the words of encoders, which take some milliseconds to find.
var wordsOf sync.Map // Encoder → func() (*Words, error)

// Text is a text of exactly n tokens for an encoder, see Words.Text.
func Text(enc Encoder, next func() uint64, n int) (string, error) {
	found, ok := wordsOf.Load(enc)
	if !ok {
		found, _ = wordsOf.LoadOrStore(enc, sync.OnceValues(func() (*Words, error) { return NewWords(enc) }))
	}
	words, err := found.(func() (*Words, error))()
	if err != nil {
		return "", err
	}
	return words.Text(next, n)
}
