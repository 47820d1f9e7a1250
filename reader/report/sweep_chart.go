package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// dot is a measured point of a chart.
type dot struct {
	x, y, lo, hi float64 // lo and hi NaN without an interval
	series       int     // which of several curves
	hollow       bool    // a repeat, or dominated
	bad          bool    // invalid
	tip          string
	label        string // beside the dot; empty: none
}

// scatter is a chart of measured points with thin straight segments between.
type scatter struct {
	id, title, sub string
	xUnit, yUnit   string
	dots           []dot
	class          string
	line           bool
	identity       bool
	limit          *chart.LimitLine
	holds, fails   float64 // a bracket; 0: none
	knee           *result.Knee
	level          float64      // a plateau
	roof           [][2]float64 // what the hardware allows
	linearX        bool
	curves         []string // what each of several curves is of
}

// figures are the charts that the points allow.
func (v *sweepView) figures() []chart.Figure {
	var out []chart.Figure
	if !numbers(v.s.Points) {
		return nil // names have no place on an axis
	}
	add := func(s scatter) {
		s.curves = v.curves()
		if len(s.dots) > 0 {
			out = append(out, s.figure())
		}
	}
	for _, o := range v.limits() {
		add(v.limited(&o))
	}
	add(v.throughput())
	if v.s.Variable == "rate" {
		add(v.offered())
	}
	add(v.pareto())
	add(v.latency("ttft_ms", "First token", "s1"))
	add(v.latency("tpot_ms", "Time per token", "s2"))
	add(v.cost())
	return out
}

// limits are the objectives on a percentile of a latency.
func (v *sweepView) limits() (all []objective.Objective) {
	parsed, err := objective.ParseAll(v.s.Objectives)
	if err != nil {
		return nil
	}
	for _, o := range parsed {
		if o.Percentile > 0 {
			all = append(all, o)
		}
	}
	return all
}

func (v *sweepView) base(p *result.Point) dot {
	return dot{x: p.Value, series: v.series(p), lo: math.NaN(), hi: math.NaN(), hollow: p.Repeat > 1, bad: p.Validity.Verdict == "invalid"}
}

// dots are those of the points at which y is above 0; it completes them. whole: probes that
// are too short for a rate have none.
func (v *sweepView) dots(whole bool, y func(p *result.Point, d *dot) timeline.Opt[float64]) (list []dot) {
	for i := range v.s.Points {
		p := &v.s.Points[i]
		d := v.base(p)
		if d.y = y(p, &d).Or(0); d.y > 0 && !(whole && v.s.Short(p)) {
			list = append(list, d)
		}
	}
	return list
}

func (d *dot) interval(ci *[2]float64) {
	if ci != nil {
		d.lo, d.hi = ci[0], ci[1]
	}
}

func (v *sweepView) bracket(s *scatter) {
	if f := v.s.Found; f != nil && f.Variable == v.s.Variable {
		s.holds, s.fails = f.Holds.Or(0), f.Fails.Or(0)
	}
}

func (v *sweepView) limited(o *objective.Objective) scatter {
	s := scatter{id: "limit-" + o.Metric, title: o.Text + " by load", xUnit: v.variable.axis, yUnit: "ms", class: "s2", line: true,
		sub: "as the objective counts it, failures included; dashed: the limit; better ↓"}
	v.bracket(&s)
	switch {
	case s.holds > 0 && s.fails > 0:
		s.sub = strings.Replace(s.sub, "; better", "; shaded: where it holds, darker: the bracket; better", 1)
	case s.holds > 0:
		s.sub = strings.Replace(s.sub, "; better", "; shaded: where it holds; better", 1)
	}
	s.limit = &chart.LimitLine{Value: o.Limit, Text: o.Text}
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Goodput == nil {
			continue
		}
		for _, r := range p.Goodput.Objectives {
			y, ok := r.Value.Get()
			if r.Text != o.Text || !ok || !(y > 0) {
				continue
			}
			d := v.base(p)
			d.y = y
			d.interval(r.CI95)
			d.tip = fmt.Sprintf("%s: %s ms, n %s, %s", v.load(p.Value), typeset.Digits{}.Value(y), typeset.Count(r.N), p.Validity.Verdict)
			s.dots = append(s.dots, d)
		}
	}
	return s
}

func (v *sweepView) throughput() scatter {
	s := scatter{id: "throughput", title: "Throughput by " + v.variable.axis, xUnit: v.variable.axis, yUnit: "tok/s", class: "s1", line: true,
		sub: "output tokens a second of the whole server, with 95 % intervals; better ↑", knee: v.s.Knee}
	if s.roof = v.roof(); s.roof != nil {
		s.sub += "; dotted: the most that " + typeset.Clean(v.s.Hardware) + " allows the requests that decoded at once"
	}
	if k := v.s.Peak; k != nil {
		s.level = k.TPS
		s.title = fmt.Sprintf("Throughput levels off at %s output tok/s", typeset.Rate(k.TPS))
		s.sub += "; dashed: the plateau, band: where it begins"
	}
	s.dots = v.dots(true, func(p *result.Point, d *dot) timeline.Opt[float64] {
		y := p.Throughput.SystemOutputTPS
		d.interval(p.OutputCI95)
		d.tip = fmt.Sprintf("%s: %s output tok/s, %s", v.load(p.Value), typeset.Rate(y.Or(0)), p.Validity.Verdict)
		return y
	})
	return s
}

func (v *sweepView) offered() scatter {
	s := scatter{id: "offered", title: "Requests done against requests offered", xUnit: "offered requests/s", yUnit: "done/s", class: "s3",
		line: true, identity: true, sub: "dotted: as many done as offered; below it the server does not keep up"}
	s.dots = v.dots(true, func(p *result.Point, d *dot) timeline.Opt[float64] {
		y := p.Throughput.RequestsPerS
		d.x = p.OfferedPerS.Or(p.Value)
		d.tip = fmt.Sprintf("offered %s, done %s requests/s", typeset.Rate(d.x), typeset.Rate(y.Or(0)))
		return y
	})
	return s
}

func (v *sweepView) pareto() scatter {
	unit := "tok/s"
	if v.s.GPUs.OK() {
		unit = "tok/s/GPU"
	}
	s := scatter{id: "pareto", title: "Speed for one reader against throughput", xUnit: "tok/s for one reader", yUnit: unit, class: "s1", linearX: true,
		sub: "full: no other point is better in both; hollow: another one is; up and right is better; beside each the " + v.variable.axis}
	best := map[string]bool{}
	for _, p := range v.s.Pareto {
		best[p.Run] = true
	}
	for i := range v.s.Points {
		p := &v.s.Points[i]
		x, okX := p.TPSPerUser.Get()
		y, okY := p.TPSPerGPU.Get()
		if !okY {
			y, okY = p.Throughput.SystemOutputTPS.Get()
		}
		if okX && okY && y > 0 && !v.s.Short(p) {
			d := v.base(p)
			d.x, d.y, d.hollow, d.label = x, y, !best[p.Run], v.value(p.Value)
			d.tip = fmt.Sprintf("%s: %s tok/s for one reader, %s %s", v.load(p.Value), typeset.Rate(x), typeset.Rate(y), unit)
			s.dots = append(s.dots, d)
		}
	}
	if len(s.dots) < 2 {
		s.dots = nil
	}
	return s
}

func (v *sweepView) latency(name, title, class string) scatter {
	s := scatter{id: "by-" + name, title: title + ", p95, by " + v.variable.axis, xUnit: v.variable.axis, yUnit: "ms", class: class, line: true,
		sub: "of successful requests, with 95 % intervals; better ↓"}
	s.dots = v.dots(false, func(p *result.Point, d *dot) timeline.Opt[float64] {
		m := p.Metrics[name]
		if ci, ok := m.CI95["p95"]; ok {
			d.interval(&ci)
		}
		d.tip = fmt.Sprintf("%s: p95 %s ms, n %s", v.load(p.Value), typeset.Digits{}.Value(m.P95.Or(0)), typeset.Count(m.N))
		return m.P95
	})
	return s
}

func (v *sweepView) cost() scatter {
	s := scatter{id: "cost", title: "Cost by " + v.variable.axis, xUnit: v.variable.axis, yUnit: "$/M out", class: "s4", line: true, sub: "better ↓"}
	s.dots = v.dots(false, func(p *result.Point, d *dot) (usd timeline.Opt[float64]) {
		if p.Cost != nil {
			usd = p.Cost.USDPerMOutput
		}
		d.tip = fmt.Sprintf("%s: $%s", v.load(p.Value), typeset.Digits{}.Value(usd.Or(0)))
		return usd
	})
	return s
}

func (s *scatter) figure() chart.Figure {
	f := chart.Figure{ID: s.id, Title: s.title, Sub: s.sub}
	if slices.ContainsFunc(s.dots, func(d dot) bool { return d.bad }) {
		f.Sub += "; × invalid"
	}
	f.Chart = chart.HTML(s.plot(), s.sentence())
	for i, text := range s.curves {
		f.Keys = append(f.Keys, chart.Key{Class: "sw " + seriesClass(i), Text: text})
	}
	t := &chart.Table{Head: []string{s.xUnit, s.yUnit, "95 % interval"}}
	for _, d := range s.dots {
		interval := typeset.Missing
		if !math.IsNaN(d.lo) {
			interval = typeset.Digits{}.Value(d.lo) + " to " + typeset.Digits{}.Value(d.hi)
		}
		t.Rows = append(t.Rows, []string{typeset.Digits{}.Value(d.x), typeset.Digits{}.Value(d.y), interval})
	}
	f.Table = t
	return f
}

func (s *scatter) sentence() string {
	first, last := s.dots[0], s.dots[len(s.dots)-1]
	return fmt.Sprintf("%s. %d points, from %s at %s to %s at %s %s.", s.title, len(s.dots),
		metric.Significant(first.y, 3)+" "+s.yUnit, metric.Significant(first.x, 3), metric.Significant(last.y, 3), metric.Significant(last.x, 3), s.xUnit)
}

// axes cover the points, the limit and the bracket.
func (s *scatter) axes() (x, y chart.Axis) {
	xlo, xhi, ylo, yhi := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, d := range s.dots {
		xlo, xhi = min(xlo, d.x), max(xhi, d.x)
		ylo, yhi = min(ylo, d.y), max(yhi, d.y)
		if !math.IsNaN(d.lo) && d.lo > d.y/10 {
			ylo, yhi = min(ylo, d.lo), max(yhi, math.Min(d.hi, d.y*10))
		}
	}
	if l := s.limit; l != nil && l.Value > 0 {
		ylo, yhi = min(ylo, l.Value), max(yhi, l.Value)
	}
	for _, at := range s.roof {
		yhi = max(yhi, at[1])
	}
	for _, b := range []float64{s.holds, s.fails} {
		if b > 0 {
			xlo, xhi = min(xlo, b), max(xhi, b)
		}
	}
	if s.identity {
		ylo, yhi = min(ylo, xlo), max(yhi, xhi)
	}
	x, y = chart.LogAxis(xlo, xhi), chart.LogAxis(ylo, yhi)
	if s.linearX {
		x = chart.LinearAxis(0, xhi*1.08)
		y = chart.LinearAxis(0, yhi*1.12)
	}
	return x, y
}

func (s *scatter) plot() *chart.Plot {
	x, y := s.axes()
	p := chart.NewPlot(250, x, y)
	p.Bottom = 40
	p.YAxis(s.yUnit, p.Y.Ticks(6), typeset.AxisNumber)
	for _, t := range p.X.Ticks(7) {
		p.XLabel(t, p.Height-p.Bottom+16, typeset.AxisNumber(t), true)
	}
	p.Front.Put(`<text x="100%%" y="%s" class="e">%s</text>`, chart.Coordinate(p.Height-4), chart.Escape(s.xUnit+" →"))
	p.Frame()
	s.bands(p)
	if s.identity {
		lo, hi := math.Max(p.X.Lo, p.Y.Lo), math.Min(p.X.Hi, p.Y.Hi)
		if hi > lo {
			p.Path("line2", chart.Polyline([][2]float64{p.Point(lo, lo), p.Point(hi, hi)}))
		}
	}
	if len(s.roof) > 0 {
		var line [][2]float64
		for _, at := range s.roof {
			line = append(line, p.Point(at[0], at[1]))
		}
		p.Path("line2", chart.Polyline(line))
	}
	if s.line && len(s.curves) == 0 {
		p.Path("ln "+s.class, chart.Polyline(s.segments(p, 0)))
	}
	for i := range s.curves {
		if s.line {
			p.Path("ln "+seriesClass(i), chart.Polyline(s.segments(p, i)))
		}
	}
	if s.level > 0 {
		p.Hline(s.level, "plateau "+typeset.Rate(s.level), false)
	}
	if l := s.limit; l != nil {
		p.Hline(l.Value, l.Text, false)
	}
	s.labels(p)
	for _, d := range s.dots {
		s.dot(p, d)
	}
	return p
}

// bands shade where objectives hold and where the knee lies.
func (s *scatter) bands(p *chart.Plot) {
	band := func(class string, from, to float64) {
		a, b := math.Max(p.X.At(from), 0), math.Min(p.X.At(to), 1)
		if b > a {
			p.Field.Put(`<rect class="%s" x="%s" y="0" width="%s" height="1000"/>`, class, chart.Coordinate(a*1000), chart.Coordinate((b-a)*1000))
		}
	}
	if s.holds > 0 {
		band("hold", p.X.Lo, s.holds)
	}
	if s.holds > 0 && s.fails > 0 {
		band("bracket", s.holds, s.fails)
	}
	if k := s.knee; k != nil {
		band("bracket", math.Min(k.Lo, k.Value*0.995), math.Max(k.Hi, k.Value*1.005))
	}
}

// segments join the mean of each value's points of a curve. Invalid points are
// shown and take part in none.
func (s *scatter) segments(p *chart.Plot, series int) (line [][2]float64) {
	var dots []dot
	for _, d := range s.dots {
		if d.series == series && !d.bad {
			dots = append(dots, d)
		}
	}
	for i := 0; i < len(dots); {
		sum, n, x := 0.0, 0.0, dots[i].x
		for ; i < len(dots) && dots[i].x == x; i++ {
			sum, n = sum+dots[i].y, n+1
		}
		line = append(line, p.Point(x, sum/n))
	}
	return line
}

// seriesClass is the colour of one of several curves.
func seriesClass(i int) string { return fmt.Sprintf("s%d", i%4+1) }

func (s *scatter) dot(p *chart.Plot, d dot) {
	x, y := p.XAt(d.x), chart.Coordinate(p.YAt(d.y))
	if !math.IsNaN(d.lo) {
		p.Front.Put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="ln %s"/>`, x, x,
			chart.Coordinate(p.YAt(math.Max(d.lo, p.Y.Lo))), chart.Coordinate(p.YAt(math.Min(d.hi, p.Y.Hi))), s.class)
	}
	colour := s.class
	if len(s.curves) > 0 {
		colour = seriesClass(d.series)
	}
	class := "dot " + colour
	if d.hollow {
		class = "hollow " + colour
	}
	if d.bad {
		p.Front.Put(`<text x="%s" y="%s" class="m fail">×<title>%s</title></text>`, x, chart.Coordinate(p.YAt(d.y)+5), chart.Escape(d.tip))
		return
	}
	p.Front.Put(`<circle cx="%s" cy="%s" r="4" class="%s"><title>%s</title></circle>`, x, y, class, chart.Escape(d.tip))
}
