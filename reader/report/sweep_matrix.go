package report

import (
	"fmt"
	"slices"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// matrix is a figure by two axes: the time per token by context and batch.
type matrix struct {
	Title, Sub string
	Head       []string
	Rows       [][]string
}

// matrices are the figures of a sweep of two axes: rows are the other axis,
// columns the variable.
func (v *sweepView) matrices() []matrix {
	if len(v.others) != 1 || len(v.s.Points) < 4 {
		return nil
	}
	other := sweepVariables[v.others[0]]
	if other.axis == "" {
		other = sweepVariable{typeset.Clean(v.others[0]), "", typeset.Clean(v.others[0])}
	}
	median := func(name string) func(*result.Point) timeline.Opt[float64] {
		return func(p *result.Point) timeline.Opt[float64] { return p.Metrics[name].P50 }
	}
	var out []matrix
	for _, f := range []struct {
		title, sub string
		of         func(*result.Point) timeline.Opt[float64]
	}{
		{"First token", "TTFT p50 in ms", median("ttft_ms")},
		{"Time per token", "TPOT p50 in ms", median("tpot_ms")},
		{"Throughput", "output tok/s of the whole server", func(p *result.Point) timeline.Opt[float64] { return p.Throughput.SystemOutputTPS }},
	} {
		m := matrix{Title: fmt.Sprintf("%s by %s and %s", f.title, other.axis, v.variable.axis), Sub: f.sub + "; the mean of repeats, without invalid ones"}
		m.Head, m.Rows = v.cross(other.head, f.of)
		out = append(out, m)
	}
	return out
}

// cross is the table itself.
func (v *sweepView) cross(corner string, of func(*result.Point) timeline.Opt[float64]) (head []string, rows [][]string) {
	var columns, lines []string
	cells := map[[2]string]*[2]float64{}
	for i := range v.s.Points {
		p := &v.s.Points[i]
		column, line := v.shown(p), settingOf(p, v.others[0])
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if x, ok := of(p).Get(); ok && p.Validity.Verdict != validity.Invalid {
			at := [2]string{line, column}
			if cells[at] == nil {
				cells[at] = &[2]float64{}
			}
			cells[at][0] += x
			cells[at][1]++
		}
	}
	head = append([]string{corner + " \\ " + v.variable.head}, columns...)
	for _, line := range lines {
		row := []string{line}
		for _, column := range columns {
			text := typeset.Missing
			if c := cells[[2]string{line, column}]; c != nil {
				text = metric.Significant(c[0]/c[1], 3)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// curves name the curves of a sweep of more than one axis; nil where there is
// one curve.
func (v *sweepView) curves() (names []string) {
	groups := v.s.Groups()
	if len(groups) < 2 {
		return nil
	}
	for _, g := range groups {
		names = append(names, settingWords(g.Settings))
	}
	return names
}

// series is the curve that a point belongs to.
func (v *sweepView) series(p *result.Point) int {
	others := v.s.Others(p)
	for i, g := range v.s.Groups() {
		if slices.Equal(g.Settings, others) {
			return i
		}
	}
	return 0
}
