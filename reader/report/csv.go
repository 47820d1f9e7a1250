package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"tokenmeter/base/printable"
	"tokenmeter/reader/report/view"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// CSV writes one row a figure: metric, stat, value, n, ci_lo, ci_hi. Values
// are those of run.json, unrounded; what was not measured is empty.
func CSV(w io.Writer, r *run.Run) error {
	c := newCSV(w)
	c.row("metric", "stat", "value", "n", "ci_lo", "ci_hi")
	for _, name := range view.SortedKeys(r.Metrics) {
		c.dist(name, r.Metrics[name])
	}
	c.throughput(&r.Throughput)
	c.requests(&r.Requests)
	c.goodput(r)
	c.items(r)
	return c.end()
}

type csvTable struct{ w *csv.Writer }

func newCSV(w io.Writer) *csvTable { return &csvTable{w: csv.NewWriter(w)} }

// end hands on what is buffered and returns the first error.
func (c *csvTable) end() error {
	c.w.Flush()
	return c.w.Error()
}

// row writes one line; a write error stays with the writer until Error.
func (c *csvTable) row(fields ...string) {
	c.w.Write(printable.Cells(fields...))
}

// plainEnds are those of an interval; empty without one.
func plainEnds(ci *[2]float64) (lo, hi string) {
	if ci == nil {
		return "", ""
	}
	return plain(ci[0]), plain(ci[1])
}

func (c *csvTable) value(metric, stat string, v timeline.Opt[float64], n int64, ci *[2]float64) {
	lo, hi := plainEnds(ci)
	of := strconv.FormatInt(n, 10)
	if n == 0 && v.OK() {
		of = "" // another tool's figure, whose file does not say of how many values it is
	}
	c.row(metric, stat, plainOr(v), of, lo, hi)
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// plainOr is a value as it is; empty where it was not measured.
func plainOr(v timeline.Opt[float64]) string {
	if x, ok := v.Get(); ok {
		return plain(x)
	}
	return ""
}

func (c *csvTable) dist(name string, d metric.Dist) {
	for _, f := range d.Figures() {
		var ci *[2]float64
		if x, ok := d.CI95[f.Name]; ok {
			ci = &x
		}
		c.value(name, f.Name, *f.Value, d.N, ci)
	}
}

func (c *csvTable) throughput(t *metric.Throughput) {
	for _, f := range t.Rates() {
		c.row(f.Name, "rate", plainOr(*f.Value), "", "", "")
	}
}

func (c *csvTable) requests(q *metric.Requests) {
	whole := func(v timeline.Opt[int64]) string {
		if n, known := v.Get(); known {
			return strconv.FormatInt(n, 10)
		}
		return ""
	}
	all, ok, failed := q.Counts()
	total := whole(all)
	add := func(stat string, n int64) {
		c.row("requests", stat, strconv.FormatInt(n, 10), total, "", "")
	}
	c.row("requests", "total", total, total, "", "")
	c.row("requests", "ok", whole(ok), total, "", "")
	c.row("requests", "failed", whole(failed), total, "", "")
	for _, class := range view.SortedKeys(q.ByClass) {
		if class != timeline.OK {
			add(string(class), q.ByClass[class])
		}
	}
	add("warmup", q.Warmup)
	if q.Cooldown > 0 {
		add("cooldown", q.Cooldown)
	}
}

func (c *csvTable) goodput(r *run.Run) {
	g := r.Goodput
	if g == nil {
		return
	}
	c.value("goodput", "fraction", g.Fraction, g.Good+g.Bad, g.FractionCI95)
	c.value("goodput", "requests_per_s", g.RequestsPerS, g.Good, nil)
	for _, o := range g.Objectives {
		c.value(o.Text, o.State, o.Value, o.N, o.CI95)
		c.value(o.Text, "attained", o.Attained, o.N, nil)
	}
}

// items are the values of what was asked for beside tokens.
func (c *csvTable) items(r *run.Run) {
	if k := r.Checks; k != nil {
		c.value("checks", "rate", k.Rate, k.N, k.CI95)
	}
	if t := r.Tasks; t != nil {
		c.value("tasks", "success", t.Success, t.OK+t.Failed, t.CI95)
		c.value("tasks", "duration_ms p50", t.Duration.P50, t.Duration.N, nil)
		c.value("tasks", "model_ms p50", t.Model.P50, t.Model.N, nil)
	}
	if m := r.Media; m != nil {
		c.value("media", "real_time_factor p50", m.Factor.P50, m.Factor.N, nil)
		c.value("media", "in_time", m.InTime, m.N, nil)
		c.value("media", "max_backlog", timeline.Some(float64(m.MaxBacklog)), m.N, nil)
	}
	for _, k := range r.Classes {
		for _, name := range []string{"ttft_ms", "tpot_ms", "e2e_ms"} {
			d := k.Metrics[name]
			c.value(k.Name, name+" p50", d.P50, d.N, nil)
			c.value(k.Name, name+" p95", d.P95, d.N, nil)
		}
	}
}
