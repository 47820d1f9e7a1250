package workload

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/wire/tokens"
)

func tokenizer(t testing.TB, name string) Tokenizer {
	t.Helper()
	e, err := tokens.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// B75: a text of n tokens has n tokens when it is read again, whatever it is
// made of.
func TestB75TextsHaveTheirLength(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		tok := tokenizer(t, name)
		for _, corpus := range CorpusNames() {
			m, err := newMaker(corpus, tok)
			if err != nil {
				t.Fatal(err)
			}
			if !m.additive {
				t.Errorf("%s, %s: texts have to be counted as a whole", name, corpus)
			}
			for n := 1; n < 80; n++ {
				if got, _ := tok.Count(m.make(7, int64(n), n)); got != n {
					t.Errorf("%s, %s: %d tokens, want %d: %q", name, corpus, got, n, m.make(7, int64(n), n))
				}
			}
			for _, n := range []int{128, 1000, 4096, 20_000} {
				if got, _ := tok.Count(m.make(7, int64(n), n)); got != n {
					t.Errorf("%s, %s: %d tokens, want %d", name, corpus, got, n)
				}
			}
		}
	}
}

func TestB75AnyTextOfAnyLength(t *testing.T) {
	makers := map[string]*maker{}
	tok := tokenizer(t, "o200k_base")
	rapid.Check(t, func(t *rapid.T) {
		corpus := rapid.SampledFrom(CorpusNames()).Draw(t, "corpus")
		m := makers[corpus]
		if m == nil {
			var err error
			if m, err = newMaker(corpus, tok); err != nil {
				t.Fatal(err)
			}
			makers[corpus] = m
		}
		n := rapid.IntRange(1, 600).Draw(t, "n")
		salt, i := rapid.Uint64().Draw(t, "salt"), rapid.Int64().Draw(t, "i")
		text := m.make(salt, i, n)
		if got, _ := tok.Count(text); got != n {
			t.Fatalf("%s: %d tokens, want %d: %q", corpus, got, n, text)
		}
		if other := m.make(salt, i+1, n); n > 3 && other == text {
			t.Fatalf("%s: two texts are the same: %q", corpus, text)
		}
	})
}

// With a tokenizer whose counts do not add up, texts are counted as a whole.
func TestTextsOfATokenizerThatDoesNotAddUp(t *testing.T) {
	for _, corpus := range []string{"prose", "words"} {
		m, err := newMaker(corpus, oneToken{})
		if err != nil {
			t.Fatal(err)
		}
		if m.additive {
			t.Error("taken for one that adds up")
		}
		off := 0
		for n := 20; n < 200; n++ {
			got, _ := (oneToken{}).Count(m.make(1, int64(n), n))
			if d := got - n; d < -1 || d > 1 {
				off++
			}
		}
		if off > 0 {
			t.Errorf("%s: %d of 180 texts are off by more than one", corpus, off)
		}
	}
}

// oneToken counts a word as a token, and one more for every eight.
type oneToken struct{}

func (oneToken) Name() string { return "one" }
func (oneToken) Size() int    { return 0 }
func (oneToken) AppendText(b []byte, _ []uint32) ([]byte, error) {
	return b, fmt.Errorf("none")
}
func (oneToken) Count(text string) (int, error) {
	n := len(strings.Fields(text))
	return n + n/8, nil
}

// Prompts of a corpus differ from their first words on.
func TestCorpusTextsDifferFromTheStart(t *testing.T) {
	for _, corpus := range CorpusNames() {
		m, err := newMaker(corpus, tokenizer(t, "o200k_base"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int64{}
		for i := range int64(1024) {
			head := m.make(3, i, 200)[:24]
			if before, twice := seen[head]; twice {
				t.Errorf("%s: texts %d and %d begin with %q", corpus, before, i, head)
			}
			seen[head] = i
		}
	}
}

func TestGuessIsNearTheTruth(t *testing.T) {
	tok := tokenizer(t, "o200k_base")
	for _, corpus := range CorpusNames() {
		if corpus == IDs {
			continue
		}
		m, err := newMaker(corpus, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := tok.Count(m.make(1, 1, 2000))
		if n < 1000 || n > 4000 {
			t.Errorf("%s: 2000 tokens were guessed, o200k_base counts %d", corpus, n)
		}
	}
}

func BenchmarkProse(b *testing.B) {
	m, err := newMaker("prose", tokenizer(b, "o200k_base"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range int64(b.N) {
		m.make(1, i, 4096)
	}
}
