package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tokenmeter/reader/compare"
)

// CompareMarkdown writes a comparison as Markdown, for pull requests and the
// summary page of a CI job.
func CompareMarkdown(w io.Writer, r *compare.Result) error {
	b := bufio.NewWriter(w)
	m := &markdown{b}
	m.versus(newVersus(r))
	return b.Flush()
}

func (m *markdown) versus(c *versus) {
	m.printf("**%s.** %s\n\n", md(c.verdict), md(c.says))
	for _, g := range c.gates {
		m.printf("- **%s** %s: %s\n", g.mark, md(g.text), md(g.says))
	}
	if len(c.gates) > 0 {
		m.printf("\n")
	}
	for _, s := range c.sides {
		m.printf("%s: %s  \n", s.Label, md(s.Text))
	}
	m.printf("Comparable: %s.\n\n", c.comparable)
	for _, r := range c.reasons {
		m.printf("- **%s** %s\n", r.Level, md(r.Says))
	}
	if len(c.reasons) > 0 {
		m.printf("\n")
	}
	if c.pareto != nil {
		m.paretoTable(c.pareto)
		return
	}
	for _, t := range c.tables {
		if t.title != "" {
			m.printf("%s\n\n", md(t.title))
		}
		m.printf("| | %s | %s | difference, 95 %% sure | verdict |\n|---|---:|---:|---:|---|\n", t.a, t.b)
		for _, r := range t.rows {
			verdict := r.verdict
			if r.state == string(compare.Worse) || r.state == string(compare.Better) {
				verdict = "**" + verdict + "**"
			} else if r.why != "" {
				verdict += " (" + md(r.why) + ")"
			}
			m.printf("| %s %s | %s | %s | %s | %s |\n", md(r.name), r.unit, r.a, r.b, md(r.diff), verdict)
		}
		m.printf("\n")
	}
	for _, n := range c.notes {
		m.printf("%s\n\n", md(n))
	}
}

func (m *markdown) paretoTable(p *paretoTable) {
	m.row(p.heads...)
	m.printf("|---|%s---|\n", strings.Repeat("---:|", len(p.heads)-2))
	for _, row := range p.rows {
		m.row(row...)
	}
	m.printf("\n")
}

// CompareCSV writes one line a figure with the fields of the JSON form,
// unrounded; what was not measured is empty.
func CompareCSV(w io.Writer, r *compare.Result) error {
	c := newCSV(w)
	c.row("candidate", "group", "metric", "stat", "unit", "a", "b", "n_a", "n_b", "diff", "diff_pct",
		"ci95_lo", "ci95_hi", "ci95_pct_lo", "ci95_pct_hi", "unit_of_analysis", "p", "p_permutation", "p_adjusted", "verdict", "why", "unsettled")
	for i := range r.Rows {
		row := &r.Rows[i]
		lo, hi := plainEnds(row.CI95)
		loPct, hiPct := plainEnds(row.CI95Pct)
		c.row(row.Candidate, row.Label(), row.Metric, row.Stat, row.Unit, plainOr(row.A), plainOr(row.B),
			strconv.FormatInt(row.NA, 10), strconv.FormatInt(row.NB, 10), plainOr(row.Diff), plainOr(row.DiffPct),
			lo, hi, loPct, hiPct, string(row.UnitOfAnalysis), plainOr(row.P), plainOr(row.PPermutation), plainOr(row.PAdjusted), string(row.Verdict), row.Why, row.Unsettled)
	}
	return c.end()
}

// CompareJSON writes the result as it is.
func CompareJSON(w io.Writer, r *compare.Result) error {
	data, err := r.JSON()
	if err != nil {
		return fmt.Errorf("the result can't be written as JSON: %w", err)
	}
	_, err = w.Write(data)
	return err
}
