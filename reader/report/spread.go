package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/typeset"
)

// SpreadJSON writes the repeats of one server as JSON.
func SpreadJSON(out io.Writer, name string, v SeveralValidity, rows []compare.SpreadRow) error {
	return typeset.JSON(out, struct {
		Schema   string              `json:"schema"`
		Name     string              `json:"name"`
		Validity SeveralValidity     `json:"validity"`
		Rows     []compare.SpreadRow `json:"rows"`
	}{"tokenmeter.repeats/v1", name, v, rows})
}

// SpreadCSV writes a line for each figure and run.
func SpreadCSV(out io.Writer, rows []compare.SpreadRow) error {
	c := newCSV(out)
	c.row("metric", "stat", "unit", "run", "value")
	for _, r := range rows {
		for i, v := range r.Runs {
			c.row(r.Metric, r.Stat, r.Unit, fmt.Sprint(i+1), plainOr(v))
		}
	}
	return c.end()
}

// SpreadMarkdown writes a table.
func SpreadMarkdown(out io.Writer, name string, v SeveralValidity, rows []compare.SpreadRow) error {
	b := bufio.NewWriter(out)
	m := &markdown{b}
	if v.Says != "" {
		m.printf("%s\n\n", md(v.Says))
	}
	m.printf("**%s**, %d repeats\n\n| figure | together | lowest | highest | spread of runs |\n|---|---:|---:|---:|---:|\n", md(name), repeatsOf(rows))
	for _, r := range rows {
		cells := spreadCells(&r)
		m.row(cells[:]...)
	}
	return b.Flush()
}

// SpreadTerminal writes a table for people.
func SpreadTerminal(out io.Writer, name string, v SeveralValidity, rows []compare.SpreadRow) error {
	var b strings.Builder
	if v.Says != "" {
		fmt.Fprintf(&b, "%s\n\n", typeset.Clean(v.Says))
	}
	fmt.Fprintf(&b, "%s, %d repeats\n\n%-20s %12s %12s %12s %14s\n", typeset.Clean(name), repeatsOf(rows), "", "together", "lowest run", "highest run", "spread of runs")
	for _, r := range rows {
		c := spreadCells(&r)
		fmt.Fprintf(&b, "%-20s %12s %12s %12s %14s\n", c[0], c[1], c[2], c[3], c[4])
	}
	b.WriteString("\nThe spread is the standard deviation between runs. A difference that is to be found\nwants to be larger than it, or more runs.\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func repeatsOf(rows []compare.SpreadRow) int {
	if len(rows) == 0 {
		return 0
	}
	return len(rows[0].Runs)
}

// spreadCells are a row as text: its name, the figure of all values, the lowest
// and the highest of the runs, and the spread.
func spreadCells(r *compare.SpreadRow) [5]string {
	name, unit, scale, spread := r.Title, r.Unit, 1.0, " %"
	switch r.Stat {
	case "share", "rate":
	default:
		name += " " + r.Stat
	}
	switch r.Unit {
	case "ratio":
		scale, unit, spread = 100, "%", " pp"
	case "tokens/s":
		unit = "tok/s"
	}
	c := [5]string{name + " " + unit, typeset.Missing, typeset.Missing, typeset.Missing, typeset.Missing}
	var known []float64
	for _, v := range r.Runs {
		if x, ok := v.Get(); ok {
			known = append(known, x)
		}
	}
	shown := func(x float64) string { return typeset.Digits{}.Value(x * scale) }
	if len(known) > 0 {
		c[2], c[3] = shown(slices.Min(known)), shown(slices.Max(known))
	}
	c[1] = shownOr(r.Together, shown)
	c[4] = shownOr(r.SpreadPct, func(x float64) string { return typeset.Digits{}.Value(x) + spread })
	return c
}
