package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cell is Lines for a cell of a table in CSV: text that starts like a formula gets an
// apostrophe, which keeps a spreadsheet from running it, unless it is a number.
func Cell(s string) string {
	s = Lines(s)
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || !strings.ContainsRune("=+-@\t\n＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

// Cells is Cell of each.
func Cells(row ...string) []string {
	for i := range row {
		row[i] = Cell(row[i])
	}
	return row
}
