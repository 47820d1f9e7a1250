package published

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"tokenmeter/base/printable"
)

// Table is reference data in a form to read.
type Table struct {
	Name  string // a word to ask for it by
	Title string // in a line
	Notes []string
	Head  []string
	Rows  [][]string
}

// Markdown is the table with its notes below it.
func (t Table) Markdown() string {
	var b strings.Builder
	for i, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(row, " | "), "\n", " "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	for _, note := range t.Notes {
		b.WriteString("\n" + printable.Wrap(note, 140, "\n") + "\n")
	}
	return b.String()
}

// Text is the same for a terminal.
func (t Table) Text() string {
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(tab, strings.Join(row, "\t"))
	}
	_ = tab.Flush() // into memory
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	text := strings.Join(lines, "\n")
	for _, note := range t.Notes {
		text += "\n" + printable.Wrap(note, 100, "\n") + "\n"
	}
	return text
}

// figure is a number with about three digits.
func figure(v float64) string {
	decimals := 2
	switch {
	case v >= 100:
		decimals = 0
	case v >= 10:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
