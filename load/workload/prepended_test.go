package workload

import (
	"strings"
	"testing"
)

// prepended is a tokenizer of the Llama 2 family: a mark stands in front of each text and for
// each space, so that " the" alone is two tokens and within a text one; what it writes out
// begins without a space.
type prepended struct{ words []string }

func (p prepended) Name() string { return "prepended" }

func (p prepended) Size() int { return len(p.words) }

func (p prepended) Count(text string) (n int, err error) {
	for word := range strings.SplitSeq(text, " ") {
		if n++; len(word) > 3 && strings.ToLower(word) != word { // rarer ones are two
			n++
		}
	}
	if text == "" {
		return 0, nil
	}
	return n, nil
}

func (p prepended) AppendText(text []byte, ids []uint32) ([]byte, error) {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(p.words[id])
	}
	return append(text, strings.TrimPrefix(b.String(), " ")...), nil
}

func TestTextsOfPrependedTokens(t *testing.T) {
	p := prepended{words: []string{"<s>", "ing"}}
	for i := range 1500 {
		p.words = append(p.words, " "+strings.Repeat(string(rune('a'+i%26)), 1+i/26%3)+string(rune('a'+i/78%26)))
	}
	if n, _ := p.Count(" the"); n != 2 {
		t.Fatalf("%d tokens alone", n)
	}
	for _, corpus := range []string{Words, "prose", "code", "chinese", IDs} {
		m, err := newMaker(corpus, p)
		if err != nil {
			t.Errorf("%s: %v", corpus, err)
			continue
		}
		if corpus != Words && corpus != IDs {
			continue
		}
		for i, want := range []int{5, 30, 200} {
			text := m.make(7, int64(i), want)
			if got, _ := p.Count(text); got != want {
				t.Errorf("%s: %d tokens, want %d: %q", corpus, got, want, text)
			}
		}
	}
}
