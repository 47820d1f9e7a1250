package printable

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text at spaces into lines of at most width characters, where words
// allow it; newline stands between them.
func Wrap(text string, width int, newline string) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString(newline)
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
