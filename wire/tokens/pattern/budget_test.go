package pattern

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// Expressions that would go on for years, or for hours on a long text, end with
// an error that names them.
func TestBudgetEnds(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		times      int
	}{
		{`(?:a|a)*b`, "a", 100},
		{`(?:a+)+b`, "a", 100},
		{`(?:a{1,3}){1,1000}b`, "a", 3000},
		{`(?:\p{L}|[a-z])+[0-9]`, "w", 64},
		{`x|(?=(?:a|a)*b)a`, "a", 50}, // looking ahead
		{`x|(?>(?:a|a)*b)`, "a", 50},  // atomic
		{`(?:a|a)*?b`, "a", 60},       // lazy
		{`(?:ä|ä)*b`, "ä", 60},
		{`a+b`, "a", 200_000}, // a square of the length
	} {
		p, err := Compile(c.expr)
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = p.Split(strings.Repeat(c.text, c.times))
		exhausted := (*ExhaustedError)(nil)
		if !errors.As(err, &exhausted) || exhausted.Expr != c.expr || !strings.Contains(err.Error(), "there is one way") {
			t.Errorf("%s on %d × %s: error %v", c.expr, c.times, c.text, err)
		}
	}
}

// Once it is spent, a budget finds nothing in the rest of its text.
func TestBudgetIsOfTheWholeText(t *testing.T) {
	p, err := Compile(`(?:a|a)*b`)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBudget(100)
	p.Find(strings.Repeat("a", 60), 0, b)
	if _, _, ok := p.Find("ab", 0, b); ok || b.Err() == nil {
		t.Errorf("found %v, error %v", ok, b.Err())
	}
}

// The patterns of known tokenizers take less than a tenth of what a byte is
// allowed, over texts of many languages.
func TestBudgetIsWide(t *testing.T) {
	texts := corpustest.Texts(t, "../testdata/corpus.zst")
	raw, err := os.ReadFile("../testdata/patterns/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var patterns struct{ Known, Other map[string]string }
	if err := json.Unmarshal(raw, &patterns); err != nil {
		t.Fatal(err)
	}
	for _, group := range []map[string]string{patterns.Known, patterns.Other} {
		for name, expr := range group {
			p, err := Compile(expr)
			if err != nil {
				t.Error(err)
				continue
			}
			bytes, steps := 0, 0
			for i := 0; i < len(texts); i += 50 {
				b := NewBudget(len(texts[i]))
				before := b.left
				for at := 0; ; {
					_, end, ok := p.Find(texts[i], at, b)
					if !ok {
						break
					}
					at = end
				}
				bytes, steps = bytes+len(texts[i]), steps+before-b.left
			}
			t.Logf("%s: %.1f steps a byte", name, float64(steps)/float64(bytes))
			if steps > bytes*stepsPerByte/10 {
				t.Errorf("%s: %d steps on %d bytes", name, steps, bytes)
			}
		}
	}
}
