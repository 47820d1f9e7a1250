package report

import (
	_ "embed"
	"fmt"
	"io"
	"iter"
	"strings"

	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

type timelines = iter.Seq2[*timeline.Timeline, error]

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// HTML writes one self-contained page: no script is needed to read it, nothing
// is loaded from elsewhere. It goes through the requests once; nil, or requests
// without arrivals, leave a sentence in place of the charts that need them.
func HTML(w io.Writer, r *run.Run, requests iter.Seq2[*timeline.Timeline, error]) error {
	p := newPage(r, requests)
	return writePage(w, typeset.Short(title(r), 120), pageCSS, pageJS, p.content)
}

// page is what its content shows: the view of a run, and what only a page has room for.
type page struct {
	*view.View
	run              *run.Run
	seen             *gather.Gathered
	state, sign      string    // of the whole: a class (ok, suspect, bad, none) and its sign
	missed, findings []finding // of each missed objective; and seen together with them
	curves, times    []chart.Figure
	noTimes          string // why nothing is drawn over time; empty: something is
}

// stated is a line that begins with a sign and a word: an objective, a gate, a check.
type stated struct{ class, sign, mark, text, says string }

type tile struct {
	Label, Value, Unit, Sub string
	State                   string // class of the sign; empty without an objective
	Sign                    string
	Link                    string
}

func newPage(r *run.Run, requests timelines) *page {
	v, c := view.New(r), gather.From(r, requests)
	p := &page{View: v, run: r, seen: c, missed: whyMissed(r, v, c), findings: findings(r, v, c)}
	p.state, p.sign = outcome(v)
	p.charts()
	return p
}

// whyHead is the head of the findings.
func whyHead(v *view.View) string {
	for _, o := range v.Objectives {
		if o.State == view.Missed || o.State == view.Voided && strings.Contains(o.Says, "would fail") {
			return "Why it failed"
		}
	}
	if v.Verdict == view.Suspect || v.Verdict == view.Invalid {
		return "Why it is " + strings.ToLower(v.Verdict)
	}
	return "Why requests failed"
}

func title(r *run.Run) string {
	parts := []string{}
	for _, s := range []string{r.Name, r.Target.Model, r.ID} {
		if s != "" {
			parts = append(parts, typeset.Short(s, 60))
		}
	}
	return strings.Join(append(parts, "tokenmeter"), " · ")
}

// when names the zone, so that nobody has to guess whose clock it was.
func when(r *run.Run) string {
	if r.Started.IsZero() {
		return ""
	}
	return r.Started.UTC().Format("2 Jan 2006 15:04:05 UTC")
}

// outcome is the class and the sign of the whole: a failed objective is a failure,
// whatever the measurement is worth, and one that nothing decides is no success.
func outcome(v *view.View) (class, sign string) {
	class, sign = stateOf(v.Verdict)
	for _, o := range v.Objectives {
		switch {
		case o.State == view.Missed:
			return stateOf(view.Missed)
		case (o.State == view.Open || o.State == view.Voided) && class == "ok":
			class, sign = stateOf(o.State)
		}
	}
	return class, sign
}

// signs stand for the classes of a state.
var signs = map[string]string{"ok": "●", "suspect": "▲", "bad": "■", "none": "○"}

// stateOf is the class and the sign of a state.
func stateOf(state string) (class, sign string) {
	class = "none"
	switch strings.ToUpper(state) {
	case view.Valid, view.Held:
		class = "ok"
	case view.Suspect:
		class = "suspect"
	case view.Invalid, view.Missed:
		class = "bad"
	}
	return class, signs[class]
}

// pooledCurve is of gaps, which are pooled over requests.
func pooledCurve(gaps interface {
	Len() int64
	Frozen(unit float64) *stat.Counted
}) *chart.Curve {
	k := &chart.Curve{Pooled: true}
	if gaps.Len() > 0 {
		k.Sample = gaps.Frozen(1000)
	}
	return k
}

// curveOf says which colour a latency has, and the values behind it.
func curveOf(c *gather.Gathered, key string) (class string, curve *chart.Curve) {
	switch key {
	case "ttft_ms":
		return "s1", sampleCurve(c, ttft)
	case "tpot_ms":
		return "s2", sampleCurve(c, tpot)
	case "e2e_ms":
		return "s4", sampleCurve(c, func(q *gather.Request) float64 { return q.E2E })
	}
	return "", nil
}

func sampleCurve(c *gather.Gathered, of func(*gather.Request) float64) *chart.Curve {
	if s := c.Sample(of); len(s) > 0 {
		return &chart.Curve{Sample: s}
	}
	return &chart.Curve{}
}

func (p *page) charts() {
	r, c := p.run, p.seen
	for _, row := range p.Rows {
		class, k := curveOf(c, row.Key)
		switch row.Key {
		case "itl_ms":
			class, k = "s2", pooledCurve(&c.ITL)
		case "icl_ms":
			class, k = "s2", pooledCurve(&c.ICL)
		}
		if k == nil {
			continue
		}
		k.Row, k.Dist, k.Class = row, r.Metrics[row.Key], class
		k.Limits = chart.LimitsOf(r, metric.WithoutUnit(row.Key))
		p.curves = append(p.curves, chart.PercentileFigure(k))
	}
	if c.N == 0 {
		p.noTimes = "There are no single requests to draw: none was measured, or this report was made without the run's records."
		p.times = chart.ServerFigures(r, c)
		return
	}
	if !r.Wordless() {
		p.times = []chart.Figure{chart.HeatFigure(c, chart.LimitsOf(r, "itl", "icl", "max_gap"))}
	}
	p.times = append(p.times, append(chart.SeriesFigures(c, !r.Wordless()), chart.ServerFigures(r, c)...)...)
}

// terms are the definitions of the names on the page.
func terms(r *run.Run, rows []view.Row) []metric.Definition {
	var list []metric.Definition
	for _, row := range rows {
		if d, err := metric.Lookup(row.Key); err == nil {
			list = append(list, d)
		}
	}
	_, rateName, _ := served(r)
	for _, name := range []string{rateName, "requests_per_s", "sustained_tps", "goodput.fraction", "goodput.requests_per_s", "error_rate", "client_lag_ms"} {
		if d, err := metric.Lookup(name); err == nil && d.Name == name {
			list = append(list, d)
		}
	}
	return list
}

func workload(r *run.Run) []view.Fact {
	var l view.Facts
	l.Add("model", r.Target.Model)
	l.Add("API", r.Target.API)
	l.Add("address", r.Target.URL)
	l.Add("server", r.Target.Server)
	l.Add("load", r.Load.Line())
	if n, ok := r.Load.Requests.Get(); ok && n > 0 {
		l.Add("asked for", typeset.Plural(n, "request"))
	}
	if s, ok := r.Load.DurationS.Get(); ok && s > 0 {
		l.Add("duration", typeset.Span(s*1e3, typeset.Digits{Round: true}))
	}
	l.Add("warm-up", r.Load.Warmup)
	l.Add("prompts", strings.TrimSpace(r.Workload.Kind+" "+r.Workload.Source))
	l.Add("input tokens asked", r.Workload.InputTokens)
	l.Add("output tokens asked", r.Workload.OutputTokens)
	if n, ok := r.Workload.UniquePrompts.Get(); ok {
		l.Add("different prompts", typeset.Exact(n))
	}
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if d := r.Metrics[name]; d.N > 0 && d.P50.OK() && d.Mean.OK() {
			l.Add(strings.ReplaceAll(name, "_", " ")+" measured",
				fmt.Sprintf("mean %s, p50 %s, n %s", typeset.Digits{}.Value(d.Mean.Or(0)), typeset.Digits{}.Value(d.P50.Or(0)), typeset.Count(d.N)))
		}
	}
	if r.Tokenizer != nil {
		l.Add("tokenizer", *r.Tokenizer)
	}
	return l
}

func machine(r *run.Run) []view.Fact {
	var l view.Facts
	e := r.Environment
	l.Add("run", r.ID)
	l.Add("name", r.Name)
	for _, k := range view.SortedKeys(r.Tags) {
		l.Add("tag "+typeset.Clean(k), r.Tags[k])
	}
	if !r.Started.IsZero() {
		l.Add("started", when(r))
	}
	if r.Finished != nil {
		l.Add("finished", r.Finished.UTC().Format("2 Jan 2006 15:04:05 UTC"))
	}
	l.Add("system", strings.TrimSpace(e.OS+" "+e.Kernel))
	if e.CPUs > 0 {
		l.Add("processors", strings.TrimSpace(fmt.Sprintf("%d × %s", e.CPUs, e.CPUModel)))
	}
	if q, ok := e.CPUQuota.Get(); ok {
		l.Add("processor limit", typeset.Digits{}.Value(q)+" cores")
	}
	if e.Container {
		l.Add("container", "yes")
	}
	if load, ok := e.Load1.Get(); ok {
		l.Add("load at the start", typeset.Number(load, 2))
	}
	if r.Client.ConnectionsOpened > 0 {
		l.Add("connections opened", typeset.Exact(r.Client.ConnectionsOpened))
	}
	if r.Client.MaxInFlight > 0 {
		l.Add("most in flight", typeset.Exact(r.Client.MaxInFlight))
	}
	if busy, ok := r.Client.CPUBusy.Get(); ok {
		l.Add("client's processors busy", typeset.Percent(busy))
	}
	l.Add("seed", fmt.Sprint(r.Seed))
	l.Add("tokenmeter", strings.TrimSpace(r.Version+" "+e.Go))
	return l
}
