package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/timeline"
)

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

func rankOf(state string) int {
	return slices.Index([]string{string(compare.Worse), string(compare.Better), string(compare.Unclear), string(compare.Same), "untested"}, state)
}

// scaleOf is the end of the bars: all of most intervals (an untested difference has none), and at least the
// margin twice.
func scaleOf(rows []compareRow, margin float64) float64 {
	var ends []float64
	for _, r := range rows {
		if r.bar != nil && r.bar.lo < r.bar.hi { // the tested ones
			ends = append(ends, math.Max(math.Abs(r.bar.lo), math.Abs(r.bar.hi)))
		}
	}
	slices.Sort(ends)
	end := 2 * margin
	if len(ends) > 0 {
		end = math.Max(end, ends[(len(ends)-1)*4/5])
	}
	return chart.Above125(end)
}

func newCompareRow(row *compare.Row, r *compare.Result) compareRow {
	out := compareRow{name: rowName(row), a: typeset.Missing, b: typeset.Missing, diff: typeset.Missing, verdict: row.Word(), state: string(row.Verdict), why: row.Why}
	scale, unit := rowScale(row)
	out.unit = unit
	if row.Why != "" {
		out.state = "untested"
	}
	a, okA := row.A.Get()
	b, okB := row.B.Get()
	decimals := max(typeset.Digits{}.Decimals(a*scale), typeset.Digits{}.Decimals(b*scale))
	if row.Share() {
		decimals = max(decimals, 1)
	}
	if okA {
		out.a = typeset.Number(a*scale, decimals)
	}
	if okB {
		out.b = typeset.Number(b*scale, decimals)
	}
	out.tip = fmt.Sprintf("n %s and %s, %s", typeset.Exact(row.NA), typeset.Exact(row.NB), "unit of analysis: "+string(row.UnitOfAnalysis))
	if p, ok := row.PAdjusted.Get(); ok {
		out.tip += ", p (Holm) " + typeset.Digits{}.Value(p)
	}
	out.difference(row, r)
	if row.Verdict == compare.Same {
		out.verdict += " (± " + marginOf(row, r) + ")"
	}
	return out
}

func marginOf(row *compare.Row, r *compare.Result) string {
	if row.Share() {
		return typeset.AxisNumber(r.Method.WithinPoints) + " pp"
	}
	return typeset.AxisNumber(r.Method.WithinPct) + " %"
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

func (out *compareRow) difference(row *compare.Row, r *compare.Result) {
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
		out.diff = plus(v, typeset.Number(v, 1)) + " " + unit
		if !row.Share() && row.Why != "" && math.Abs(v) > 2*r.Method.WithinPct {
			out.bar = &bar{v, v, v} // a large difference must catch the eye, tested or not
		}
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
		if hi-lo >= 4*p && typeset.Side(typeset.Round(lo, dec), 0) == typeset.Side(lo, 0) && typeset.Side(typeset.Round(hi, dec), 0) == typeset.Side(hi, 0) {
			break
		}
	}
	if hi-lo > 200 {
		dec = 0
	}
	return plus(v, typeset.Number(v, dec)), plus(lo, typeset.Number(lo, dec)), plus(hi, typeset.Number(hi, dec))
}

func plus(v float64, text string) string {
	if v > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}
