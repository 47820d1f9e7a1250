package pattern

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// Every fifth text of the corpus is cut as Oniguruma cuts it.
func TestEqualsOniguruma(t *testing.T) {
	texts := corpustest.Texts(t, "../testdata/corpus.zst")
	raw, err := os.ReadFile("../testdata/patterns/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var patterns struct{ Other map[string]string }
	if err := json.Unmarshal(raw, &patterns); err != nil {
		t.Fatal(err)
	}
	for name, expr := range patterns.Other {
		p, err := Compile(expr)
		if err != nil {
			t.Error(err)
			continue
		}
		want := corpustest.Read(t, "../testdata/patterns/"+name+".expect")
		wrong := 0
		for i, e := range want {
			var lengths []uint32
			for _, piece := range split(t, p, texts[i*5]) {
				lengths = append(lengths, uint32(len(piece)))
			}
			if corpustest.Of(lengths) != e {
				if wrong++; wrong <= 5 {
					t.Errorf("%s: %q becomes %q", name, texts[i*5], split(t, p, texts[i*5]))
				}
			}
		}
		t.Logf("%s: %d of %d texts equal", name, len(want)-wrong, len(want))
	}
}

// What Oniguruma does with each of these was asked of it.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		want       []string
	}{
		{`a$`, "a\nab a", []string{"a", "\nab ", "a"}},
		{`^a`, "a\nab a", []string{"a", "\n", "a", "b a"}},
		{`b\Z`, "ab\n", []string{"a", "b", "\n"}},
		{`\p{N}{1,3}+`, "12345678", []string{"12345678"}},
		{`.`, "a\nb\r\u2028", []string{"a", "\n", "b", "\r", "\u2028"}},
		{`[^\s&&[a-c]]+`, "ab dc", []string{"ab dc"}},
		{`[a-z&&[^b]]`, "abc", []string{"a", "b", "c"}},
		{`[a[bc]]+`, "abcd", []string{"abc", "d"}},
		{`a{,2}b`, "aaab", []string{"a", "aab"}},
		{`a{x}`, "a{x}", []string{"a{x}"}},
		{`(?i:[sk])`, "sSſkKK", []string{"s", "S", "ſ", "k", "K", "K"}},
		{`(?i:'s)`, "'s'S'ſ", []string{"'s", "'S", "'ſ"}},
		{`a++b`, "aaab", []string{"aaab"}},
		{`a++ab`, "aaab", []string{"aaab"}},
		{`\p{^L}+`, "a12", []string{"a", "12"}},
		{`[^\p{^L}]+`, "a12", []string{"a", "12"}},
		{`[\u4e00-\u9fa5]+`, "一丁a", []string{"一丁", "a"}},
		{`(?<!a)b`, "ab b", []string{"ab ", "b"}},
		{`\v`, "\v\n\f", []string{"\v", "\n\f"}},
		{`[a-]+\-`, "a--", []string{"a--"}},
	} {
		p, err := Compile(c.expr)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := split(t, p, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q becomes %q, want %q", c.expr, c.text, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for expr, why := range map[string]string{
		``: "may match nothing", `a*`: "may match nothing", `(?=a)`: "may match nothing", `a|`: "may match nothing",
		`(`: "not closed", `)`: "has no (", `[a`: "not closed", `[]`: "empty", `[^]`: "empty", `[]a]`: "empty",
		`(a)\1`: `\1`, `\bx`: `\b`, `\h`: `\h`, `\Kx`: `\K`, `\R`: `\R`, `\X`: `\X`, `\pL`: "without {name}",
		`\p{IsHan}`: `"IsHan"`, `\p{Braille}`: `"Braille"`, `[[:alpha:]]`: "[: :]", `(?m:a)`: "(?m:", `(?<n>a)`: "(?<n", `(?P<n>a)`: "(?P<",
		`a**`: "in a row", `a+?+`: "in a row", `a{2}?`: "{n}?", `a{2}{3}`: "in a row", `(a*)*b`: "may match nothing cannot", `+a`: "nothing that repeats",
		`a{1001}`: "too large", `a{3,2}`: "empty", `((a{999}){999}){999}`: "too long", `(?i:ß)`: "beyond ASCII", `(?i:ss)`: `"ss"`, `(?i:\p{L})`: "property", `(?<=ab)c`: "behind",
		`a(?i)b`: "(?i)", `\`: `ends with a \`, `\x4`: "escape", `\xff`: "beyond ASCII", `[z-a]`: "no end", `[a-\s]`: "no end", `\u12`: "escape", "a\xff": "UTF-8",
		strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200): "nested",
	} {
		if _, err := Compile(expr); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.40s: error %v, want one with %q", expr, err, why)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`\s+(?!\S)|[^\p{L}a-z]{2,3}?b++|(?i:k|[sx])(?<=a)`, "some  text\n")
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) > 60 || len(text) > 30 {
			return
		}
		p, err := Compile(expr)
		if err != nil || len(p.prog) > 60 {
			return
		}
		pieces, err := p.Split(text)
		if exhausted := (*ExhaustedError)(nil); errors.As(err, &exhausted) {
			return
		}
		if joined := strings.Join(pieces, ""); joined != text {
			t.Errorf("%s: the pieces of %q are %q", expr, text, pieces)
		}
	})
}

func split(t *testing.T, p *Pattern, text string) []string {
	t.Helper()
	pieces, err := p.Split(text)
	if err != nil {
		t.Error(err)
	}
	return pieces
}
