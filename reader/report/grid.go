package report

import (
	"strings"
	"tokenmeter/reader/report/typeset"
)

// grid lays the table out in columns: name and unit, for each percentile a
// value and what stands behind it, n.
type grid struct {
	name, unit int
	value      []int
	extra      []int // 0 in a narrow grid: on the second line
	n          int
	gap        int
	intervals  []bool // the column holds an interval
}

// intervalHead is the head of a column of intervals.
const intervalHead = "[95 % CI]"

func newGrid(rows []row) *grid {
	g := &grid{name: 4, unit: 2, n: 1, gap: 3,
		value: make([]int, len(shown)), extra: make([]int, len(shown)), intervals: make([]bool, len(shown))}
	for _, r := range rows {
		g.name, g.n = max(g.name, typeset.Width(r.name)), max(g.n, typeset.Width(r.n))
		for i, c := range r.cells {
			g.value[i] = max(g.value[i], typeset.Width(c.value))
			g.extra[i] = max(g.extra[i], typeset.Width(c.extra()))
			if c.lo != "" {
				g.intervals[i] = true
				g.extra[i] = max(g.extra[i], len(intervalHead))
			}
		}
	}
	for i, p := range shown {
		g.value[i] = max(g.value[i], len(percentiles[p].name))
	}
	if g.total() > 80 {
		g.gap = 2
	}
	return g
}

// newNarrowGrid has the intervals under the values.
func newNarrowGrid(rows []row) *grid {
	g := newGrid(rows)
	g.gap = 2
	for i := range g.value {
		g.value[i] = max(g.value[i], g.extra[i])
		g.extra[i] = 0
	}
	return g
}

func (g *grid) total() int {
	n := g.name + 1 + g.unit
	for i := range g.value {
		n += g.gap + g.value[i]
		if g.extra[i] > 0 {
			n += 1 + g.extra[i]
		}
	}
	return n + g.gap + g.n
}

func (g *grid) start(name, unit string) string {
	return pad(name, g.name) + " " + pad(unit, g.unit)
}

func (g *grid) header() string {
	line := g.start("", "")
	for i, p := range shown {
		line += strings.Repeat(" ", g.gap) + padLeft(percentiles[p].name, g.value[i])
		if g.extra[i] > 0 {
			note := ""
			if g.intervals[i] {
				note = intervalHead
			}
			line += " " + pad(note, g.extra[i])
		}
	}
	return line + strings.Repeat(" ", g.gap) + padLeft("n", g.n)
}

func (g *grid) line(r row) string {
	line := g.start(r.name, r.unit)
	for i, c := range r.cells {
		line += strings.Repeat(" ", g.gap) + padLeft(c.value, g.value[i])
		if g.extra[i] > 0 {
			line += " " + pad(c.extra(), g.extra[i])
		}
	}
	return line + strings.Repeat(" ", g.gap) + padLeft(r.n, g.n)
}

// second is the line of intervals in a narrow grid.
func (g *grid) second(r row) string {
	line := g.start("", "")
	for i, c := range r.cells {
		line += strings.Repeat(" ", g.gap) + padLeft(c.extra(), g.value[i])
	}
	return line
}
