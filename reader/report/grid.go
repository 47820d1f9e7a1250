package report

import (
	"strings"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
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

func newGrid(rows []view.Row) *grid {
	g := &grid{name: 4, unit: 2, n: 1, gap: 3,
		value: make([]int, len(view.Shown)), extra: make([]int, len(view.Shown)), intervals: make([]bool, len(view.Shown))}
	for _, r := range rows {
		g.name, g.n = max(g.name, typeset.Width(r.Name)), max(g.n, typeset.Width(r.N))
		for i, c := range r.Cells {
			g.value[i] = max(g.value[i], typeset.Width(c.Value))
			g.extra[i] = max(g.extra[i], typeset.Width(c.Extra()))
			if c.Lo != "" {
				g.intervals[i] = true
				g.extra[i] = max(g.extra[i], len(intervalHead))
			}
		}
	}
	for i, p := range view.Shown {
		g.value[i] = max(g.value[i], len(view.Percentiles[p].Name))
	}
	if g.total() > 80 {
		g.gap = 2
	}
	return g
}

// newNarrowGrid has the intervals under the values.
func newNarrowGrid(rows []view.Row) *grid {
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
	for i, p := range view.Shown {
		line += strings.Repeat(" ", g.gap) + padLeft(view.Percentiles[p].Name, g.value[i])
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

func (g *grid) line(r view.Row) string {
	line := g.start(r.Name, r.Unit)
	for i, c := range r.Cells {
		line += strings.Repeat(" ", g.gap) + padLeft(c.Value, g.value[i])
		if g.extra[i] > 0 {
			line += " " + pad(c.Extra(), g.extra[i])
		}
	}
	return line + strings.Repeat(" ", g.gap) + padLeft(r.N, g.n)
}

// second is the line of intervals in a narrow grid.
func (g *grid) second(r view.Row) string {
	line := g.start("", "")
	for i, c := range r.Cells {
		line += strings.Repeat(" ", g.gap) + padLeft(c.Extra(), g.value[i])
	}
	return line
}
