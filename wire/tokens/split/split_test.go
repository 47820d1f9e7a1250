package split

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"tokenmeter/wire/tokens/internal/corpustest"
	"tokenmeter/wire/tokens/pattern"
)

// Every text of the corpus is cut as Hugging Face tokenizers cut it, by the
// published patterns.
func TestSplittersEqualTheirPatterns(t *testing.T) {
	texts := corpustest.Texts(t, "../testdata/corpus.zst")
	var patterns struct {
		Known     map[string]string
		DeepSeek3 [3]string
	}
	raw, err := os.ReadFile("../testdata/patterns/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &patterns); err != nil {
		t.Fatal(err)
	}
	splitters := map[string]Splitter{"deepseek3": DeepSeek3()}
	for name, p := range patterns.Known {
		s, ok := ByPattern(p)
		if !ok {
			t.Errorf("%s: pattern not known: %s", name, p)
			continue
		}
		splitters[name] = s
	}
	if _, ok := BySequence(patterns.DeepSeek3[:]); !ok {
		t.Errorf("deepseek3: patterns not known")
	}
	for name, s := range splitters {
		want := corpustest.Read(t, "../testdata/patterns/"+name+".expect")
		wrong := 0
		for i, text := range texts {
			if got := corpustest.Of(lengths(t, s, text)); got != want[i] {
				if wrong++; wrong <= 5 {
					t.Errorf("%s: %q becomes %q", name, text, pieces(t, s, text))
				}
			}
		}
		t.Logf("%s: %d of %d texts equal", name, len(texts)-wrong, len(texts))
	}
}

// tiktoken's cl100k_base keeps white space at the end in one piece, which the
// pattern of Llama 3 does not.
func TestWhiteSpaceAtTheEnd(t *testing.T) {
	const text = "a \n  "
	if got := strings.Join(pieces(t, Cl100k(), text), "|"); got != "a| \n  " {
		t.Errorf("cl100k: %q", got)
	}
	if got := strings.Join(pieces(t, Llama3(), text), "|"); got != "a| \n|  " {
		t.Errorf("llama3: %q", got)
	}
}

// The splitters cut as the pattern engine does, whatever the text is.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"Hello, WORLD's 12345\r\n  x", "'S 'ſ中A\u0301a  \n ", "\xff\xfe a\x80", "一2あ /\n\n!a"} {
		f.Add(s)
	}
	all := map[string]Splitter{"deepseek3": DeepSeek3()}
	compiled := map[string]*pattern.Pattern{}
	for p, make := range patterns {
		all[p] = make()
		c, err := pattern.Compile(p)
		if err != nil {
			f.Fatal(err)
		}
		compiled[p] = c
	}
	cl100k := `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s+\z|\s*[\r\n]|\s+(?!\S)|\s`
	all[cl100k] = Cl100k()
	var err error
	if compiled[cl100k], err = pattern.Compile(cl100k); err != nil {
		f.Fatal(err)
	}
	var deepSeek []*pattern.Pattern
	for _, p := range DeepSeek3Patterns {
		c, err := pattern.Compile(p)
		if err != nil {
			f.Fatal(err)
		}
		deepSeek = append(deepSeek, c)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, s := range all {
			got := pieces(t, s, text)
			if !utf8.ValidString(text) {
				continue
			}
			want := []string{text}
			for _, p := range deepSeek {
				if compiled[name] != nil {
					p = compiled[name]
				}
				var cut []string
				for _, piece := range want {
					more, err := p.Split(piece)
					if err != nil {
						t.Fatal(err)
					}
					cut = append(cut, more...)
				}
				if want = cut; compiled[name] != nil {
					break
				}
			}
			if strings.Join(got, "\x00|") != strings.Join(want, "\x00|") {
				t.Errorf("%s: %q becomes %q, want %q", name, text, got, want)
			}
		}
	})
}

func pieces(t *testing.T, s Splitter, text string) []string {
	t.Helper()
	var all []string
	for rest := text; rest != ""; {
		n := s.Next(rest)
		if n <= 0 || n > len(rest) {
			t.Fatalf("the piece of %q ends at %d", rest, n)
		}
		all = append(all, rest[:n])
		rest = rest[n:]
	}
	return all
}

func lengths(t *testing.T, s Splitter, text string) []uint32 {
	var all []uint32
	for _, p := range pieces(t, s, text) {
		all = append(all, uint32(len(p)))
	}
	return all
}
