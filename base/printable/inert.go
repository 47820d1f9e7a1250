// Package printable makes text that came from elsewhere harmless to show: a server's
// words must not move the cursor, colour the screen or turn the reading direction.
package printable

import (
	"strings"
	"unicode/utf8"
)

// Text returns s without what acts on a terminal: control bytes become their
// pictures (␛ for ESC), invisible marks and broken UTF-8 become U+FFFD. Nor does it
// give orders to a pipeline whose log shows it: a blank goes into ::error:: and
// ##vso[…]. Text without any of them comes back as it is.
func Text(s string) string { return replace(s, "") }

// Lines is Text for text of several lines: line feeds and tabs stay.
func Lines(s string) string { return replace(s, "\n\t") }

func replace(s, keep string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return unbidden(strings.Map(func(r rune) rune {
		switch {
		case r < 0x20 && !strings.ContainsRune(keep, r):
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029, directs(r):
			return utf8.RuneError
		}
		return r
	}, s))
}

// directs reports whether r is an invisible mark that turns the direction of
// the text around it, or hides in it.
func directs(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}
