package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/typeset"
)

// CompareTerminal writes a comparison: the verdict in a sentence, whether the
// sides did the same work, the table with the differences as small bars, the
// gates and what would settle what is open.
func CompareTerminal(w io.Writer, r *compare.Result, o Options) error {
	b := bufio.NewWriter(w)
	newTerminal(b, o).versus(newVersus(r))
	return b.Flush()
}

func (t *terminal) versus(c *versus) {
	t.paragraph(c.says)
	for _, s := range c.sides {
		t.labelled(s.Label+"  ", s.Text, 3, "")
	}
	if c.pareto != nil {
		t.line("")
		t.pareto(c.pareto)
		return
	}
	t.labelled("comparable  ", c.comparable, 12, "")
	for _, r := range c.reasons {
		t.labelled("  "+pad(string(r.Level), 8), r.Says, 10, colours[string(r.Level)])
	}
	for _, table := range c.tables {
		t.line("")
		t.compareTable(&table)
	}
	if len(c.gates) > 0 {
		t.line("")
	}
	for _, g := range c.gates {
		t.labelled(pad(g.mark, 9)+"  ", g.text+": "+g.says, 11, colours[g.state])
	}
	t.why()
	notes := slices.Concat(c.notes, c.untested)
	if len(notes) > 0 {
		t.line("")
	}
	for _, n := range notes {
		t.paragraph(n)
	}
}

// compareGrid is the widths of the columns; bar 0: there is no room for bars.
type compareGrid struct{ name, unit, a, b, diff, bar, verdict int }

func (t *terminal) compareGrid(table *compareTable) compareGrid {
	g := compareGrid{a: len(table.a), b: len(table.b), diff: len("difference, 95 % sure")}
	shown := func(s string) int { return typeset.Width(t.text(s)) }
	for _, r := range table.rows {
		g.name, g.unit = max(g.name, shown(r.name)), max(g.unit, shown(r.unit))
		g.a, g.b = max(g.a, shown(r.a)), max(g.b, shown(r.b))
		g.diff, g.verdict = max(g.diff, shown(r.diff)), max(g.verdict, shown(r.verdict))
	}
	left := t.width - g.total()
	if left >= 9+2 {
		g.bar = min(left-2, 21)
		if g.bar%2 == 0 {
			g.bar--
		}
	}
	return g
}

// total is the width without the bar.
func (g *compareGrid) total() int {
	return g.name + 1 + g.unit + 1 + g.a + 1 + g.b + 2 + g.diff + 2 + g.verdict
}

func (t *terminal) compareTable(table *compareTable) {
	if table.title != "" {
		t.line(t.text(table.title))
	}
	g := t.compareGrid(table)
	if g.total() > t.width {
		t.compareList(table)
		return
	}
	head := strings.Repeat(" ", g.name+1+g.unit) + " " + padLeft(table.a, g.a) + " " + padLeft(table.b, g.b) + "  " + pad("difference, 95 % sure", g.diff)
	if g.bar > 0 {
		head += "  " + barHead(table.scale, g.bar)
	}
	t.line(t.text(head))
	drawn := false
	for i := range table.rows {
		t.compareRow(&table.rows[i], table, &g)
		drawn = drawn || g.bar > 0 && table.rows[i].bar != nil
	}
	if drawn {
		s := glyphBar
		if t.o.ASCII {
			s = asciiBar
		}
		t.line(fmt.Sprintf("%c difference  %c%c its interval  %c%c it goes on beyond the scale", s.point, s.from, s.to, s.less, s.more))
	}
}

func (t *terminal) compareRow(r *compareRow, table *compareTable, g *compareGrid) {
	line := pad(r.name, g.name) + " " + pad(r.unit, g.unit) + " " + padLeft(r.a, g.a) + " " + padLeft(r.b, g.b) + "  " + pad(r.diff, g.diff)
	line = t.text(line)
	if g.bar > 0 {
		line += "  " + barText(r.bar, table.scale, g.bar, t.o.ASCII)
	}
	t.line(line + "  " + t.colour(t.text(r.verdict), colours[r.state]))
}

// compareList has two lines a row, for narrow terminals.
func (t *terminal) compareList(table *compareTable) {
	for _, r := range table.rows {
		t.line(t.text(fmt.Sprintf("%s %s: ", r.name, r.unit)) + t.colour(t.text(r.verdict), colours[r.state]))
		t.line(t.text(fmt.Sprintf("  %s %s  %s %s  %s", table.a, r.a, table.b, r.b, r.diff)))
	}
}

// barHead labels the ends and the middle of the bars.
func barHead(scale float64, n int) string {
	end := typeset.AxisNumber(scale)
	left, right := "−"+end+" %", "+"+end+" %"
	if typeset.Width(left)+typeset.Width(right)+3 > n {
		left, right = "−"+end, "+"+end
	}
	if typeset.Width(left)+typeset.Width(right)+3 > n {
		return pad(strings.Repeat(" ", n/2)+"0", n)
	}
	gap := n/2 - typeset.Width(left)
	return left + strings.Repeat(" ", gap) + "0" + strings.Repeat(" ", n-n/2-1-typeset.Width(right)) + right
}

type barSigns struct{ zero, line, from, to, point, cross, less, more rune }

var (
	glyphBar = barSigns{'│', '─', '├', '┤', '●', '┼', '‹', '›'}
	asciiBar = barSigns{'|', '-', '[', ']', '*', '+', '<', '>'}
)

// barText draws an interval around its estimate on a line with the zero in the
// middle. What lies beyond the scale ends in an arrow.
func barText(b *bar, scale float64, n int, ascii bool) string {
	signs := glyphBar
	if ascii {
		signs = asciiBar
	}
	cells := []rune(strings.Repeat(" ", n))
	middle := n / 2
	cells[middle] = signs.zero
	if b == nil {
		return string(cells)
	}
	at := func(v float64) int {
		x := middle + int(math.Round(v/scale*float64(middle)))
		return min(max(x, 0), n-1)
	}
	lo, hi := at(b.lo), at(b.hi)
	for i := lo; i <= hi; i++ {
		cells[i] = signs.line
		if i == middle {
			cells[i] = signs.cross
		}
	}
	if lo < hi {
		cells[lo], cells[hi] = signs.from, signs.to
	}
	if b.lo < -scale*1.001 {
		cells[lo] = signs.less
	}
	if b.hi > scale*1.001 {
		cells[hi] = signs.more
	}
	if math.Abs(b.at) <= scale*1.001 {
		cells[at(b.at)] = signs.point
	}
	return string(cells)
}

func (t *terminal) pareto(p *paretoTable) {
	rows := append([][]string{p.heads}, p.rows...)
	widths := t.widths(rows)
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			switch i {
			case 0:
				line += pad(cell, widths[i])
			case len(row) - 1:
				line += "   " + cell
			default:
				line += "   " + padLeft(cell, widths[i])
			}
		}
		t.line(t.text(line))
	}
}
