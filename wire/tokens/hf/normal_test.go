package hf

import (
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/pattern"
)

// Every code point that is assigned, and long runs of marks, become what tokenizers makes of
// them: tools/oracle/tokens_normal.py.
func TestNormalizersEqualTheOriginal(t *testing.T) {
	raw, err := os.ReadFile("testdata/normal.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, marks, _ := strings.Cut(name, ":")
		settings := ""
		if kind == "Strip" {
			settings = `,"strip_left":true,"strip_right":true`
		}
		n, err := parseNormalizer([]byte(`{"type":"` + kind + `"` + settings + `}`))
		if err != nil {
			t.Fatal(err)
		}
		sum := uint32(0)
		add := func(text string) {
			out, _ := n.normalize(text, pattern.NewBudget(len(text)))
			sum = crc32.Update(sum, crc32.IEEETable, []byte(out))
		}
		if marks == "" {
			everyCodePoint(func(r rune) { add("a" + string(r) + "\u0323\u0301 " + string(r)) })
		} else {
			manyMarks(add)
		}
		if got := fmt.Sprintf("%08x", sum); got != want {
			t.Errorf("%s: sum %s, want %s", name, got, want)
		}
	}
}

func everyCodePoint(f func(rune)) {
	for _, part := range [][2]rune{{0, 0xd800}, {0xe000, 0x32400}, {0xe0000, 0xe0200}, {0x10fff0, 0x110000}} {
		for r := part[0]; r < part[1]; r++ {
			f(r)
		}
	}
}

func manyMarks(f func(string)) {
	marks := []rune("\u0301\u0323\u0334\u0345\u0591\u05b0\u093c\u3099\u0f71\u1dfa")
	for length := 1; length < 90; length++ {
		text := "e"
		for i := range length {
			text += string(marks[i*i%len(marks)])
		}
		f(text + "\u1e69x")
	}
}
