package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/report/typeset"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/timeline"
)

// Lens writes a run under other tools' definitions: their names and values,
// ours beside them, and why the two differ.
func Lens(w io.Writer, tables []lens.Table, o Options) error {
	b := bufio.NewWriter(w)
	t := newTerminal(b, o)
	for i, table := range tables {
		if i > 0 {
			t.line("")
		}
		t.lens(table)
	}
	return b.Flush()
}

// lensColumns are the widths of a lens table.
type lensColumns struct{ name, theirs, ours int }

func (t *terminal) lens(table lens.Table) {
	t.paragraph("", fmt.Sprintf("%s (%s), definitions as of %s", table.Tool, table.Lens, table.AsOf))
	c := lensColumns{name: len("figure"), theirs: len("theirs"), ours: len("ours")}
	for _, r := range table.Rows {
		c.name = max(c.name, typeset.Width(lensName(r)))
		c.theirs = max(c.theirs, typeset.Width(lensValue(r.Value, r.Unit)))
		c.ours = max(c.ours, typeset.Width(lensValue(r.OurValue, r.Unit)))
	}
	c.name = min(c.name, max(12, t.width-c.theirs-c.ours-24))
	t.line(fmt.Sprintf("%s  %s  %s  our name", pad("figure", c.name), padLeft("theirs", c.theirs), padLeft("ours", c.ours)))
	for _, r := range table.Rows {
		t.lensRow(r, c)
	}
	for _, note := range table.Notes {
		t.paragraph("", note)
	}
}

func (t *terminal) lensRow(r lens.Row, c lensColumns) {
	name := t.text(lensName(r))
	if typeset.Width(name) > c.name { // a line of its own: a cut name or unit is another figure
		t.line(name)
		name = ""
	}
	ours := r.Ours
	if ours == "" {
		ours = typeset.Missing
	}
	t.line(fmt.Sprintf("%s  %s  %s  %s", pad(name, c.name), padLeft(t.text(lensValue(r.Value, r.Unit)), c.theirs),
		padLeft(t.text(lensValue(r.OurValue, r.Unit)), c.ours), t.text(ours)))
	if r.Why != "" {
		for _, line := range wrap(t.text(r.Why), t.width-4, t.width-4) {
			t.line("    " + line)
		}
	}
}

// lensName is a figure as the tool prints it, with its unit where the name has
// none.
func lensName(r lens.Row) string {
	words := strings.FieldsFunc(r.Name, func(c rune) bool { return c == '_' || c == '.' || c == ' ' || c == '(' || c == ')' })
	if r.Unit == "" || slices.Contains(words, r.Unit) || len(r.Unit) > 2 && strings.Contains(r.Name, r.Unit) {
		return r.Name
	}
	return r.Name + " " + r.Unit
}

// lensValue keeps four digits: who compares tools looks at small differences.
// Whole requests have no decimals; the mean of some may.
func lensValue(o timeline.Opt[float64], unit string) string {
	v, ok := o.Get()
	switch {
	case !ok:
		return typeset.Missing
	case unit == "requests" && v == math.Trunc(v):
		return typeset.Number(v, 0)
	}
	return typeset.Number(v, max(0, typeset.DecimalsFor(v, 4)))
}
