package tokens

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func words(t testing.TB, name string) *Words {
	t.Helper()
	w, err := NewWords(open(t, name, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// B75: a text that was made for a length still has it when it is encoded anew,
// and once more when its ids are decoded.
func TestB75TextsKeepTheirLength(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		enc := open(t, name, Options{})
		for _, n := range []int{0, 1, 2, 3, 10, 128, 1000, 4096} {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			text, err := Text(enc, rng.Uint64, n)
			if err != nil {
				t.Fatal(err)
			}
			ids := enc.Append(nil, text)
			if len(ids) != n || enc.Count(text) != n {
				t.Errorf("%s: %d tokens wanted, the text has %d", name, n, len(ids))
			}
			back, err := enc.AppendText(nil, ids)
			if err != nil || string(back) != text {
				t.Errorf("%s: the ids of %q decode to %q, %v", name, text, back, err)
			}
		}
	}
}

// B77: one token is a prompt, and fewer than none is an error.
func TestB77ShortTexts(t *testing.T) {
	w := words(t, Default)
	rng := rand.New(rand.NewPCG(1, 2))
	if text, err := w.Text(rng.Uint64, 1); err != nil || text == "" {
		t.Errorf("one token: %q, %v", text, err)
	}
	if _, err := w.Text(rng.Uint64, -1); err == nil {
		t.Error("-1 tokens are no error")
	}
}

func TestTextsDifferBySeedAndRepeatWithIt(t *testing.T) {
	w := words(t, Default)
	make := func(seed uint64) string {
		text, err := w.Text(rand.New(rand.NewPCG(seed, 0)).Uint64, 50)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if first, again, other := make(1), make(1), make(2); first != again || first == other {
		t.Error("texts follow something other than their seed")
	}
}

func TestWordLists(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		list := words(t, name).List()
		if len(list) < 1000 || !slices.Contains(list, "the") {
			t.Errorf("%s: %d words, the first %v", name, len(list), list[:10])
		}
	}
}

// A tokenizer that knows no English words says so instead of making something.
func TestTextNeedsWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	const file = `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Text(open(t, path, Options{}), rand.New(rand.NewPCG(1, 1)).Uint64, 5)
	if err == nil || !strings.Contains(err.Error(), "English words") {
		t.Errorf("error %v", err)
	}
}

// The tokenizers of a folder make texts of exact lengths as well.
func TestTextsOfFolder(t *testing.T) {
	folder := os.Getenv("TOKENMETER_TOKENIZERS")
	if folder == "" {
		t.Skip("TOKENMETER_TOKENIZERS names no folder")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	for _, file := range files {
		enc := open(t, file, Options{})
		w, err := NewWords(enc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, n := range []int{1, 2, 17, 500} {
			text, err := w.Text(rand.New(rand.NewPCG(3, uint64(n))).Uint64, n)
			if err != nil || enc.Count(text) != n {
				t.Errorf("%s: %d tokens: %d, %v", filepath.Base(file), n, enc.Count(text), err)
			}
		}
		t.Logf("%s: %d words", filepath.Base(file), len(w.List()))
	}
}
