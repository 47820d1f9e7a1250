package report

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/reader/report/typeset"
	"tokenmeter/reader/report/view"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// curve is a percentile plot: x = 1/(1−p), y the value, both logarithmic.
type curve struct {
	row    view.Row
	dist   metric.Dist
	sample stat.Ordered
	limits []limitLine
	class  string // colour
	// pooled samples hold many values of each request. These are not
	// independent, so only the summary's own intervals are drawn.
	pooled bool
}

// limitLine is an objective's limit on the metric of a curve.
type limitLine struct {
	value float64
	text  string
}

// curvePoints is how many percentiles are drawn.
const curvePoints = 160

// percentileFigure draws one latency. The curve ends at the last percentile
// that has an interval.
func percentileFigure(c *curve) figure {
	name := c.row.Name
	f := figure{ID: "curve-" + strings.ToLower(name), Title: curveTitle(c), Table: distTable(c)}
	n := c.dist.N
	if c.sample != nil {
		n = c.sample.Len()
	}
	f.Sub = fmt.Sprintf("%s in %s by percentile; n %s; better ↓", name, c.unit(), typeset.Count(n))
	switch {
	case c.sample == nil || n == 0:
		f.Empty = c.why()
	case n < fewestForCurve:
		f.Chart = chart(c.dots(), c.sentence())
		f.Sub = fmt.Sprintf("%s in %s, each request a mark; %s are too few for a percentile", name, c.unit(), typeset.Plural(n, "value"))
	default:
		f.Chart = chart(c.plot(), c.sentence())
		f.Sub += "; band = 95 % interval, ends at the last percentile that has one"
		if c.pooled {
			f.Sub = fmt.Sprintf("%s in %s by percentile; n %s gaps; better ↓; ", name, c.unit(), typeset.Count(n))
			if len(c.dist.CI95) > 0 {
				f.Sub += "bars = 95 % interval, from the spread between stretches of the run"
			} else {
				f.Sub += "no interval: the requests they come from are worth too few independent ones"
			}
		}
	}
	return f
}

func (c *curve) why() string {
	if c.dist.N > 0 {
		return "The values of single requests are not in this report; the table has what the summary says."
	}
	return "No successful request has a value."
}

// unit of the axis: seconds where the longest value is long.
func (c *curve) unit() string {
	if c.row.Unit == "s" {
		return "s"
	}
	return "ms"
}

func (c *curve) scale() float64 {
	if c.row.Unit == "s" {
		return 1e3
	}
	return 1
}

func curveTitle(c *curve) string {
	p50, p99 := c.row.Cells[0], c.row.Cells[2]
	if p50.Value == typeset.Missing {
		return c.row.Name + ": " + typeset.Missing
	}
	if p99.Lo == "" {
		return fmt.Sprintf("%s: half within %s %s", c.row.Name, p50.Value, c.row.Unit)
	}
	return fmt.Sprintf("%s: half within %s %s, 99 of 100 within %s", c.row.Name, p50.Value, c.row.Unit, p99.Value)
}

func (c *curve) sentence() string {
	parts := []string{}
	for i, cell := range c.row.Cells {
		if cell.Value != typeset.Missing {
			parts = append(parts, fmt.Sprintf("%s %s %s", view.Percentiles[view.Shown[i]].Name, cell.Text(), c.row.Unit))
		}
	}
	if v, ok := c.dist.Max.Get(); ok {
		parts = append(parts, fmt.Sprintf("slowest %s %s", typeset.Digits{}.Value(v/c.scale()), c.row.Unit))
	}
	for _, l := range c.limits {
		parts = append(parts, "limit "+l.text)
	}
	return fmt.Sprintf("Percentile plot of %s: %s; n %s.", c.row.Name, strings.Join(parts, ", "), c.row.N)
}

// spread is a percentile's place on the axis: powers of ten of 1 in so many.
func spread(p float64) float64 { return -math.Log10(1 - p) }

// drawn is one percentile of the curve.
type drawn struct{ x, v, lo, hi float64 }

func (c *curve) points() []drawn {
	n := c.sample.Len()
	end, worth := c.end(n), c.dist.Worth.Or(float64(n))
	// The last point that has an interval, whatever rounding made of it.
	last := math.Pow(0.025, 1/worth) * (1 - 1e-12)
	var points []drawn
	for i := range curvePoints + 1 {
		x := end * float64(i) / curvePoints
		p := 1 - math.Pow(10, -x)
		v, ok := stat.Quantile(c.sample, p)
		if !ok || !(v > 0) {
			continue
		}
		d := drawn{x: x, v: v / c.scale(), lo: math.NaN(), hi: math.NaN()}
		if c.pooled {
			points = append(points, d)
			continue
		}
		if lo, hi, ok := stat.QuantileInterval(c.sample, worth, min(p, last), 0.95); ok && worth >= fewestMoments && v >= lo && v <= hi {
			d.lo, d.hi = lo/c.scale(), hi/c.scale()
		}
		points = append(points, d)
	}
	return points
}

// end is the last percentile that has an interval.
func (c *curve) end(n int64) float64 {
	if !c.pooled {
		return spread(math.Pow(0.025, 1/c.dist.Worth.Or(float64(n))))
	}
	last := spread(0.5)
	for _, p := range view.Percentiles {
		if _, ok := c.dist.CI95[p.Name]; ok {
			last = spread(p.P)
		}
	}
	return last + 0.02
}

func (c *curve) yAxis(lo, hi float64) axis {
	for _, l := range c.limits {
		// A limit far away from every value would squeeze the curve.
		if v := l.value / c.scale(); v < hi*20 && v > lo/20 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return logAxis(lo, hi)
}

func (c *curve) plot() *plot {
	points := c.points()
	lo, hi := math.Inf(1), 0.0
	for _, d := range points {
		lo, hi = min(lo, d.v), max(hi, d.v)
		if !math.IsNaN(d.hi) {
			lo, hi = min(lo, math.Max(d.lo, d.v/100)), max(hi, d.hi)
		}
	}
	if len(points) == 0 {
		lo, hi = 1, 10
	}
	if c.pooled {
		for _, ci := range c.dist.CI95 {
			hi = max(hi, min(ci[1]/c.scale(), hi*3))
		}
	}
	end := 1.0
	if len(points) > 0 {
		end = points[len(points)-1].x
	}
	p := newPlot(270, axis{0, end, false}, c.yAxis(lo, hi))
	p.bottom = 40
	p.yAxis(c.unit()+", log", p.y.ticks(7), typeset.AxisNumber)
	p.frame()
	c.xTicks(p, end)
	p.path("band "+c.class, c.band(p, points))
	line := make([][2]float64, len(points))
	for i, d := range points {
		line[i] = p.point(d.x, d.v)
	}
	p.path("ln "+c.class, polyline(line))
	c.limitLines(p)
	c.marks(p, end)
	return p
}

// xTicks labels percentiles above the field and shares below it.
func (c *curve) xTicks(p *plot, end float64) {
	for _, t := range []struct {
		p           float64
		name, below string
	}{
		{0.5, "p50", "1 in 2"}, {0.9, "p90", "1 in 10"}, {0.99, "p99", "1 in 100"},
		{0.999, "p99.9", "1 in 1,000"}, {0.9999, "p99.99", "1 in 10,000"}, {0.99999, "p99.999", "1 in 100,000"},
	} {
		x := spread(t.p)
		if x > end {
			break
		}
		if end > 4.4 && t.p == 0.5 {
			continue // no room between it and p90
		}
		p.xLabel(x, 12, t.name, true)
		p.xLabel(x, p.height-p.bottom+16, t.below, false)
	}
	p.front.put(`<text x="100%%" y="%s" class="e u">slower than this</text>`, coordinate(p.height-p.bottom+32))
}

// band is the area between the ends of the intervals, as far as the plot goes.
func (c *curve) band(p *plot, points []drawn) string {
	var up, down [][2]float64
	for _, d := range points {
		if math.IsNaN(d.lo) || !(d.lo > 0) {
			continue
		}
		up = append(up, p.point(d.x, math.Min(d.hi, p.y.hi)))
		down = append([][2]float64{p.point(d.x, math.Max(d.lo, p.y.lo))}, down...)
	}
	if len(up) < 2 {
		return ""
	}
	return polyline(up) + "L" + polyline(down)[1:] + "Z"
}

func (c *curve) limitLines(p *plot) {
	for _, l := range c.limits {
		p.hline(l.value/c.scale(), l.text)
	}
}

// marks are the percentiles of the table, where the table has an interval.
func (c *curve) marks(p *plot, end float64) {
	for i, cell := range c.row.Cells {
		q := view.Percentiles[view.Shown[i]]
		v, ok := q.Of(&c.dist).Get()
		if !ok || cell.Lo == "" || spread(q.P) > end || v <= 0 {
			continue
		}
		if ci := c.dist.CI95[q.Name]; c.pooled && ci[0] > 0 {
			p.front.put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="ln %s"/>`, p.xAt(spread(q.P)), p.xAt(spread(q.P)),
				coordinate(p.yAt(ci[0]/c.scale())), coordinate(p.yAt(ci[1]/c.scale())), c.class)
		}
		p.front.put(`<circle cx="%s" cy="%s" r="3.5" class="dot %s"><title>%s</title></circle>`,
			p.xAt(spread(q.P)), coordinate(p.yAt(v/c.scale())), c.class,
			esc(fmt.Sprintf("%s %s: %s %s", c.row.Name, q.Name, cell.Text(), c.row.Unit)))
	}
}

// dots shows the few values there are.
func (c *curve) dots() *plot {
	n := c.sample.Len()
	lo, hi := math.Inf(1), 0.0
	for i := range n {
		lo, hi = min(lo, c.sample.At(i)/c.scale()), max(hi, c.sample.At(i)/c.scale())
	}
	p := newPlot(200, axis{0, float64(n) + 1, false}, c.yAxis(lo, hi))
	p.yAxis(c.unit()+", log", p.y.ticks(6), typeset.AxisNumber)
	p.frame()
	c.limitLines(p)
	for i := range n {
		v := c.sample.At(i) / c.scale()
		p.front.put(`<circle cx="%s" cy="%s" r="5" class="hollow %s"><title>%s</title></circle>`,
			p.xAt(float64(i)+1), coordinate(p.yAt(v)), c.class, esc(typeset.Digits{}.Value(v)+" "+c.unit()))
	}
	return p
}

// fewestMoments is how many independent requests a band needs, as an interval does.
const fewestMoments = 50

// fewestForCurve is how many values make a curve rather than single marks.
const fewestForCurve = 6

// distTable is what run.json says of the sample.
func distTable(c *curve) *dataTable {
	t := &dataTable{Head: []string{"statistic", c.row.Unit, "95 % interval"}}
	d := c.dist
	if d.N == 0 {
		return nil
	}
	add := func(name string, v timeline.Opt[float64]) {
		x, ok := v.Get()
		if !ok {
			return
		}
		if ci, has := d.CI95[name]; has {
			value, lo, hi := typeset.Digits{Limit: c.limitAt(name)}.Interval(x/c.scale(), ci[0]/c.scale(), ci[1]/c.scale())
			t.Rows = append(t.Rows, []string{name, value, lo + " to " + hi})
			return
		}
		note := ""
		if factor := d.Needs[name]; factor > 0 {
			note = "needs " + view.TimesWords(factor) + " the run"
		}
		t.Rows = append(t.Rows, []string{name, typeset.Digits{Limit: c.limitAt(name)}.Value(x / c.scale()), note})
	}
	add("min", d.Min)
	for _, p := range view.Percentiles {
		add(p.Name, p.Of(&d))
	}
	add("max", d.Max)
	add("mean", d.Mean)
	t.Note = fmt.Sprintf("n %s%s", typeset.Exact(d.N), view.WorthWords(d.N, d.Worth))
	return t
}

func (c *curve) limitAt(name string) timeline.Opt[float64] {
	for _, l := range c.limits {
		if strings.HasPrefix(l.text, name+" ") {
			return timeline.Some(l.value / c.scale())
		}
	}
	return timeline.Opt[float64]{}
}

// limitLines are the objectives on a metric as lines of its plot.
func limitsOf(r *run.Run, names ...string) []limitLine {
	if r.Goodput == nil {
		return nil
	}
	var lines []limitLine
	for _, o := range r.Goodput.Objectives {
		for _, name := range names {
			if o.Metric == name {
				lines = append(lines, limitLine{o.Limit, typeset.Short(o.Text, 60)})
			}
		}
	}
	return lines
}
