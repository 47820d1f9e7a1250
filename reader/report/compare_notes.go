package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
)

type gateLine struct{ mark, state, text, says string }

func newGateLine(g *compare.GateResult, several bool) gateLine {
	l := gateLine{text: g.Text, says: gateSays(g)}
	if g.Group != nil {
		l.text += " (" + *g.Group + ")"
	}
	if several {
		l.text += " (" + typeset.Short(g.Candidate, 40) + ")"
	}
	settled := g.Settled.Or(true)
	switch g.State {
	case compare.Held:
		l.mark, l.state = "HELD", view.Held
		if !settled {
			l.state = view.Open
		}
	case compare.Broken:
		l.mark, l.state = "BROKEN", view.Missed
	default:
		l.mark, l.state = "NO ANSWER", view.Open
	}
	return l
}

func gateSays(g *compare.GateResult) string {
	if g.Shown == "" {
		return g.Says
	}
	return g.Shown + ", " + g.Says
}

// refusals are the names that --allow takes.
func refusals(r *compare.Result) []string {
	var names []string
	for _, why := range r.Comparable.Why {
		if why.Level == compare.Refuse && !slices.Contains(names, why.Name) {
			names = append(names, why.Name)
		}
	}
	return names
}

// compareNotes say how to read the table and what would settle it.
func compareNotes(r *compare.Result) []string {
	var notes []string
	if refused := refusals(r); len(refused) > 0 {
		notes = append(notes, fmt.Sprintf("To compare all the same: --allow %s.", strings.Join(refused, ",")))
	}
	unit := map[compare.Unit]bool{}
	var more []string
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Why == "" {
			unit[row.UnitOfAnalysis] = true
		}
		if m := row.More; m != nil && len(more) < 3 {
			switch {
			case m.Runs > 0:
				more = append(more, fmt.Sprintf("%s %s a side", rowName(row), typeset.Plural(m.Runs, "more run")))
			case m.Requests > 0:
				more = append(more, fmt.Sprintf("%s about %s more requests a side", rowName(row), typeset.Exact(m.Requests)))
			}
		}
	}
	switch {
	case unit[compare.ByRequest]:
		notes = append(notes, fmt.Sprintf("One run a side: intervals hold within these runs, and only differences beyond ± %s %%, which runs of one server may have, count. Repeat each side four times or more, taking turns, for an answer about the servers.",
			typeset.AxisNumber(r.Method.RunNoisePct)))
	case unit[compare.ByRound]:
		notes = append(notes, "The round is the unit of analysis: both sides of a round are compared with each other, so what differs from round to round is in no interval.")
	case unit[compare.ByRun]:
		notes = append(notes, "The run is the unit of analysis: intervals come from the spread between runs.")
	}
	notes = append(notes, leftOutNotes(r)...)
	notes = append(notes, unsettledNotes(r)...)
	if len(more) > 0 {
		for i, m := range more {
			more[i] = strings.Replace(m, "1 more run a", "one more run a", 1)
		}
		notes = append(notes, "To settle: "+strings.Join(more, "; ")+".")
	}
	return notes
}

// leftOutNotes say which answers are not in ITL, so that it may be of other answers on
// each side.
func leftOutNotes(r *compare.Result) (notes []string) {
	for i := range r.Rows {
		if note := "ITL: " + r.Rows[i].LeftOut + "."; r.Rows[i].LeftOut != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// unsettledNotes say what keeps figures from a verdict.
func unsettledNotes(r *compare.Result) []string {
	return because("Not settled", r, func(row *compare.Row) (why, name string) { return row.Unsettled, rowName(row) })
}

// untestedNotes say why figures have no test.
func untestedNotes(r *compare.Result) []string {
	if r.Verdict == compare.NotComparable {
		return nil
	}
	const tooFew = "too few requests, since those close in time are alike and count as fewer; in brackets how many in all a side would do"
	notes := because("Not tested", r, func(row *compare.Row) (why, name string) {
		if n := row.Needed(); n > 0 {
			return tooFew, rowName(row) + " (" + typeset.Exact(n) + ")"
		}
		return row.Why, rowName(row)
	})
	return append(notes, tailNotes(r)...)
}

// tailNotes say how a tail is compared of which the runs are too short to tell a percentile:
// as the share of requests within a limit. The limit has to be set before anybody looked.
func tailNotes(r *compare.Result) []string {
	var tail *compare.Row // the one that looks worst
	worst := func(row *compare.Row) float64 {
		if !row.Bad() {
			return 0
		}
		return math.Abs(row.DiffPct.Or(0))
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Metric == "goodput" {
			return nil
		}
		if row.Needed() > 0 && row.Stat != "p50" && strings.HasSuffix(row.Metric, "_ms") && (tail == nil || row.Metric != tail.Metric && worst(row) > worst(tail)) {
			tail = row
		}
	}
	if tail == nil {
		return nil
	}
	return []string{fmt.Sprintf(`Fewer requests tell the share of those within a limit: measure both sides with --objective "%s %s < LIMIT", set before you look, and compare with --gate "goodput -1pp".`,
		tail.Stat, strings.TrimSuffix(tail.Metric, "_ms"))}
}

// because has a line for each reason, with the figures that have it.
func because(what string, r *compare.Result, reason func(*compare.Row) (why, name string)) []string {
	var order []string
	figures := map[string][]string{}
	for i := range r.Rows {
		why, name := reason(&r.Rows[i])
		if why == "" {
			continue
		}
		if figures[why] == nil {
			order = append(order, why)
		}
		if !slices.Contains(figures[why], name) {
			figures[why] = append(figures[why], name)
		}
	}
	lines := make([]string, 0, len(order))
	for _, why := range order {
		lines = append(lines, fmt.Sprintf("%s (%s): %s.", what, why, strings.Join(figures[why], ", ")))
	}
	return lines
}

// paretoSays names the runs that nothing dominates.
func paretoSays(p *compare.Pareto) string {
	front := p.Front()
	switch len(front) {
	case 0:
		return "No run has all of the figures, so none can be placed."
	case 1:
		return typeset.Short(front[0], 60) + " is at least as good as every other placed run in all figures."
	}
	for i := range front {
		front[i] = typeset.Short(front[i], 60)
	}
	return "Nothing is better in every figure than " + strings.Join(front[:len(front)-1], ", ") + " or " + front[len(front)-1] + "."
}

// paretoTable places runs by several figures.
type paretoTable struct {
	heads []string
	rows  [][]string
}

func newPareto(p *compare.Pareto) *paretoTable {
	t := &paretoTable{heads: []string{"run"}}
	for _, a := range p.Axes {
		name := a.Title
		if a.Stat != "" && a.Stat != "share" && a.Stat != "rate" {
			name += " " + a.Stat
		}
		arrow := "↑"
		if a.Better == "lower" {
			arrow = "↓"
		}
		unit := a.Unit
		switch unit {
		case "tokens/s":
			unit = "tok/s"
		case "ratio":
			unit = "%"
		case "USD":
			unit = ""
		}
		t.heads = append(t.heads, strings.TrimSpace(name+" "+unit)+" "+arrow)
	}
	t.heads = append(t.heads, "placed")
	for _, pt := range p.Points {
		row := []string{typeset.Short(pt.Name, 60)}
		for i, v := range pt.Values {
			x, ok := v.Get()
			if !ok {
				row = append(row, typeset.Missing)
				continue
			}
			if p.Axes[i].Unit == "ratio" {
				x *= 100
			}
			row = append(row, typeset.Digits{}.Value(x))
		}
		switch {
		case !pt.Placed:
			row = append(row, "not placed")
		case pt.Dominated:
			row = append(row, "○ dominated by "+typeset.Short(strings.Join(pt.DominatedBy, ", "), 60))
		default:
			row = append(row, "● not dominated")
		}
		t.rows = append(t.rows, row)
	}
	return t
}
