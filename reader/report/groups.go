package report

import (
	"encoding/csv"
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
	w := csv.NewWriter(out)
	columns := groupColumns()
	line := []string{by}
	for _, c := range columns {
		line = append(line, c.name)
	}
	lines := [][]string{line}
	for i := range rows {
		line := []string{printable.Cell(printable.Text(rows[i].Group))}
		for _, c := range columns {
			line = append(line, plainOr(c.of(&rows[i])))
		}
		lines = append(lines, line)
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	return w.Error()
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
	var b strings.Builder
	columns := shownColumns(rows)
	fmt.Fprintf(&b, "| %s |", by)
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.head)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for i := range rows {
		fmt.Fprintf(&b, "| %s |", md(rows[i].Group))
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", shownOr(c.of(&rows[i]), c.show))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
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
	fmt.Fprintf(&b, "%-*s", wide, by)
	for _, c := range columns {
		fmt.Fprintf(&b, " %11s", c.head)
	}
	b.WriteByte('\n')
	for i := range rows {
		if i == mostGroups {
			fmt.Fprintf(&b, "and %d more: --format csv has all\n", len(rows)-i)
			break
		}
		fmt.Fprintf(&b, "%-*s", wide, typeset.Clean(rows[i].Group))
		for _, c := range columns {
			fmt.Fprintf(&b, " %11s", shownOr(c.of(&rows[i]), c.show))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}
