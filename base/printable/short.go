package printable

import "strings"

// Short keeps the first most bytes of s, at a whole character, with an ellipsis
// behind them where more followed. The result of a text that was cut is a copy: it
// doesn't hold s.
func Short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
