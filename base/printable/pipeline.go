package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unbidden puts a blank into what the log of a pipeline would obey: GitHub's
// ::name …:: at the start of a line, which is wherever a word begins, since lines are
// wrapped, and ##vso[…], ##[…] and ##teamcity[…] anywhere.
func unbidden(s string) string {
	if !strings.Contains(s, "##") && !strings.Contains(s, "::") {
		return s
	}
	var b strings.Builder
	from := 0
	for at := range s {
		if bids(s, at) {
			b.WriteString(s[from:at+1] + " ")
			from = at + 1
		}
	}
	return b.String() + s[from:]
}

// longestName is more than the ## and the name of any order in that form.
const longestName = 32

func hashOrder(s string) bool {
	rest, ok := strings.CutPrefix(s, "##")
	return ok && strings.HasPrefix(strings.TrimLeftFunc(rest, unicode.IsLetter), "[")
}

// bids reports whether an order to a pipeline begins at s[at].
func bids(s string, at int) bool {
	if s[at] == '#' {
		return hashOrder(s[at:min(at+longestName, len(s))])
	}
	rest, ok := strings.CutPrefix(s[at:], "::")
	if before, _ := utf8.DecodeLastRuneInString(s[:at]); !ok || at > 0 && !unicode.IsSpace(before) {
		return false
	}
	end := strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || r == '-' })
	return end != rest && (strings.HasPrefix(end, " ") || strings.HasPrefix(end, "::"))
}
