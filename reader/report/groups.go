package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// GroupsJSON writes the figures of sessions, turns, agents or depths as JSON.
func GroupsJSON(out io.Writer, by string, rows []metric.GroupRow) error {
	return typeset.JSON(out, struct {
		Schema string            `json:"schema"`
		By     string            `json:"by"`
		Rows   []metric.GroupRow `json:"rows"`
	}{"tokenmeter.groups/v1", by, rows})
}

// groupColumn is one column: its name in files, its heading, and how a number is shown.
type groupColumn struct {
	name, head string
	of         func(r *metric.GroupRow) timeline.Opt[float64]
	show       func(x float64) string
}

func whole(of func(r *metric.GroupRow) timeline.Opt[int64]) func(*metric.GroupRow) timeline.Opt[float64] {
	return func(r *metric.GroupRow) timeline.Opt[float64] { return timeline.Float(of(r)) }
}

func groupColumns() []groupColumn {
	count := func(x float64) string { return typeset.Number(x, 0) }
	one := func(x float64) string { return typeset.Number(x, 1) }
	sure := func(of func(r *metric.GroupRow) int64) func(*metric.GroupRow) timeline.Opt[float64] {
		return func(r *metric.GroupRow) timeline.Opt[float64] { return timeline.Some(float64(of(r))) }
	}
	type row = metric.GroupRow
	return []groupColumn{
		{"requests", "requests", sure(func(r *row) int64 { return r.Requests }), count},
		{"ok", "", sure(func(r *row) int64 { return r.OK }), count},
		{"failed", "failed", sure(func(r *row) int64 { return r.Failed }), count},
		{"input_tokens", "input", whole(func(r *row) timeline.Opt[int64] { return r.Input }), count},
		{"cached_tokens", "", whole(func(r *row) timeline.Opt[int64] { return r.Cached }), count},
		{"output_tokens", "output", whole(func(r *row) timeline.Opt[int64] { return r.Output }), count},
		{"cache_hit_rate", "cache hits", func(r *row) timeline.Opt[float64] { return r.CacheHit }, typeset.Percent},
		{"ideal_hit_rate", "ideal", func(r *row) timeline.Opt[float64] { return r.IdealHit }, typeset.Percent},
		{"ttft_p50_ms", "TTFT p50 ms", func(r *row) timeline.Opt[float64] { return r.TTFT50 }, one},
		{"ttft_p90_ms", "p90", func(r *row) timeline.Opt[float64] { return r.TTFT90 }, one},
		{"e2e_p50_ms", "E2E p50 ms", func(r *row) timeline.Opt[float64] { return r.E2E50 }, one},
		{"e2e_p90_ms", "p90", func(r *row) timeline.Opt[float64] { return r.E2E90 }, one},
		{"duration_ms", "session ms", func(r *row) timeline.Opt[float64] { return r.Duration }, count},
		{"model_ms", "model", func(r *row) timeline.Opt[float64] { return r.Model }, count},
		{"tools_ms", "tools", func(r *row) timeline.Opt[float64] { return r.Tools }, count},
		{"cost_usd", "USD", func(r *row) timeline.Opt[float64] { return r.CostUSD }, func(x float64) string { return metric.Significant(x, 3) }},
	}
}

// GroupsCSV writes a line for each group, every figure in full.
func GroupsCSV(out io.Writer, by string, rows []metric.GroupRow) error {
	t := newCSV(out)
	columns := groupColumns()
	t.row(groupRow(by, columns, func(c *groupColumn) string { return c.name })...)
	for i := range rows {
		t.row(groupRow(printable.Text(rows[i].Group), columns, func(c *groupColumn) string { return plainOr(c.of(&rows[i])) })...)
	}
	return t.end()
}

// groupRow is a row of a table: the group and a cell for each column.
func groupRow(group string, columns []groupColumn, cell func(*groupColumn) string) []string {
	row := []string{group}
	for i := range columns {
		row = append(row, cell(&columns[i]))
	}
	return row
}

// shownColumns are those of tables: without what only files have, and without
// columns in which nothing is known.
func shownColumns(rows []metric.GroupRow) (out []groupColumn) {
	for _, c := range groupColumns() {
		known := false
		for i := range rows {
			known = known || c.of(&rows[i]).OK()
		}
		if c.head != "" && known {
			out = append(out, c)
		}
	}
	return out
}

// GroupsMarkdown writes a table.
func GroupsMarkdown(out io.Writer, by string, rows []metric.GroupRow) error {
	b := bufio.NewWriter(out)
	m := &markdown{b}
	columns := shownColumns(rows)
	m.row(groupRow(by, columns, func(c *groupColumn) string { return c.head })...)
	m.printf("|---|%s\n", strings.Repeat("---:|", len(columns)))
	for i := range rows {
		m.row(groupRow(rows[i].Group, columns, func(c *groupColumn) string { return shownOr(c.of(&rows[i]), c.show) })...)
	}
	return b.Flush()
}

// mostGroups is how many lines a table for people has.
const mostGroups = 50

// GroupsTerminal writes a table for people.
func GroupsTerminal(out io.Writer, by string, rows []metric.GroupRow) error {
	var b strings.Builder
	columns := shownColumns(rows)
	wide := len(by)
	for i := range rows {
		wide = max(wide, min(len(rows[i].Group), 40))
	}
	line := func(row []string) {
		fmt.Fprintf(&b, "%-*s", wide, row[0])
		for _, cell := range row[1:] {
			fmt.Fprintf(&b, " %11s", cell)
		}
		b.WriteByte('\n')
	}
	line(groupRow(by, columns, func(c *groupColumn) string { return c.head }))
	for i := range rows {
		if i == mostGroups {
			fmt.Fprintf(&b, "and %d more: --format csv has all\n", len(rows)-i)
			break
		}
		line(groupRow(typeset.Clean(rows[i].Group), columns, func(c *groupColumn) string { return shownOr(c.of(&rows[i]), c.show) }))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
