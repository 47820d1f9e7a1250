package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// sweepView is a sweep in words and cells, from which every form is made.
type sweepView struct {
	s           *result.Sweep
	state       string // of the page: ok, suspect, bad, none
	says        string // the answer, in a sentence
	more        []string
	heads       []string
	rows        []sweepRow
	notes       []string // on the columns
	saidInvalid int      // invalid points that a sentence names
	spare       []int    // columns that give way first where there is little room
	facts       []view.Fact
	variable    sweepVariable
	others      []string // names of what was varied beside the variable

	anyFailed bool // of the requests of any point
	method    *methodView
}

// sweepRow is a point.
type sweepRow struct {
	cells  []string
	class  string // of the sign
	sign   string // ● valid ▲ suspect ■ invalid ○ unknown
	bad    bool   // an objective was missed
	pareto bool
}

// sweepVariable is what a sweep varies, in words.
type sweepVariable struct {
	head string // of a column
	unit string // behind a number
	axis string
}

var sweepVariables = map[string]sweepVariable{
	"rate":          {"rate /s", "requests/s", "offered requests/s"},
	"concurrency":   {"streams", "streams", "streams"},
	"input_tokens":  {"input", "input tokens", "input tokens"},
	"output_tokens": {"output", "output tokens", "output tokens"},
}

func newSweepView(s *result.Sweep) *sweepView {
	v := &sweepView{s: s, variable: sweepVariables[s.Variable]}
	if v.variable.head == "" {
		name := typeset.Clean(s.Variable)
		v.variable = sweepVariable{name, name, name}
	}
	for _, name := range s.Axes {
		if name != s.Variable {
			v.others = append(v.others, name)
		}
	}
	v.answer()
	v.table()
	v.method = newMethodView(s.Method)
	v.facts = v.factList()
	return v
}

// load writes a value of the variable with its unit.
func (v *sweepView) load(x float64) string { return v.value(x) + " " + v.variable.unit }

func (v *sweepView) value(x float64) string {
	if x == float64(int64(x)) {
		return typeset.Exact(int64(x))
	}
	return strings.TrimRight(strings.TrimRight(typeset.Number(x, typeset.DecimalsFor(x, 4)), "0"), ".")
}

func (v *sweepView) tps(x float64, ci *[2]float64) string {
	if ci == nil || !(ci[1] > ci[0]) {
		return typeset.Rate(x)
	}
	d := typeset.Digits{Width: ci[1] - ci[0]}
	return typeset.Number(x, max(d.Decimals(x), 0))
}

func (v *sweepView) factList() []view.Fact {
	s := v.s
	var out view.Facts
	add := out.Add
	if s.Peak != nil {
		text := v.tps(s.Peak.TPS, s.Peak.CI95) + " output tok/s"
		if ci := s.Peak.CI95; ci != nil {
			text += fmt.Sprintf(" [%s, %s]", v.tps(ci[0], ci), v.tps(ci[1], ci))
		}
		add("plateau", fmt.Sprintf("%s, from %s on", text, v.load(s.Peak.From)))
	}
	if s.Knee != nil {
		add("knee", fmt.Sprintf("%s [%s, %s]", v.load(s.Knee.Value), v.value(s.Knee.Lo), v.value(s.Knee.Hi)))
	}
	if n, ok := s.GPUs.Get(); ok && s.Peak != nil && n > 0 {
		add("per GPU", fmt.Sprintf("%s output tok/s on each of %d", typeset.Rate(s.Peak.TPS/float64(n)), n))
	}
	for i, one := range s.Series {
		add("curve", settingWords(one.Settings)+": "+v.curve(&s.Series[i]))
	}
	v.roofline(add)
	add("order", orderWords(s))
	if s.Target != (run.Target{}) {
		add("target", strings.TrimSpace(s.Target.Model+" @ "+s.Target.URL))
	}
	for _, w := range s.Warnings {
		add("warning", w.Says)
	}
	return out
}

func orderWords(s *result.Sweep) string {
	if s.Searched() || len(s.Points) < 2 || len(s.Order) > 1 && slices.IsSorted(s.Order) {
		return ""
	}
	return "points were made in random order, the server at rest before each"
}

// mark is the sign, and what else marks a point; front: a star for the Pareto front too.
func (r *sweepRow) mark(front bool) string {
	mark := r.sign
	if r.bad {
		mark += " ✗"
	}
	if r.pareto && front {
		mark += " *"
	}
	return mark
}

// table makes a row a point.
func (v *sweepView) table() {
	rates, cost := v.s.Variable == "rate", false
	for _, p := range v.s.Points {
		cost = cost || p.Cost != nil
	}
	v.heads = []string{v.variable.head}
	for _, name := range v.others {
		head := sweepVariables[name].head
		if head == "" {
			head = typeset.Clean(name)
		}
		v.heads = append(v.heads, head)
	}
	if rates {
		v.heads = append(v.heads, "done /s")
	}
	kind := productOf(v.all)
	v.heads = append(v.heads, kind.head)
	hasRoofline := v.hasRoofline()
	if hasRoofline {
		v.heads = append(v.heads, rooflineHeads...)
	}
	for _, l := range kind.latencies {
		v.heads = append(v.heads, l.name+" p50", "p95", strings.TrimSpace("p99 "+l.unit))
		v.spare = append(v.spare, len(v.heads)-v.lessAsked(l.objective))
	}
	judged := len(v.s.Objectives) > 0
	if judged {
		v.heads = append(v.heads, "good")
	}
	if cost {
		v.heads = append(v.heads, "$/M out")
	}
	v.heads = append(v.heads, "failed")
	best := map[string]bool{}
	for _, p := range v.s.Pareto {
		best[p.Run] = true
	}
	anyShort := false
	for i := range v.s.Points {
		p := &v.s.Points[i]
		row := sweepRow{pareto: best[p.Run]}
		row.class, row.sign = stateOf(p.Validity.Verdict)
		short := v.s.Short(p)
		anyShort = anyShort || short
		row.cells = []string{v.shown(p)}
		for _, name := range v.others {
			row.cells = append(row.cells, settingOf(p, name))
		}
		if rates {
			row.cells = append(row.cells, pace(p.Throughput.RequestsPerS, short))
		}
		row.cells = append(row.cells, pace(p.Throughput.Rate(kind.column), short))
		if hasRoofline {
			row.cells = append(row.cells, rooflineCells(p.Roofline)...)
		}
		for _, l := range kind.latencies {
			d := p.Metrics[l.key]
			row.cells = append(row.cells, shownOr(d.P50, typeset.Digits{}.Value), shownOr(d.P95, typeset.Digits{}.Value), shownOr(d.P99, typeset.Digits{}.Value))
		}
		if judged {
			row.bad = p.State() == objective.Missed && !v.s.Searched() || v.s.Searched() && p.Goodput.Missed()
			row.cells = append(row.cells, shownOr(v.goodShare(p), typeset.Percent))
		}
		if cost {
			row.cells = append(row.cells, costCell(p.Cost))
		}
		row.cells = append(row.cells, failedCell(p))
		v.anyFailed = v.anyFailed || p.Requests.Failed > 0
		v.rows = append(v.rows, row)
	}
	if hasRoofline {
		v.notes = append(v.notes, "at most: output tok/s that the hardware allows the requests that decoded at once; MBU, MFU: shares of its bandwidth and arithmetic that were used.")
	}
	if anyShort {
		v.notes = append(v.notes, "No throughput stands where a probe was too short for it beside the time that a request takes.")
	}
	if judged && v.s.Searched() {
		v.notes = append(v.notes, "good: of the requests of a probe that the search judged, under the objective nearest to its limit.")
	}
}

// all reports whether something holds of every point that has answers, and there is one.
func (v *sweepView) all(holds func(*run.Run) bool) bool {
	any := false
	for i := range v.s.Points {
		r := run.Run{Summary: metric.Summary{Requests: v.s.Points[i].Requests, Metrics: v.s.Points[i].Metrics}}
		if r.Requests.OK == 0 {
			continue
		}
		if !holds(&r) {
			return false
		}
		any = true
	}
	return any
}

// lessAsked is which of the last columns of a latency gives way first where a screen is
// narrow: its p99 (the last), or its p95 where an objective is on the p99.
func (v *sweepView) lessAsked(metric string) int {
	for _, o := range v.s.Objectives {
		if strings.HasPrefix(o, "p99 "+metric+" ") {
			return 2
		}
	}
	return 1
}

// pace is a rate over a run; a probe that is too short has none.
func pace(x timeline.Opt[float64], short bool) string {
	if short {
		return typeset.Missing
	}
	return shownOr(x, typeset.Rate)
}

// goodShare is the share of good requests: of a probe as the search judged it.
func (v *sweepView) goodShare(p *result.Point) (share timeline.Opt[float64]) {
	switch st := v.s.Step(p); {
	case st != nil:
		return st.Share
	case p.Goodput != nil:
		return p.Goodput.Fraction
	}
	return share
}

// shown is the variable's value of a point.
func (v *sweepView) shown(p *result.Point) string {
	if _, err := strconv.ParseFloat(p.Text, 64); err != nil && p.Text != "" {
		return typeset.Short(typeset.Clean(p.Text), 32)
	}
	return v.value(p.Value)
}

func settingOf(p *result.Point, name string) string {
	for _, x := range p.Settings {
		if x.Name == name {
			return typeset.Short(typeset.Clean(x.Value), 32)
		}
	}
	return typeset.Missing
}

func shownOr(x timeline.Opt[float64], text func(float64) string) string {
	if v, ok := x.Get(); ok {
		return text(v)
	}
	return typeset.Missing
}

func costCell(c *metric.Cost) string {
	if c == nil {
		return typeset.Missing
	}
	return shownOr(c.USDPerMOutput, typeset.Digits{}.Value)
}

func failedCell(p *result.Point) string {
	_, silent := p.Silent()
	switch {
	case p.Run == "": // the server was never reached
		return typeset.Missing
	case silent && p.Requests.Failed == 0:
		return "none answered"
	case p.Requests.Failed == 0:
		return "0"
	}
	return fmt.Sprintf("%s of %s", typeset.Count(p.Requests.Failed), typeset.Count(p.Requests.OK+p.Requests.Failed))
}
