package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/metric"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
	"tokenmeter/validity"
)

// sweepView is a sweep in words and cells, from which every form is made.
type sweepView struct {
	s        *result.Sweep
	state    string // of the page: ok, suspect, bad, none
	says     string // the answer, in a sentence
	more     []string
	heads    []string
	rows     []sweepRow
	facts    []fact
	variable sweepVariable
	others   []string // names of what was varied beside the variable
	method   *methodView
}

// sweepRow is a point.
type sweepRow struct {
	cells  []string
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
		name := clean(s.Variable)
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
		return exact(int64(x))
	}
	return strings.TrimRight(strings.TrimRight(number(x, decimalsFor(x, 4)), "0"), ".")
}

// answer is the first sentence.
func (v *sweepView) answer() {
	s := v.s
	valid := 0
	for _, p := range s.Points {
		if p.Validity.Verdict == validity.Valid {
			valid++
		}
	}
	v.state = "ok"
	switch {
	case s.Method != nil:
		v.followed(s.Method)
	case s.Found != nil:
		v.found(s.Found)
	case len(s.Points) == 0:
		v.state, v.says = "none", "Nothing was measured."
	case len(s.Series) > 0:
		v.best()
	case s.Knee != nil && s.Peak != nil:
		v.says = fmt.Sprintf("Throughput stops growing at %s [%s, %s]: the server then delivers %s output tok/s.",
			v.load(s.Knee.Value), v.value(s.Knee.Lo), v.value(s.Knee.Hi), v.tps(s.Peak.TPS, s.Peak.CI95))
	case s.Invalid() > 0 && (s.Variable == "rate" || s.Variable == "concurrency"):
		v.state = "bad"
		v.says = fmt.Sprintf("%d of %d points are invalid, the first by %s: no knee can be told.", s.Invalid(), len(s.Points), firstInvalid(s))
	case s.Variable == "rate" || s.Variable == "concurrency":
		last := s.Points[len(s.Points)-1]
		v.state = "none"
		v.says = fmt.Sprintf("No plateau was reached: throughput still follows the load at %s.", v.load(last.Value))
		v.more = append(v.more, "Sweep further up to find the knee.")
	default:
		first, last := s.Points[0], s.Points[len(s.Points)-1]
		if !numbers(s.Points) {
			v.says = fmt.Sprintf("%s of %s.", plural(int64(len(s.Points)), "measurement"), v.variable.axis)
			break
		}
		v.says = fmt.Sprintf("From %s to %s.", v.load(first.Value), v.load(last.Value))
		if a, okA := first.Metrics["ttft_ms"].P50.Get(); okA {
			if b, okB := last.Metrics["ttft_ms"].P50.Get(); okB {
				v.says = fmt.Sprintf("From %s to %s the first token goes from %s to %s (median).", v.load(first.Value), v.load(last.Value), span(a, digits{round: true}), span(b, digits{round: true}))
			}
		}
	}
	if n := len(s.Points); n > 0 {
		v.more = append(v.more, fmt.Sprintf("%d of %d points valid.", valid, n))
	}
	v.failures()
	v.stopped()
}

// failures says which points the target failed.
func (v *sweepView) failures() {
	n, first := 0, ""
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Error == "" {
			continue
		}
		if n++; n == 1 {
			first = clean(fmt.Sprintf("%s %s: %s", v.variable.axis, v.shown(p), p.Error))
		}
	}
	if n > 0 {
		v.more = append(v.more, fmt.Sprintf("The target failed at %s, the first %s.", plural(int64(n), "point"), strings.TrimSuffix(first, ".")))
	}
}

// stopped says that there was more to come.
func (v *sweepView) stopped() {
	s := v.s
	if !s.Partial {
		return
	}
	if v.state == "ok" {
		v.state = "suspect"
	}
	switch {
	case s.Planned > len(s.Points):
		v.more = append(v.more, fmt.Sprintf("Stopped after %d of %d points.", len(s.Points), s.Planned))
	case s.Found != nil && s.Found.Why == "":
		v.more = append(v.more, "The search was broken off.")
	}
}

// best is the answer of several curves: the one that delivers most.
func (v *sweepView) best() {
	s := v.s
	at, most := -1, 0.0
	for i := range s.Points {
		p := &s.Points[i]
		if tps, ok := p.Throughput.SystemOutputTPS.Get(); ok && tps > most && p.Validity.Verdict != validity.Invalid {
			at, most = i, tps
		}
	}
	if at < 0 {
		v.state, v.says = "bad", "No point is valid."
		return
	}
	v.says = fmt.Sprintf("Most output, %s tok/s, at %s and %s.", rate(most), v.load(s.Points[at].Value), settingWords(s.Others(&s.Points[at])))
}

func settingWords(all []result.Setting) string {
	var words []string
	for _, x := range all {
		words = append(words, clean(x.Name)+" "+clean(x.Value))
	}
	return strings.Join(words, ", ")
}

// numbers reports whether the variable's values are numbers, and not names in
// an order.
func numbers(points []result.Point) bool {
	for _, p := range points {
		if _, err := strconv.ParseFloat(p.Text, 64); p.Text != "" && err != nil {
			return false
		}
	}
	return true
}

// firstInvalid is the check that condemned the first invalid point.
func firstInvalid(s *result.Sweep) string {
	for _, p := range s.Points {
		for _, c := range p.Validity.Checks {
			if c.Verdict == validity.Invalid {
				return c.Name
			}
		}
	}
	return "its checks"
}

func (v *sweepView) tps(x float64, ci *[2]float64) string {
	if ci == nil || !(ci[1] > ci[0]) {
		return rate(x)
	}
	d := digits{width: ci[1] - ci[0]}
	return number(x, max(d.decimals(x), 0))
}

func (v *sweepView) factList() []fact {
	s := v.s
	var out []fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, fact{Label: label, Text: text})
		}
	}
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
		add("per GPU", fmt.Sprintf("%s output tok/s on each of %d", rate(s.Peak.TPS/float64(n)), n))
	}
	for _, one := range s.Series {
		text := "still rises"
		if one.Peak != nil && one.Knee != nil {
			text = fmt.Sprintf("levels off at %s output tok/s, from %s on", v.tps(one.Peak.TPS, one.Peak.CI95), v.load(one.Knee.Value))
		}
		add("curve", settingWords(one.Settings)+": "+text)
	}
	add("order", orderWords(s))
	add("target", strings.TrimSpace(s.Target.Model+" @ "+s.Target.URL))
	for _, w := range s.Warnings {
		add("warning", w.Says)
	}
	return out
}

func orderWords(s *result.Sweep) string {
	if s.Found != nil || len(s.Points) < 2 || len(s.Order) > 1 && slices.IsSorted(s.Order) {
		return ""
	}
	return "points were made in random order, the server at rest before each"
}

func pointSign(p *result.Point) string {
	switch p.Validity.Verdict {
	case validity.Valid:
		return "●"
	case validity.Suspect:
		return "▲"
	case validity.Invalid:
		return "■"
	}
	return "○"
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
			head = clean(name)
		}
		v.heads = append(v.heads, head)
	}
	if rates {
		v.heads = append(v.heads, "done /s")
	}
	v.heads = append(v.heads, "out tok/s", "TTFT p50", "p95 ms", "TPOT p50", "p95 ms")
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
	for i := range v.s.Points {
		p := &v.s.Points[i]
		row := sweepRow{sign: pointSign(p), pareto: best[p.Run]}
		row.cells = []string{v.shown(p)}
		for _, name := range v.others {
			row.cells = append(row.cells, settingOf(p, name))
		}
		if rates {
			row.cells = append(row.cells, shownOr(p.Throughput.RequestsPerS, rate))
		}
		row.cells = append(row.cells, shownOr(p.Throughput.SystemOutputTPS, rate))
		for _, d := range []metric.Dist{p.Metrics["ttft_ms"], p.Metrics["tpot_ms"]} {
			row.cells = append(row.cells, shownOr(d.P50, digits{}.value), shownOr(d.P95, digits{}.value))
		}
		if judged {
			good := missing
			if g := p.Goodput; g != nil {
				good = shownOr(g.Fraction, percent)
				row.bad = g.Missed()
			}
			row.cells = append(row.cells, good)
		}
		if cost {
			row.cells = append(row.cells, costCell(p.Cost))
		}
		row.cells = append(row.cells, failedCell(p))
		v.rows = append(v.rows, row)
	}
}

// shown is the variable's value of a point.
func (v *sweepView) shown(p *result.Point) string {
	if _, err := strconv.ParseFloat(p.Text, 64); err != nil && p.Text != "" {
		return short(clean(p.Text), 32)
	}
	return v.value(p.Value)
}

func settingOf(p *result.Point, name string) string {
	for _, x := range p.Settings {
		if x.Name == name {
			return short(clean(x.Value), 32)
		}
	}
	return missing
}

func shownOr(x timeline.Opt[float64], text func(float64) string) string {
	if v, ok := x.Get(); ok {
		return text(v)
	}
	return missing
}

func costCell(c *metric.Cost) string {
	if c == nil {
		return missing
	}
	return shownOr(c.USDPerMOutput, digits{}.value)
}

func failedCell(p *result.Point) string {
	switch {
	case p.Run == "": // the server was never reached
		return missing
	case p.Requests.Failed == 0:
		return "0"
	}
	return fmt.Sprintf("%s of %s", count(p.Requests.Failed), count(p.Requests.OK+p.Requests.Failed))
}
