package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain – ±5 % 日本語":          "plain – ±5 % 日本語",
		"\x1b[31mred\x1b[0m":        "␛[31mred␛[0m",
		"a\x00b\rc\nd\te\x7f":       "a␀b␍c␊d␉e␡",
		"\u009b2J \u0085\u2028":     "\uFFFD2J \uFFFD\uFFFD",
		"\u202egnp.exe\u2066\ufeff": "\uFFFDgnp.exe\uFFFD\uFFFD",
		"\xff\xfe":                  "\uFFFD",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := Lines("a\n\tb\r\x1b"), "a\n\tb␍␛"; got != want {
		t.Errorf("Lines: %q, want %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff\x00")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("Text(%q) = %q", s, got)
		}
		if Text(got) != got {
			t.Errorf("Text(%q) is not stable", s)
		}
	})
}
