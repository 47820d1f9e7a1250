package hf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
	"tokenmeter/wire/tokens/pattern"
)

// alike are so many words that begin alike: "a…ab".
func alike(n int, word string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(word, strings.Repeat("a", i+1)+"b", i+1))
	}
	return strings.Join(all, ",")
}

// A file whose tokens are long and much alike, so that each place of a text is held against
// all of them, is an error and takes no minutes.
func TestSearchEnds(t *testing.T) {
	for name, file := range map[string]string{
		"unigram":   `"model":{"type":"Unigram","unk_id":0,"vocab":[["u",0],` + alike(3000, `["%s",-%d]`) + `]}`,
		"wordpiece": `"model":{"type":"WordPiece","unk_token":"u","continuing_subword_prefix":"","max_input_chars_per_word":1000000,"vocab":{"u":0,"a":5000,` + alike(3000, `"%s":%d`) + `}}`,
		"added":     `"added_tokens":[` + alike(3000, `{"content":"%s","id":%d}`) + `],` + tiny,
	} {
		tok, err := Parse([]byte("{"+file+"}"), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, n := range []int{20_000, 100_000} {
			_, err := tok.Count(strings.Repeat("a", n))
			if exhausted := (*pattern.ExhaustedError)(nil); !errors.As(err, &exhausted) || !strings.Contains(err.Error(), "too much alike") {
				t.Errorf("%s on %d bytes: error %v", name, n, err)
			}
		}
	}
}

// The files that the oracle read need less than a tenth of what a byte is allowed.
func TestSearchIsWide(t *testing.T) {
	text := strings.Join(corpustest.Texts(t, "../testdata/corpus.zst"), "\n")
	text = strings.Repeat(text, 1+1_000_000/len(text))
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if base := filepath.Base(file); !strings.HasPrefix(base, "unigram") && !strings.HasPrefix(base, "bert") {
			continue
		}
		tok := parsed(t, readFile(t, file), Options{})
		s := tok.scratch()
		s.counting = true
		s.budget.Reset(len(text) / 10)
		tok.pieces(piece{text, true}, s)
		if err := s.budget.Err(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
