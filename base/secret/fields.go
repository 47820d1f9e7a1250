package secret

import (
	"strings"

	"tokenmeter/base/pattern"
)

// The name of a field, in quotes or not, up to where its value begins; and such a value.
// What stands within one that is a list or an object is not looked at: all of it goes.
var (
	fieldName  = pattern.Lazy(`["']?([A-Za-z_][\w.-]*)["']?\s*[:=]\s*`)
	fieldValue = pattern.Lazy(`(?s)^(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[\[{].*|[^\s,}\]]+)`)
)

// maskFields masks the values of fields whose names are sensitive, in text that is JSON,
// a dictionary of Python, or pairs like name=value and name:value.
func maskFields(s string, sensitive func(name string) bool) string {
	var b strings.Builder
	for {
		at := fieldName().FindStringSubmatchIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		quote, name := s[at[0]:at[2]], s[at[2]:at[3]]
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		if sensitive(name) && !strings.HasPrefix(s, Mask) { // of a URL's parameter the rest is none of the secret
			if value := fieldValue().FindString(s); value != "" {
				b.WriteString(quote + Mask + quote)
				s = s[len(value):]
			}
		}
	}
}
