package secret

import (
	"strings"

	"tokenmeter/base/pattern"
)

// The name of a field, with its quotes, up to where its value begins; and a value without
// quotes that is no list and no object, which may be a scheme and a key.
var (
	fieldName  = pattern.Lazy(`(\\*["'])?([A-Za-z_][\w.-]*)(\\*["'])?\s*[:=]\s*`)
	fieldValue = pattern.Lazy(`^(?i:(?:bearer|basic|token)\s+)?[^\s,}\]"']+`)
)

// maskFields masks the values of fields whose names are sensitive, in text that is JSON,
// a dictionary of Python, or pairs like name=value and name:value. What stands within a
// value that is a list or an object is not looked at: all of it goes.
func maskFields(s string, sensitive func(name string) bool) string {
	return replaceFields(s, sensitive, func(string) {})
}

// fieldSecrets lists the values that maskFields masks.
func fieldSecrets(s string, sensitive func(name string) bool) (out []string) {
	replaceFields(s, sensitive, func(value string) {
		if n, inner := quoted(value); n > 0 {
			value = inner
		}
		for _, form := range unescapings(value) {
			out = append(out, valueSecrets("", form)...)
		}
	})
	return out
}

// replaceFields masks values and tells of each one.
func replaceFields(s string, sensitive func(name string) bool, each func(value string)) string {
	var b strings.Builder
	for {
		at := fieldName().FindStringSubmatchIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		name, quote := s[at[4]:at[5]], ""
		if at[2] >= 0 && at[6] >= 0 && s[at[2]:at[3]] == s[at[6]:at[7]] {
			quote = s[at[2]:at[3]]
		}
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		if sensitive(name) && !strings.HasPrefix(s, Mask) { // of a URL's parameter the rest is none of the secret
			n := valueLength(s)
			if value := s[:n]; value != "" && value != "null" && value != "None" {
				each(value)
				b.WriteString(quote + Mask + quote)
				s = s[n:]
			}
		}
	}
}

// valueLength is how long the value is that a text begins with: of a list or an object to
// the bracket that closes it, outside quotes, or to the end where none does.
func valueLength(s string) int {
	if n, _ := quoted(s); n > 0 {
		return n
	}
	if s == "" || s[0] != '[' && s[0] != '{' {
		return len(fieldValue().FindString(s))
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		if n, _ := quoted(s[i:]); n > 0 {
			i += n - 1
			continue
		}
		i += max(0, backslashes(s[i:])-1)
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
