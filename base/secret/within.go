package secret

import (
	"encoding/json"
	"strings"
)

// Values lists what a server may repeat of a secret: all of it, and of a list or an object
// each value in it.
func Values(s string) []string { return append([]string{s}, within(s)...) }

// within lists the values in the source text of a list or an object, without the names of
// fields; none of any other text.
func within(s string) (out []string) {
	if s = strings.TrimSpace(s); s == "" || s[0] != '[' && s[0] != '{' {
		return nil
	}
	for s != "" {
		n, inner := quoted(s)
		if n == 0 {
			if n = strings.IndexAny(s, "[]{},:\\\"' \t\r\n"); n < 0 {
				n = len(s)
			}
			inner = s[:n]
			n = max(n, backslashes(s), 1)
		}
		s = s[n:]
		if inner == "" || strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), ":") {
			continue
		}
		for _, form := range unescapings(inner) {
			out = append(out, Values(form)...)
		}
	}
	return out
}

// unescapings are the inside of a string of JSON and what it stands for; what that stands
// for, too, where it was escaped more than once.
func unescapings(inner string) []string {
	out := []string{inner}
	for strings.Contains(inner, `\`) && json.Unmarshal([]byte(`"`+inner+`"`), &inner) == nil {
		out = append(out, inner)
	}
	return out
}

// quoted is how many bytes the string has that a text begins with, and what is in it; to the
// end where no quote closes it, and 0 where none opens one. Backslashes may stand before its
// quotes: JSON within a string of JSON has them, as many before the last quote as before the
// first.
func quoted(s string) (n int, inner string) {
	open := backslashes(s)
	if open == len(s) || s[open] != '"' && s[open] != '\'' {
		return 0, ""
	}
	quote := s[open]
	begin := open + 1
	for i := begin; i < len(s); i++ {
		escapes := backslashes(s[i:])
		switch i += escapes; {
		case i == len(s) || s[i] != quote:
		case escapes == open, open == 0 && escapes%2 == 0:
			return i + 1, s[begin : i-open]
		}
	}
	return len(s), s[begin:]
}
