package trend

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
)

// missing stands for what was not measured.
const missing = "–"

// sheet is a table in any form.
type sheet struct {
	columns []string
	rows    [][]string
}

func (s *sheet) write(w io.Writer, form string) error {
	switch form {
	case "csv":
		c := csv.NewWriter(w)
		for _, row := range append([][]string{s.columns}, s.rows...) {
			cells := make([]string, len(row))
			for i, cell := range row {
				if cell != missing {
					cells[i] = printable.Text(cell)
				}
			}
			if err := c.Write(cells); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	case "markdown":
		escape := strings.NewReplacer("|", `\|`, "<", `\<`, "](", `]\(`)
		var b strings.Builder
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)))
		for _, row := range s.rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = escape.Replace(printable.Text(cell))
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{s.columns}, s.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable.Text(cell)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(printable.JSONWriter(w))
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// MediansSchema names the JSON form of medians.
const MediansSchema = "tokenmeter.medians/v1"

// WriteMedians writes groups as a table, Markdown, CSV or JSON.
func WriteMedians(w io.Writer, form string, win Window, groups []Group) error {
	if form == "json" {
		if groups == nil {
			groups = []Group{}
		}
		return writeJSON(w, struct {
			Schema string `json:"schema"`
			Window
			Groups []Group `json:"groups"`
		}{MediansSchema, win, groups})
	}
	s := sheet{columns: []string{"target", "probe", "n", "failed", "wrong", "TTFT ms", "[p25, p75]", "TPOT ms", "[p25, p75]", "o200k tok/s", "[p25, p75]", "cold start ms"}}
	for i := range groups {
		g := &groups[i]
		wrong := missing
		if g.Checked > 0 {
			wrong = fmt.Sprintf("%d of %d", g.Wrong, g.Checked)
		}
		row := []string{g.Target, g.Kind, fmt.Sprint(g.N), fmt.Sprint(g.Failed), wrong}
		for _, m := range []int{TTFT, TPOT, NormTPS} {
			mid, band := g.Metrics[names[m]].words()
			row = append(row, mid, band)
		}
		start := missing
		if c, ok := g.Metrics[ColdStart]; ok {
			start, _ = c.words()
		}
		s.rows = append(s.rows, append(row, start))
	}
	if form == "" || form == "table" {
		fmt.Fprintf(w, "Medians of what was asked from %s to %s (UTC)\n\n", win.From.UTC().Format("2 Jan 15:04"), win.To.UTC().Format("2 Jan 15:04"))
	}
	return s.write(w, form)
}

// words are the median and the middle half.
func (s Spread) words() (mid, band string) {
	x, ok := s.P50.Get()
	if !ok {
		return missing, missing
	}
	return number(x), "[" + number(s.P25.Or(0)) + ", " + number(s.P75.Or(0)) + "]"
}

func number(x float64) string { return metric.Significant(x, 4) }
