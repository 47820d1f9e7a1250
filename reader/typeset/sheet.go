package typeset

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
)

// Sheet is a table that can be written in any form.
type Sheet struct {
	Columns []string
	Rows    [][]string // a Missing cell is empty in CSV
}

// Write writes the sheet as csv, markdown or, for any other form, as text whose
// columns stand below each other. Nothing in a cell acts on a terminal.
func (s *Sheet) Write(w io.Writer, form string) error {
	switch form {
	case "csv":
		c := csv.NewWriter(w)
		for _, row := range append([][]string{s.Columns}, s.Rows...) {
			cells := make([]string, len(row))
			for i, cell := range row {
				if cell != Missing {
					cells[i] = printable.Cell(printable.Text(cell))
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
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.Columns, " | "), strings.Repeat("---|", len(s.Columns)))
		for _, row := range s.Rows {
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
	for _, row := range append([][]string{s.Columns}, s.Rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable.Text(cell)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// Numbers is how figures are written in a form: for people with four significant
// digits and thousands apart, in CSV as they are.
func Numbers(form string) func(float64) string {
	if form == "csv" {
		return func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	}
	return func(x float64) string { return metric.Significant(x, 4) }
}

// JSON writes a document for people and programs: indented, nothing escaped but
// what acts on a terminal.
func JSON(w io.Writer, v any) error { return printable.EncodeJSON(w, "  ", v) }
