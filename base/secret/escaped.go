package secret

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// sight is what of a form the start of a text is.
type sight struct {
	n    int  // bytes of the text that are the form; 0: it is not all there
	seen int  // bytes of the form that were found
	cut  bool // the text ended before the form did, or within an escape
}

// match tells whether s begins with a form, which is in lower case: letter by letter,
// or with any of its letters escaped in any of the ways of URLs, JSON, JavaScript and
// HTML, escaped again as often as it was handed on. Most of a form with something else
// behind it counts as the form, and so does its start where an ellipsis tells that the
// rest was cut off.
func match(s, form string) sight {
	if foldPrefix(s, form) {
		return sight{n: len(form), seen: len(form)}
	}
	at, k, cut := 0, 0, false
	for k < len(form) && at < len(s) {
		cut = cut || opened(s[at:])
		if v, n := unescaped(s[at:]); n > 0 {
			if m := fits(form[k:], v); m > 0 {
				at, k = at+n, k+m
				continue
			}
		}
		if lower(s[at]) != form[k] {
			break
		}
		at, k = at+1, k+1
		if form[k-1] != '\\' {
			continue
		}
		at += backslashes(s[at:]) // however many stand for it
		k += backslashes(form[k:])
		if _, n := unescaped(s[at-1:]); n > 2 && k < len(form) && lower(s[at]) != form[k] { // the last one belongs to the escape behind it
			at--
		}
	}
	found := sight{seen: k, cut: k < len(form) && (cut || at == len(s))}
	most := k >= minMost && 4*k >= 3*len(form) && len(s)-at >= minStart // nearer to the end the rest may be to come
	if k == len(form) || most || k >= minStart && shortened(s[at:]) {
		found.n = at
	}
	return found
}

// shortened reports whether s, what follows a part of a secret, begins with an ellipsis,
// be it behind half an escape or half a character.
func shortened(s string) bool {
	end := len(s)
	for _, ellipsis := range []string{"…", "..."} {
		if i := strings.Index(s[:min(end, longestHalf)], ellipsis); i >= 0 {
			end = i
		}
	}
	half := strings.Trim(s[:end], " \uFFFD")
	return end < len(s) && (half == "" || opened(half))
}

// longestHalf is how far behind a part of a secret its ellipsis is looked for: behind an
// escape of an escape of both halves of a pair.
const longestHalf = 64

// minMost is the least number of bytes of a secret that are hidden where the rest is
// missing, in the middle of a text: three quarters of a short one may be anything.
const minMost = 12

// fits is how many bytes form, in lower case, begins with that an escape of the value v
// stands for: a letter's, or the one byte v.
func fits(form string, v rune) int {
	if v < utf8.RuneSelf {
		if lower(byte(v)) == form[0] {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(form); r == v && n > 1 {
		return n
	}
	if v <= 0xff && byte(v) == form[0] {
		return 1
	}
	return 0
}

// unescaped is the value that s begins with in an escaped form, and how long that is;
// 0: it begins with none.
func unescaped(s string) (v rune, n int) {
	switch s[0] {
	case '+':
		return ' ', 1
	case '%':
		n = 1 + repeated(s[1:], "25")
		if v, ok := number(s[n:], 2, 16); ok {
			return v, n + 2
		}
		if n > 1 {
			return '%', n
		}
	case '\\':
		return backslashed(s)
	case '&':
		return entity(s)
	}
	return 0, 0
}

// backslashed is the value that backslashes at the start of s, and what follows them,
// stand for.
func backslashed(s string) (v rune, n int) {
	n = backslashes(s)
	rest := s[n:]
	if rest == "" {
		return 0, 0
	}
	switch rest[0] {
	case '"', '\'', '/':
		return rune(rest[0]), n + 1
	case 'x':
		if v, ok := number(rest[1:], 2, 16); ok {
			return v, n + 3
		}
	case 'u':
		v, ok := number(rest[1:], 4, 16)
		if !ok {
			return 0, 0
		}
		if n += 5; !utf16.IsSurrogate(v) {
			return v, n
		}
		second := n + backslashes(s[n:])
		if second > n && strings.HasPrefix(s[second:], "u") {
			low, _ := number(s[second+1:], 4, 16)
			if v = utf16.DecodeRune(v, low); v != utf8.RuneError {
				return v, second + 5
			}
		}
	}
	return 0, 0
}

func backslashes(s string) int { return len(s) - len(strings.TrimLeft(s, `\`)) }

// repeated is how many bytes of s are part, again and again.
func repeated(s, part string) (n int) {
	for strings.HasPrefix(s[n:], part) {
		n += len(part)
	}
	return n
}

// entity is the value that a character reference of HTML at the start of s stands for,
// and how long that is; 0: there is none.
func entity(s string) (v rune, n int) {
	n = 1 + repeated(s[1:], "amp;")
	name, _, ok := strings.Cut(s[n:min(len(s), n+longestName)], ";")
	end := n + len(name) + 1
	if digits, is := strings.CutPrefix(name, "#"); ok && is {
		base := 10
		if hex := strings.TrimLeft(digits, "xX"); hex != digits {
			digits, base = hex, 16
		}
		if v, ok := number(digits, len(digits), base); ok {
			return v, end
		}
	}
	switch {
	case !ok:
	case name == "quot":
		return '"', end
	case name == "apos":
		return '\'', end
	case name == "lt":
		return '<', end
	case name == "gt":
		return '>', end
	}
	if n > 1 {
		return '&', n
	}
	return 0, 0
}

// longestName is how long the name of an entity may be, with the semicolon behind it:
// that of a number with some zeros in front.
const longestName = 12

// opened reports whether all of s may be the start of an escape that goes on.
func opened(s string) bool {
	switch s[0] {
	case '%':
		rest := s[1+repeated(s[1:], "25"):]
		return len(rest) < 2 && isHex(rest)
	case '\\':
		rest := strings.TrimLeft(s, `\`)
		switch {
		case rest == "":
			return true
		case rest[0] == 'x':
			return len(rest) < 3 && isHex(rest[1:])
		case rest[0] != 'u' || !isHex(rest[1:min(len(rest), 5)]):
			return false
		case len(rest) < 5:
			return true
		}
		low := strings.TrimLeft(rest[5:], `\`) // the second half of a pair
		v, _ := number(rest[1:], 4, 16)
		return utf16.IsSurrogate(v) && (low == "" || len(low) < 5 && len(low) < len(rest[5:]) && low[0] == 'u' && isHex(low[1:]))
	case '&':
		rest := s[1+repeated(s[1:], "amp;"):]
		return len(rest) < longestName && !strings.Contains(rest, ";")
	}
	return false
}

func isHex(s string) bool {
	_, ok := number(s, len(s), 16)
	return ok || s == ""
}

// number is the value of the first digits of s.
func number(s string, digits, base int) (v rune, ok bool) {
	if digits == 0 || len(s) < digits {
		return 0, false
	}
	for _, c := range []byte(s[:digits]) {
		d := strings.IndexByte("0123456789abcdef"[:base], lower(c))
		if d < 0 || v > utf8.MaxRune {
			return 0, false
		}
		v = v*rune(base) + rune(d)
	}
	return v, true
}
