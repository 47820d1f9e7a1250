package secret

import (
	"strconv"
	"strings"
)

// match is how many bytes of s are a form, which is in lower case: letter by letter,
// or with any of its bytes escaped in any of the ways of URLs, JSON, JavaScript and
// HTML, escaped again as often as it was handed on. 0: s does not begin with it. Most
// of a form with something else behind it counts as the form.
func match(s, form string) int {
	if foldPrefix(s, form) {
		return len(form)
	}
	at, k := 0, 0
	for ; k < len(form) && at < len(s); k++ {
		if c, n := unescaped(s[at:]); n > 0 && lower(c) == form[k] {
			at += n
		} else if lower(s[at]) != form[k] {
			break
		} else if at++; form[k] == '\\' { // however many stand for it
			for ; at < len(s) && s[at] == '\\'; at++ {
			}
			for ; k+1 < len(form) && form[k+1] == '\\'; k++ {
			}
			if _, n := unescaped(s[at-1:]); n > 2 && k+1 < len(form) && lower(s[at]) != form[k+1] { // the last one belongs to the escape behind it
				at--
			}
		}
	}
	most := k >= minMost && 4*k >= 3*len(form) && len(s)-at >= minStart // nearer to the end the rest may be to come
	if k == len(form) || most {
		return at
	}
	return 0
}

// minMost is the least number of bytes of a secret that are hidden where the rest is
// missing, in the middle of a text: three quarters of a short one may be anything.
const minMost = 12

// unescaped is the byte that s begins with in an escaped form, and how long that is;
// 0: it begins with none.
func unescaped(s string) (c byte, n int) {
	switch s[0] {
	case '+':
		return ' ', 1
	case '%':
		for n = 1; strings.HasPrefix(s[n:], "25"); n += 2 {
		}
		if c, ok := number(s[n:], 2, 16); ok {
			return c, n + 2
		}
		if n > 1 {
			return '%', n
		}
	case '\\':
		for n = 1; n < len(s) && s[n] == '\\'; n++ {
		}
		rest := s[n:]
		if c, ok := number(strings.TrimPrefix(rest, "u00"), 2, 16); ok && strings.HasPrefix(rest, "u00") {
			return c, n + 5
		}
		if c, ok := number(strings.TrimPrefix(rest, "x"), 2, 16); ok && strings.HasPrefix(rest, "x") {
			return c, n + 3
		}
		if rest != "" && strings.IndexByte(`"'/`, rest[0]) >= 0 {
			return rest[0], n + 1
		}
	case '&':
		return entity(s)
	}
	return 0, 0
}

// entity is the byte that a character reference of HTML at the start of s stands for,
// and how long that is; 0: there is none.
func entity(s string) (c byte, n int) {
	for n = 1; strings.HasPrefix(s[n:], "amp;"); n += 4 {
	}
	name, _, ok := strings.Cut(s[n:min(len(s), n+8)], ";")
	if digits, is := strings.CutPrefix(name, "#"); ok && is {
		base := 10
		if hex := strings.TrimLeft(digits, "xX"); hex != digits {
			digits, base = hex, 16
		}
		if c, ok := number(digits, len(digits), base); ok {
			return c, n + len(name) + 1
		}
	}
	if at := strings.Index("quot\"apos'lt<gt>", name); ok && at >= 0 && len(name) > 1 {
		return "quot\"apos'lt<gt>"[at+len(name)], n + len(name) + 1
	}
	if n > 1 {
		return '&', n
	}
	return 0, 0
}

func number(s string, digits, base int) (byte, bool) {
	if digits == 0 || len(s) < digits {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:digits], base, 8)
	return byte(v), err == nil
}
