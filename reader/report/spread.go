package report

import (
	"encoding/csv"
	"fmt"
	"io"
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
	w := csv.NewWriter(out)
	lines := [][]string{{"metric", "stat", "unit", "run", "value"}}
	for _, r := range rows {
		for i, v := range r.Runs {
			text := ""
			if x, ok := v.Get(); ok {
				text = fmt.Sprint(x)
			}
			lines = append(lines, []string{r.Metric, r.Stat, r.Unit, fmt.Sprint(i + 1), text})
		}
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	return w.Error()
}

// SpreadMarkdown writes a table.
func SpreadMarkdown(out io.Writer, name string, v SeveralValidity, rows []compare.SpreadRow) error {
	var b strings.Builder
	if v.Says != "" {
		fmt.Fprintf(&b, "%s\n\n", md(v.Says))
	}
	fmt.Fprintf(&b, "**%s**, %d repeats\n\n| figure | together | lowest | highest | spread of runs |\n|---|---:|---:|---:|---:|\n", md(name), repeatsOf(rows))
	for _, r := range rows {
		c := spreadCells(&r)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c[0], c[1], c[2], c[3], c[4])
	}
	_, err := io.WriteString(out, b.String())
	return err
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
	lo, hi, any := 0.0, 0.0, false
	for _, v := range r.Runs {
		x, ok := v.Get()
		if !ok {
			continue
		}
		if !any || x < lo {
			lo = x
		}
		if !any || x > hi {
			hi = x
		}
		any = true
	}
	if any {
		c[2], c[3] = typeset.Digits{}.Value(lo*scale), typeset.Digits{}.Value(hi*scale)
	}
	if x, ok := r.Together.Get(); ok {
		c[1] = typeset.Digits{}.Value(x * scale)
	}
	if x, ok := r.SpreadPct.Get(); ok {
		c[4] = typeset.Digits{}.Value(x) + spread
	}
	return c
}
