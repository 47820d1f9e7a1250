package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// Gate is a limit that the candidate must keep: on its distance from the
// baseline ("p99 tpot +5%", "ttft p95 +20ms", "throughput -3%", "error rate
// +0.5pp"), or on its own value ("error rate < 1%"), which is an objective.
type Gate struct {
	Text string // in its normal form
	Stat string // p99, mean, share, …
	// Objective is set for limits on the value.
	Objective *objective.Objective
	// Relative says that Limit is a share of the baseline's value; else it is in
	// the metric's unit. Limits are positive, in the bad direction.
	Relative bool
	Limit    float64

	measure *measure
}

// relativeGate is a metric, a sign, an amount and perhaps a unit.
var relativeGate = pattern.Lazy(`^\s*(.*?)\s*([-+−±])\s*([0-9][0-9.,]*)\s*([^\s0-9]*)\s*$`)

// ParseGate reads one gate.
func ParseGate(text string) (Gate, error) {
	m := relativeGate().FindStringSubmatch(text)
	if m == nil || strings.ContainsAny(text, "<>≤≥") {
		o, err := objective.Parse(text)
		if err != nil {
			return Gate{}, fmt.Errorf("gate %q: %w; a gate on the difference is written like \"p99 tpot +5%%\"", text, objective.WithoutText(err))
		}
		if o.Criterion {
			return Gate{}, fmt.Errorf("gate %q: write it as \"p99 tpot < 120ms\" or \"p99 tpot +5%%\"", text)
		}
		return Gate{Text: o.Text, Stat: o.Stat, Objective: &o}, nil
	}
	g, err := relative(m[1], m[2], m[3], m[4])
	if err != nil {
		return Gate{}, fmt.Errorf("gate %q: %w", text, err)
	}
	return g, nil
}

// ParseGates reads all gates, and tells all that is wrong with them.
func ParseGates(texts []string) ([]Gate, error) {
	var gates []Gate
	var errs []error
	for _, t := range texts {
		g, err := ParseGate(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		gates = append(gates, g)
	}
	return gates, errors.Join(errs...)
}

func relative(head, sign, amount, unit string) (Gate, error) {
	o, err := objective.Named(head)
	if err != nil {
		return Gate{}, err
	}
	m := measureNamed(o.Metric)
	if m == nil {
		return Gate{}, fmt.Errorf("%s can't be held against a baseline; these can: %s", o.Metric, strings.Join(measureNames(), ", "))
	}
	g := Gate{Stat: statOf(o, m), measure: m}
	if err := wrongStat(g.Stat, o.Stat, m); err != nil {
		return Gate{}, err
	}
	if bad := map[metric.Better]string{metric.Lower: "+", metric.Higher: "-"}[m.better]; sign == "±" || strings.ReplaceAll(sign, "−", "-") != bad {
		return Gate{}, fmt.Errorf("the bad direction of %s is %s: write %q", o.Metric, map[string]string{"+": "up", "-": "down"}[bad], strings.TrimSpace(head)+" "+bad+amount+unit)
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(amount, ",", ""), 64)
	if err != nil {
		return Gate{}, fmt.Errorf("%q is no number", amount)
	}
	if err := g.amount(x, unit); err != nil {
		return Gate{}, err
	}
	g.Text = g.words()
	return g, nil
}

// statOf is the statistic of a gate; without one the median.
func statOf(o objective.Objective, m *measure) string {
	switch {
	case m.kind == ofShare:
		return statShare
	case m.kind == ofRate:
		return statRate
	case o.Stat == "":
		return "p50"
	}
	return o.Stat
}

func wrongStat(stat, asked string, m *measure) error {
	if _, ok := percentileOf(stat); ok || stat == statMean || stat == statShare || stat == statRate {
		return nil
	}
	return fmt.Errorf("%s is one request's value and can't be tested; choose a percentile or the mean of %s", asked, m.name)
}

// amount sets the limit from a number and a unit.
func (g *Gate) amount(x float64, unit string) error {
	unit = strings.ToLower(unit)
	switch {
	case g.measure.kind == ofShare && (unit == "pp" || unit == "points" || unit == "point"):
		g.Limit = x / 100
		return nil
	case g.measure.kind == ofShare:
		return fmt.Errorf("a share is held in percentage points: write %spp", strconv.FormatFloat(x, 'f', -1, 64))
	case unit == "%":
		g.Relative, g.Limit = true, x/100
		return nil
	case unit == "":
		return fmt.Errorf("the limit has no unit: write %s%% for a share of the baseline, or a unit of %s", strconv.FormatFloat(x, 'f', -1, 64), g.measure.unit)
	}
	o, err := objective.Parse(g.measure.name + " < " + strconv.FormatFloat(x, 'f', -1, 64) + unit)
	if err != nil {
		return objective.WithoutText(err)
	}
	g.Limit = o.Limit
	return nil
}

// words is the normal form.
func (g *Gate) words() string {
	sign := "+"
	if g.measure.better == metric.Higher {
		sign = "-"
	}
	name := strings.ReplaceAll(g.measure.name, "_", " ")
	switch g.measure.kind {
	case ofRequest, ofGaps, ofSession:
		name = g.Stat + " " + g.measure.name
	case ofRate:
		name = g.measure.name
	}
	limit := written(g.Limit*100) + "%"
	switch {
	case g.measure.kind == ofShare:
		limit = written(g.Limit*100) + "pp"
	case !g.Relative:
		limit = written(g.Limit) + strings.ReplaceAll(g.measure.unit, "tokens/s", "tok/s")
	}
	return name + " " + sign + limit
}

// written is a number to ten digits as it can be read again: a sign in an exponent
// would be taken for that of the gate.
func written(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 10, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// GateState says what became of a gate.
type GateState string

// The states. Only Broken changes the exit code; the last two say why there is
// no answer.
const (
	Held             GateState = "held"
	Broken           GateState = "broken"
	GateRefused      GateState = "insufficient"   // too few requests to tell
	GateIncomparable GateState = "not_comparable" // the sides can't be compared
)

// GateResult is what became of a gate with one candidate.
type GateResult struct {
	Text      string             `json:"text"`
	Candidate string             `json:"candidate"`
	Group     *string            `json:"group"`
	Held      timeline.Opt[bool] `json:"held"` // null: there is no answer
	State     GateState          `json:"state"`
	// Settled is false where the limit lies inside the interval: another run
	// could come out otherwise.
	Settled timeline.Opt[bool] `json:"settled"`
	Value   opt                `json:"value"` // on the limit's scale: percent, points or the unit
	Shown   string             `json:"shown"` // the value with its unit, and its interval
	Says    string             `json:"says"`
}

// hold judges a gate for every candidate.
func (r *Result) hold(g Gate, o *Options) []GateResult {
	var list []GateResult
	for _, p := range r.pairs {
		out := GateResult{Text: g.Text, Candidate: r.Candidates[p.candidate].Name}
		if p.label != "" {
			out.Group = &p.label
		}
		switch {
		case silent(p.b) && (g.Objective != nil || !silent(p.a)):
			out.Held, out.State, out.Says = timeline.Some(false), Broken, "none of its requests was answered"
		case g.Objective != nil:
			out.absolute(&g, p.b, o)
		case p.refused:
			out.State, out.Says = GateIncomparable, "the runs can't be compared"
		default:
			out.relative(&g, r.row(p, g.measure, g.Stat))
		}
		list = append(list, out)
	}
	return list
}

// silent reports whether the servers of all the runs answered nothing.
func silent(runs []*Run) bool {
	return !slices.ContainsFunc(runs, func(r *Run) bool { return !r.Facts.Silent })
}

// relative holds the difference against the limit. A gate breaks when the
// candidate is beyond the limit and the difference is real.
func (out *GateResult) relative(g *Gate, row *Row) {
	if row == nil || row.Why != "" {
		out.State, out.Says = GateRefused, "not measured"
		if row != nil {
			out.Says = row.Why
		}
		return
	}
	diff, ci := row.Diff.Or(0), row.CI95
	limit := g.Limit
	switch {
	case g.Relative:
		diff, ci, limit = row.DiffPct.Or(0), row.CI95Pct, limit*100
	case row.Share():
		diff, limit = diff*100, limit*100
		if ci != nil {
			ci = &[2]float64{ci[0] * 100, ci[1] * 100}
		}
	}
	out.Value = timeline.Some(diff)
	out.Shown = shownDifference(diff, ci, g)
	if g.measure.better == metric.Higher {
		diff = -diff
		if ci != nil {
			ci = &[2]float64{-ci[1], -ci[0]}
		}
	}
	beyond := diff > limit
	broken := beyond && row.Real()
	out.Held, out.State = timeline.Some(!broken), Held
	out.Settled = timeline.Some(ci != nil && (ci[1] <= limit || ci[0] > limit))
	switch {
	case broken:
		out.State, out.Says = Broken, "beyond the limit, and the difference is real"
	case beyond:
		out.Says = "beyond the limit, but the difference is not settled"
	case !out.Settled.Or(true):
		out.Says = "inside the limit, but not settled"
	default:
		out.Says = "inside the limit"
	}
}

// shownDifference writes a difference and its interval with the unit of the
// gate's limit.
func shownDifference(diff float64, ci *[2]float64, g *Gate) string {
	unit := " " + g.measure.unit
	switch {
	case g.Relative:
		unit = " %"
	case g.measure.kind == ofShare:
		unit = " pp"
	}
	text := signed(diff) + unit
	if ci != nil {
		text += " [" + signed(ci[0]) + ", " + signed(ci[1]) + "]"
	}
	return text
}

// signed writes a number with its sign and three significant digits.
func signed(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v >= 0 {
		return "+" + text
	}
	return "−" + strings.TrimPrefix(text, "-")
}
