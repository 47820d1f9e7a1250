package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
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

// Lenses writes several tools beside each other, a figure of ours at a time: what
// each says, how far that is from ours, and why.
func Lenses(w io.Writer, tables []lens.Table, o Options) error {
	b := bufio.NewWriter(w)
	t := newTerminal(b, o)
	for i, f := range lens.Beside(tables) {
		if i > 0 {
			t.line("")
		}
		t.lensFigure(f)
	}
	t.line("")
	t.paragraph(fmt.Sprintf("%s; of each the median, or the mean where it has none. Through the lens of one tool all of its figures show.",
		typeset.Plural(int64(len(tables)), "tool")))
	noted := map[string]bool{}
	for _, table := range tables {
		for _, note := range table.Notes {
			if !noted[note] {
				noted[note] = true
				t.paragraph(table.Lens + ": " + note)
			}
		}
	}
	return b.Flush()
}

// lensFigure is a figure of ours and what all tools say of it. Where a tool says
// the same there is nothing to explain.
func (t *terminal) lensFigure(f lens.Figure) {
	name, _, _ := strings.Cut(f.Ours, ".")
	title, unit := f.Ours, ""
	if d, err := metric.Lookup(name); err == nil && name == f.Ours {
		title, unit = d.Title, d.Unit
	}
	if unit != "" {
		title += ", " + unit
	} else if name == "requests" {
		unit = name // whole ones
	}
	rows := [][]string{{"tool", "of", "theirs", "ours", "theirs is"}}
	for _, s := range f.States {
		stat := s.Stat
		if stat == "" {
			stat = typeset.Missing
		}
		rows = append(rows, []string{s.Lens, stat, lensValue(s.Theirs, unit), lensValue(s.Ours, unit), sizeOf(s)})
	}
	widths := t.widths(rows)
	t.line(t.text(title))
	for i, row := range rows {
		line := pad(row[0], widths[0]) + "  " + pad(row[1], widths[1])
		for k := 2; k < len(row); k++ {
			line += "  " + padLeft(row[k], widths[k])
		}
		t.line(t.text(line))
		if i == 0 {
			continue
		}
		if s := f.States[i-1]; s.Why != "" && row[4] != same {
			for _, line := range wrap(t.text(s.Name+": "+s.Why), t.width-4, t.width-4) {
				t.line("    " + line)
			}
		}
	}
}

// same is the size of no difference.
const same = "the same"

// sizeOf says how far a tool's figure is from ours.
func sizeOf(s lens.State) string {
	x, ok := s.Change.Get()
	switch {
	case !ok:
		return typeset.Missing
	case math.Abs(x) < 0.00005:
		return same
	case x >= 1:
		return "× " + typeset.Number(1+x, max(0, typeset.DecimalsFor(1+x, 3)))
	}
	sign := "+"
	if x < 0 {
		sign = "−"
	}
	return sign + typeset.Number(100*math.Abs(x), max(0, min(2, typeset.DecimalsFor(100*math.Abs(x), 3)))) + " %"
}

// lensColumns are the widths of a lens table.
type lensColumns struct{ name, theirs, ours int }

func (t *terminal) lens(table lens.Table) {
	t.paragraph(fmt.Sprintf("%s (%s), definitions as of %s", table.Tool, table.Lens, table.AsOf))
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
		t.paragraph(note)
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
