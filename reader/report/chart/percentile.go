package chart

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Curve is a percentile plot: x = 1/(1−p), y the value, both logarithmic.
type Curve struct {
	Row    view.Row
	Dist   metric.Dist
	Sample stat.Ordered
	Limits []LimitLine
	Class  string // colour
	// pooled samples hold many values of each request. These are not
	// independent, so only the summary's own intervals are drawn.
	Pooled bool
}

// LimitLine is an objective's limit on the metric of a curve.
type LimitLine struct {
	Value float64
	Text  string
}

// curvePoints is how many percentiles are drawn.
const curvePoints = 160

// PercentileFigure draws one latency. The curve ends at the last percentile
// that has an interval.
func PercentileFigure(c *Curve) Figure {
	name := c.Row.Name
	f := Figure{ID: "curve-" + strings.ToLower(name), Title: curveTitle(c), Table: distTable(c)}
	n := c.Dist.N
	if c.Sample != nil {
		n = c.Sample.Len()
	}
	f.Sub = fmt.Sprintf("%s in %s by percentile; n %s; better ↓", name, c.unit(), typeset.Count(n))
	switch {
	case c.Sample == nil || n == 0:
		f.Empty = c.why()
	case n < fewestForCurve:
		f.Chart = HTML(c.dots(), c.sentence())
		f.Sub = fmt.Sprintf("%s in %s, each request a mark; %s are too few for a percentile", name, c.unit(), typeset.Plural(n, "value"))
	default:
		f.Chart = HTML(c.plot(), c.sentence())
		f.Sub += "; band = 95 % interval, ends at the last percentile that has one"
		if c.Pooled {
			f.Sub = fmt.Sprintf("%s in %s by percentile; n %s gaps; better ↓; ", name, c.unit(), typeset.Count(n))
			if len(c.Dist.CI95) > 0 {
				f.Sub += "bars = 95 % interval, from the spread between stretches of the run"
			} else {
				f.Sub += "no interval: the requests they come from are worth too few independent ones"
			}
		}
	}
	return f
}

func (c *Curve) why() string {
	if c.Dist.N > 0 {
		return "The values of single requests are not in this report; the table has what the summary says."
	}
	return "No successful request has a value."
}

// unit of the axis: seconds where the longest value is long.
func (c *Curve) unit() string {
	if c.Row.Unit == "s" {
		return "s"
	}
	return "ms"
}

func (c *Curve) scale() float64 {
	if c.Row.Unit == "s" {
		return 1e3
	}
	return 1
}

func curveTitle(c *Curve) string {
	p50, p99 := c.Row.Cells[0], c.Row.Cells[2]
	if p50.Value == typeset.Missing {
		return c.Row.Name + ": " + typeset.Missing
	}
	if p99.Lo == "" {
		return fmt.Sprintf("%s: half within %s %s", c.Row.Name, p50.Value, c.Row.Unit)
	}
	return fmt.Sprintf("%s: half within %s %s, 99 of 100 within %s", c.Row.Name, p50.Value, c.Row.Unit, p99.Value)
}

func (c *Curve) sentence() string {
	parts := []string{}
	for i, cell := range c.Row.Cells {
		if cell.Value != typeset.Missing {
			parts = append(parts, fmt.Sprintf("%s %s %s", view.Percentiles[view.Shown[i]].Name, cell.Text(), c.Row.Unit))
		}
	}
	if v, ok := c.Dist.Max.Get(); ok {
		parts = append(parts, fmt.Sprintf("slowest %s %s", typeset.Digits{}.Value(v/c.scale()), c.Row.Unit))
	}
	for _, l := range c.Limits {
		parts = append(parts, "limit "+l.Text)
	}
	return fmt.Sprintf("Percentile plot of %s: %s; n %s.", c.Row.Name, strings.Join(parts, ", "), c.Row.N)
}

// spread is a percentile's place on the axis: powers of ten of 1 in so many.
func spread(p float64) float64 { return -math.Log10(1 - p) }

// Drawn is one percentile of the curve.
type Drawn struct{ X, V, Lo, Hi float64 }

// Points are the percentiles that are drawn.
func (c *Curve) Points() []Drawn {
	n := c.Sample.Len()
	end, worth := c.end(n), c.Dist.Worth.Or(float64(n))
	// The last point that has an interval, whatever rounding made of it.
	last := math.Pow(0.025, 1/worth) * (1 - 1e-12)
	var points []Drawn
	for i := range curvePoints + 1 {
		x := end * float64(i) / curvePoints
		p := 1 - math.Pow(10, -x)
		v, ok := stat.Quantile(c.Sample, p)
		if !ok || !(v > 0) {
			continue
		}
		d := Drawn{X: x, V: v / c.scale(), Lo: math.NaN(), Hi: math.NaN()}
		if c.Pooled {
			points = append(points, d)
			continue
		}
		if lo, hi, ok := stat.QuantileInterval(c.Sample, worth, min(p, last), 0.95); ok && worth >= fewestMoments && v >= lo && v <= hi {
			d.Lo, d.Hi = lo/c.scale(), hi/c.scale()
		}
		points = append(points, d)
	}
	return points
}

// end is the last percentile that has an interval.
func (c *Curve) end(n int64) float64 {
	if !c.Pooled {
		return spread(math.Pow(0.025, 1/c.Dist.Worth.Or(float64(n))))
	}
	last := spread(0.5)
	for _, p := range view.Percentiles {
		if _, ok := c.Dist.CI95[p.Name]; ok {
			last = spread(p.P)
		}
	}
	return last + 0.02
}

func (c *Curve) yAxis(lo, hi float64) Axis {
	for _, l := range c.Limits {
		// A limit far away from every value would squeeze the curve.
		if v := l.Value / c.scale(); v < hi*20 && v > lo/20 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return LogAxis(lo, hi)
}

func (c *Curve) plot() *Plot {
	points := c.Points()
	lo, hi := math.Inf(1), 0.0
	for _, d := range points {
		lo, hi = min(lo, d.V), max(hi, d.V)
		if !math.IsNaN(d.Hi) {
			lo, hi = min(lo, math.Max(d.Lo, d.V/100)), max(hi, d.Hi)
		}
	}
	if len(points) == 0 {
		lo, hi = 1, 10
	}
	if c.Pooled {
		for _, ci := range c.Dist.CI95 {
			hi = max(hi, min(ci[1]/c.scale(), hi*3))
		}
	}
	end := 1.0
	if len(points) > 0 {
		end = points[len(points)-1].X
	}
	p := NewPlot(270, LinearAxis(0, end), c.yAxis(lo, hi))
	p.Bottom = 40
	p.YAxis(c.unit()+", log", p.Y.Ticks(7), typeset.AxisNumber)
	p.Frame()
	c.XTicks(p, end)
	p.Path("band "+c.Class, c.Band(p, points))
	line, highest := make([][2]float64, len(points)), 0.0
	for i, d := range points {
		line[i], highest = p.Point(d.X, d.V), max(highest, d.V)
	}
	p.Path("ln "+c.Class, Polyline(line))
	c.limitLines(p, highest)
	c.marks(p, end)
	return p
}

// XTicks labels percentiles above the field and shares below it.
func (c *Curve) XTicks(p *Plot, end float64) {
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
		p.XLabel(x, 12, t.name, true)
		p.XLabel(x, p.Height-p.Bottom+16, t.below, false)
	}
	p.Front.Put(`<text x="100%%" y="%s" class="e u">slower than this</text>`, Coordinate(p.Height-p.Bottom+32))
}

// Band is the area between the ends of the intervals, as far as the plot goes.
func (c *Curve) Band(p *Plot, points []Drawn) string {
	var up, down [][2]float64
	for _, d := range points {
		if math.IsNaN(d.Lo) || !(d.Lo > 0) {
			continue
		}
		up = append(up, p.Point(d.X, math.Min(d.Hi, p.Y.Hi)))
		down = append([][2]float64{p.Point(d.X, math.Max(d.Lo, p.Y.Lo))}, down...)
	}
	if len(up) < 2 {
		return ""
	}
	return Polyline(up) + "L" + Polyline(down)[1:] + "Z"
}

// limitLines draws the limits over a curve that reaches as high as that.
func (c *Curve) limitLines(p *Plot, highest float64) {
	for _, l := range c.Limits {
		v := l.Value / c.scale()
		p.Hline(v, l.Text, v < highest && v > p.Y.Lo)
	}
}

// marks are the percentiles of the table, where the table has an interval.
func (c *Curve) marks(p *Plot, end float64) {
	for i, cell := range c.Row.Cells {
		q := view.Percentiles[view.Shown[i]]
		v, ok := q.Of(&c.Dist).Get()
		if !ok || cell.Lo == "" || spread(q.P) > end || v <= 0 {
			continue
		}
		if ci := c.Dist.CI95[q.Name]; c.Pooled && ci[0] > 0 {
			p.Front.Put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="ln %s"/>`, p.XAt(spread(q.P)), p.XAt(spread(q.P)),
				Coordinate(p.YAt(ci[0]/c.scale())), Coordinate(p.YAt(ci[1]/c.scale())), c.Class)
		}
		p.Front.Put(`<circle cx="%s" cy="%s" r="3.5" class="dot %s"><title>%s</title></circle>`,
			p.XAt(spread(q.P)), Coordinate(p.YAt(v/c.scale())), c.Class,
			Escape(fmt.Sprintf("%s %s: %s %s", c.Row.Name, q.Name, cell.Text(), c.Row.Unit)))
	}
}

// dots shows the few values there are.
func (c *Curve) dots() *Plot {
	n := c.Sample.Len()
	lo, hi := math.Inf(1), 0.0
	for i := range n {
		lo, hi = min(lo, c.Sample.At(i)/c.scale()), max(hi, c.Sample.At(i)/c.scale())
	}
	p := NewPlot(200, LinearAxis(0, float64(n)+1), c.yAxis(lo, hi))
	p.YAxis(c.unit()+", log", p.Y.Ticks(6), typeset.AxisNumber)
	p.Frame()
	c.limitLines(p, 0)
	for i := range n {
		v := c.Sample.At(i) / c.scale()
		p.Front.Put(`<circle cx="%s" cy="%s" r="5" class="hollow %s"><title>%s</title></circle>`,
			p.XAt(float64(i)+1), Coordinate(p.YAt(v)), c.Class, Escape(typeset.Digits{}.Value(v)+" "+c.unit()))
	}
	return p
}

// fewestMoments is how many independent requests a band needs, as an interval does.
const fewestMoments = 50

// fewestForCurve is how many values make a curve rather than single marks.
const fewestForCurve = 6

// distTable is what run.json says of the sample.
func distTable(c *Curve) *Table {
	t := &Table{Head: []string{"statistic", c.Row.Unit, "95 % interval"}}
	d := c.Dist
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

func (c *Curve) limitAt(name string) timeline.Opt[float64] {
	for _, l := range c.Limits {
		if strings.HasPrefix(l.Text, name+" ") {
			return timeline.Some(l.Value / c.scale())
		}
	}
	return timeline.Opt[float64]{}
}

// LimitsOf are the objectives on metrics, by their names, as lines of a plot, in the
// metric's unit; none where the run had no objectives.
func LimitsOf(r *run.Run, names ...string) []LimitLine {
	if r.Goodput == nil {
		return nil
	}
	var lines []LimitLine
	for _, o := range r.Goodput.Objectives {
		for _, name := range names {
			if o.Metric == name {
				lines = append(lines, LimitLine{o.Limit, typeset.Short(o.Text, 60)})
			}
		}
	}
	return lines
}
