package typeset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tokenmeter/base/printable"
)

// Clean makes text from elsewhere harmless.
func Clean(s string) string { return printable.Text(s) }

// Markup makes text stay text in HTML and XML, in attributes too. (Package html
// would bring its table of 2,000 entities into the program.)
func Markup(s string) string { return markup.Replace(s) }

// XML knows no U+FFFE and U+FFFF, and takes line feeds of attributes for blanks.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;",
	"\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;", "\ufffe", "\ufffd", "\uffff", "\ufffd")

// Short cuts text to n runes.
func Short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}

// List joins for a sentence: "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Quote makes one word for a shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// CommandLine is a command as it can be typed again.
func CommandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = Quote(a)
	}
	return strings.Join(words, " ")
}

// ASCII replaces what a plain console cannot show.
func ASCII(s string) string {
	s = strings.NewReplacer("–", "-", "−", "-", "±", "+-", "…", "...", "≥", ">=", "≤", "<=",
		"✓", "ok", "✗", "x", "●", "*", "▲", "!", "■", "#", "○", "o", "→", "->", "×", "x", "█", "#", "÷", "/", "Σ", "sum", "∞", "inf").Replace(s)
	return strings.Map(func(r rune) rune {
		if r > 0x7e {
			return '?'
		}
		return r
	}, s)
}

// Width counts the columns of a terminal: two for wide scripts and emoji, none
// for marks that sit on the letter before.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Cut splits a word behind n columns, at least one rune.
func Cut(word string, n int) (head, tail string) {
	used := 0
	for i, r := range word {
		used += columns(r)
		if used > n && i > 0 {
			return word[:i], word[i:]
		}
	}
	return word, ""
}
