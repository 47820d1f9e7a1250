package tokens

import (
	"slices"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// Every text of the corpus has the ids that tiktoken gives it.
func TestBuiltinsEqualTiktoken(t *testing.T) {
	texts := corpustest.Texts(t, "testdata/corpus.zst")
	named := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !strings.Contains(s, "<|") })
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		plain, special := open(t, name, Options{}), open(t, name, Options{Specials: true})
		check(t, plain, texts, corpustest.Read(t, "testdata/"+name+".expect"))
		check(t, special, named, corpustest.Read(t, "testdata/"+name+".special.expect"))
	}
}

func check(t *testing.T, e Encoder, texts []string, want []corpustest.Expected) {
	t.Helper()
	if len(texts) != len(want) || len(texts) == 0 {
		t.Fatalf("%s: %d texts, %d expectations", e.Name(), len(texts), len(want))
	}
	wrong := 0
	var ids []uint32
	for i, text := range texts {
		ids, _ = e.Append(ids[:0], text)
		if got := corpustest.Of(ids); got != want[i] {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %q has ids %v, want %d of them", e.Name(), text, ids, want[i].Count)
			}
		}
		if n, _ := e.Count(text); n != len(ids) {
			t.Errorf("%s: Count(%q) = %d, but %d ids", e.Name(), text, n, len(ids))
		}
		if back, err := e.AppendText(nil, ids); err != nil || string(back) != text {
			t.Errorf("%s: %q decodes to %q, %v", e.Name(), text, back, err)
		}
	}
	t.Logf("%s: %d of %d texts equal", e.Name(), len(texts)-wrong, len(texts))
}

func open(t testing.TB, name string, opt Options) Encoder {
	t.Helper()
	e, err := Open(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
