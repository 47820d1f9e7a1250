package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/compare"
	"tokenmeter/timeline"
)

// versus is a comparison in words and figures, before a form is given to it.
type versus struct {
	says       string
	state      string // class of the verdict: ok | suspect | bad | none
	verdict    string
	sides      []fact
	comparable string
	reasons    []compare.Reason
	tables     []compareTable
	gates      []gateLine
	notes      []string
	pareto     *paretoTable
}

// compareTable is the rows of one candidate with one workload.
type compareTable struct {
	title string
	a, b  string // what the columns are called
	rows  []compareRow
	scale float64 // percent at the ends of the bars
}

// compareRow is one figure.
type compareRow struct {
	name, unit, a, b string
	diff             string // "+5.5 % [+4.6, +6.3]"
	verdict          string
	state            string // worse | better | same | unclear
	why              string
	bar              *bar // nil where there is nothing to draw
	tip              string
}

// bar is a difference and its interval in percent.
type bar struct{ lo, at, hi float64 }

type gateLine struct{ mark, state, text, says string }

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
	c.notes = compareNotes(r)
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

func sideFact(label string, s *compare.Side) fact {
	text := short(s.Name, 80)
	if len(s.Runs) > 1 {
		text += fmt.Sprintf(" (%d runs, %s requests)", len(s.Runs), exact(s.Requests))
	} else {
		text += fmt.Sprintf(" (%s requests)", exact(s.Requests))
	}
	return fact{label, text}
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
			group := ""
			if row.Group != nil {
				group = *row.Group
			}
			t := groups[group]
			if t == nil {
				t = &compareTable{title: group, a: "A", b: letter(i + 1)}
				if len(r.Candidates) > 1 {
					t.title = strings.TrimPrefix(group+" · "+letter(i+1)+" "+short(side.Name, 60), " · ")
				}
				groups[group] = t
				order = append(order, group)
			}
			t.rows = append(t.rows, newCompareRow(row, r))
		}
		for _, group := range order {
			t := groups[group]
			slices.SortStableFunc(t.rows, func(a, b compareRow) int { return rankOf(a.state) - rankOf(b.state) })
			t.scale = scaleOf(t.rows, r.Method.WithinPct)
			c.tables = append(c.tables, *t)
		}
	}
}

func rankOf(state string) int {
	return slices.Index([]string{string(compare.Worse), string(compare.Better), string(compare.Unclear), string(compare.Same), "untested"}, state)
}

// scaleOf is the end of the bars: all of most intervals, and at least the
// margin twice.
func scaleOf(rows []compareRow, margin float64) float64 {
	var ends []float64
	for _, r := range rows {
		if r.bar != nil {
			ends = append(ends, math.Max(math.Abs(r.bar.lo), math.Abs(r.bar.hi)))
		}
	}
	slices.Sort(ends)
	end := 2 * margin
	if len(ends) > 0 {
		end = math.Max(end, ends[(len(ends)-1)*4/5])
	}
	return above125(end)
}

func newCompareRow(row *compare.Row, r *compare.Result) compareRow {
	out := compareRow{name: rowName(row), a: missing, b: missing, diff: missing, verdict: row.Word(), state: string(row.Verdict), why: row.Why}
	scale, unit := rowScale(row)
	out.unit = unit
	if row.Why != "" {
		out.state = "untested"
	}
	a, okA := row.A.Get()
	b, okB := row.B.Get()
	decimals := max(digits{}.decimals(a*scale), digits{}.decimals(b*scale))
	if row.Share() {
		decimals = max(decimals, 1)
	}
	if okA {
		out.a = number(a*scale, decimals)
	}
	if okB {
		out.b = number(b*scale, decimals)
	}
	out.tip = fmt.Sprintf("n %s and %s, %s", exact(row.NA), exact(row.NB), "unit of analysis: "+string(row.UnitOfAnalysis))
	if p, ok := row.PAdjusted.Get(); ok {
		out.tip += ", p (Holm) " + digits{}.value(p)
	}
	out.difference(row)
	if row.Verdict == compare.Same {
		out.verdict += " (± " + marginOf(row, r) + ")"
	}
	return out
}

func marginOf(row *compare.Row, r *compare.Result) string {
	if row.Share() {
		return axisNumber(r.Method.WithinPoints) + " pp"
	}
	return axisNumber(r.Method.WithinPct) + " %"
}

func rowName(row *compare.Row) string {
	switch row.Stat {
	case "share", "rate":
		return row.Title()
	}
	return row.Title() + " " + row.Stat
}

// rowScale gives the unit of a row: seconds for long latencies, percent for
// shares.
func rowScale(row *compare.Row) (float64, string) {
	switch {
	case row.Share():
		return 100, "%"
	case row.Unit == "ms" && math.Max(row.A.Or(0), row.B.Or(0)) >= 10_000:
		return 1e-3, "s"
	case row.Unit == "tokens/s":
		return 1, "tok/s"
	}
	return 1, row.Unit
}

func (out *compareRow) difference(row *compare.Row) {
	value, ci, unit := row.DiffPct, row.CI95Pct, "%"
	if row.Share() {
		unit = "pp"
		if d, ok := row.Diff.Get(); ok {
			value = timeline.Some(100 * d)
		}
		if row.CI95 != nil {
			ci = &[2]float64{100 * row.CI95[0], 100 * row.CI95[1]}
		}
	}
	v, ok := value.Get()
	if !ok {
		return
	}
	if ci == nil {
		out.diff = plus(v, number(v, 1)) + " " + unit
		return
	}
	at, lo, hi := differenceDigits(v, ci[0], ci[1])
	out.diff = fmt.Sprintf("%s %s [%s, %s]", at, unit, lo, hi)
	if !row.Share() {
		out.bar = &bar{ci[0], v, ci[1]}
	}
}

// differenceDigits writes a difference and its interval with one decimal, more
// where the interval is narrow, and so that no end rounds to zero.
func differenceDigits(v, lo, hi float64) (at, low, high string) {
	dec := 1
	for ; dec < 6; dec++ {
		p := math.Pow10(-dec)
		if hi-lo >= 4*p && side(round(lo, dec), 0) == side(lo, 0) && side(round(hi, dec), 0) == side(hi, 0) {
			break
		}
	}
	if hi-lo > 200 {
		dec = 0
	}
	return plus(v, number(v, dec)), plus(lo, number(lo, dec)), plus(hi, number(hi, dec))
}

func plus(v float64, text string) string {
	if v > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

func newGateLine(g *compare.GateResult, several bool) gateLine {
	l := gateLine{text: g.Text, says: gateSays(g)}
	if g.Group != nil {
		l.text += " (" + *g.Group + ")"
	}
	if several {
		l.text += " (" + short(g.Candidate, 40) + ")"
	}
	settled := g.Settled.Or(true)
	switch g.State {
	case compare.Held:
		l.mark, l.state = "HELD", held
		if !settled {
			l.state = open
		}
	case compare.Broken:
		l.mark, l.state = "BROKEN", missed
	default:
		l.mark, l.state = "NO ANSWER", open
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
				more = append(more, fmt.Sprintf("%s %s a side", rowName(row), plural(m.Runs, "more run")))
			case m.Requests > 0:
				more = append(more, fmt.Sprintf("%s about %s more requests a side", rowName(row), exact(m.Requests)))
			}
		}
	}
	switch {
	case unit[compare.ByBlock]:
		notes = append(notes, fmt.Sprintf("One run a side: intervals hold within these runs, and only differences beyond ± %s %%, which runs of one server may have, count. Repeat each side four times or more, taking turns, for an answer about the servers.",
			axisNumber(r.Method.RunNoisePct)))
	case unit[compare.ByRun]:
		notes = append(notes, "The run is the unit of analysis: intervals come from the spread between runs.")
	}
	if len(more) > 0 {
		for i, m := range more {
			more[i] = strings.Replace(m, "1 more run a", "one more run a", 1)
		}
		notes = append(notes, "To settle: "+strings.Join(more, "; ")+".")
	}
	return notes
}

// paretoSays names the runs that nothing dominates.
func paretoSays(p *compare.Pareto) string {
	front := p.Front()
	switch len(front) {
	case 0:
		return "No run has all of the figures, so none can be placed."
	case 1:
		return short(front[0], 60) + " is at least as good as every other placed run in all figures."
	}
	for i := range front {
		front[i] = short(front[i], 60)
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
		row := []string{short(pt.Name, 60)}
		for i, v := range pt.Values {
			x, ok := v.Get()
			if !ok {
				row = append(row, missing)
				continue
			}
			if p.Axes[i].Unit == "ratio" {
				x *= 100
			}
			row = append(row, digits{}.value(x))
		}
		switch {
		case !pt.Placed:
			row = append(row, "not placed")
		case pt.Dominated:
			row = append(row, "○ dominated by "+short(strings.Join(pt.DominatedBy, ", "), 60))
		default:
			row = append(row, "● not dominated")
		}
		t.rows = append(t.rows, row)
	}
	return t
}
