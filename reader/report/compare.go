package report

import (
	"fmt"
	"sort"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
)

// versus is a comparison in words and figures, before a form is given to it.
type versus struct {
	says       string
	state      string // class of the verdict: ok | suspect | bad | none
	verdict    string
	sides      []view.Fact
	comparable string
	reasons    []compare.Reason
	tables     []compareTable
	gates      []gateLine
	notes      []string
	untested   []string // where no column says why
	pareto     *paretoTable
}

// compareTable is the rows of one candidate with one workload.
type compareTable struct {
	title string
	a, b  string // what the columns are called
	rows  []compareRow
	scale float64 // percent at the ends of the bars
}

func newVersus(r *compare.Result) *versus {
	c := &versus{says: r.Says, verdict: strings.ToUpper(strings.ReplaceAll(string(r.Verdict), "_", " ")), reasons: r.Comparable.Why}
	c.state = map[compare.Verdict]string{compare.Better: "ok", compare.Same: "ok", compare.Worse: "bad", compare.Mixed: "suspect",
		compare.NotComparable: "bad"}[r.Verdict]
	if c.state == "" {
		c.state = "none"
	}
	c.sides = append(c.sides, sideFact("A", &r.Baseline))
	for i := range r.Candidates {
		c.sides = append(c.sides, sideFact(letter(i+1), &r.Candidates[i]))
	}
	c.comparable = comparableWords(r)
	c.table(r)
	for i := range r.Gates {
		c.gates = append(c.gates, newGateLine(&r.Gates[i], len(r.Candidates) > 1))
	}
	c.notes, c.untested = compareNotes(r), untestedNotes(r)
	if r.Pareto != nil {
		c.pareto, c.says = newPareto(r.Pareto), paretoSays(r.Pareto)
		c.verdict, c.state = "PARETO", "none"
	}
	return c
}

// letter names a side: A, B, C, …
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("#%d", i+1)
}

func sideFact(label string, s *compare.Side) view.Fact {
	text, requests := typeset.Short(s.Name, 80), "unknown requests"
	if n, ok := s.Requests.Get(); ok {
		requests = typeset.Things(n, "request")
	}
	if len(s.Runs) > 1 {
		text += fmt.Sprintf(" (%d runs, %s)", len(s.Runs), requests)
	} else {
		text += fmt.Sprintf(" (%s)", requests)
	}
	return view.Fact{Label: label, Text: text}
}

func comparableWords(r *compare.Result) string {
	switch r.Comparable.Verdict {
	case compare.NotComparableRuns:
		return "no"
	case compare.DoubtfulRuns:
		return "with care"
	}
	return "yes"
}

// table sorts the rows of each candidate: changed, not settled, same.
func (c *versus) table(r *compare.Result) {
	for i, side := range r.Candidates {
		groups := map[string]*compareTable{}
		var order []string
		for j := range r.Rows {
			row := &r.Rows[j]
			if row.Candidate != side.Name {
				continue
			}
			group := row.Label()
			t := groups[group]
			if t == nil {
				t = &compareTable{title: group, a: "A", b: letter(i + 1)}
				if len(r.Candidates) > 1 {
					t.title = strings.TrimPrefix(group+" · "+letter(i+1)+" "+typeset.Short(side.Name, 60), " · ")
				}
				groups[group] = t
				order = append(order, group)
			}
			t.rows = append(t.rows, newCompareRow(row, r))
		}
		for _, group := range order {
			t := groups[group]
			sort.SliceStable(t.rows, func(i, j int) bool { return rankOf(t.rows[i].state) < rankOf(t.rows[j].state) })
			t.scale = scaleOf(t.rows, r.Method.WithinPct)
			c.tables = append(c.tables, *t)
		}
	}
}
