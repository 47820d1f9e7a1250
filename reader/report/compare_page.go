package report

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/typeset"
)

//go:embed compare_page.css
var compareCSS string

// CompareHTML writes a comparison as one self-contained page: the table with
// its intervals, and for each latency the percentiles of both sides over each
// other and their difference at each percentile.
func CompareHTML(w io.Writer, r *compare.Result) error {
	c := newVersus(r)
	title := fmt.Sprintf("%s against %s · tokenmeter", c.sides[len(c.sides)-1].Text, c.sides[0].Text)
	return writePage(w, typeset.Short(title, 120), pageCSS+compareCSS, "", func(m *markup) { c.content(m, r) })
}

// barPicture draws an interval around its estimate, zero in the middle.
func barPicture(b *bar, scale float64, words string) string {
	const w, h, mid = 180.0, 18.0, 90.0
	var s chart.SVG
	s.Put(`<svg class="bar" width="180" height="18" viewBox="0 0 180 18" role="img" aria-label="%s">`, chart.Escape(words))
	s.Put(`<line class="x" x1="90" x2="90" y1="0" y2="18"/>`)
	if b != nil {
		at := func(v float64) float64 { return math.Min(math.Max(mid+v/scale*(mid-5), 1), w-1) }
		if b.lo < b.hi {
			s.Put(`<line class="iv" x1="%s" x2="%s" y1="9" y2="9"/>`, chart.Coordinate(at(b.lo)), chart.Coordinate(at(b.hi)))
		}
		for _, end := range []float64{b.lo, b.hi} {
			if b.lo < b.hi && math.Abs(end) <= scale*1.001 {
				s.Put(`<line class="iv" x1="%s" x2="%s" y1="5" y2="13"/>`, chart.Coordinate(at(end)), chart.Coordinate(at(end)))
			}
		}
		if b.lo == b.hi && math.Abs(b.at) > scale*1.001 { // not tested, and beyond the scale: an arrow at its end
			edge := at(b.at)
			back := edge - math.Copysign(5, b.at)
			s.Put(`<path class="iv" fill="none" d="M%s 4L%s 9L%s 14"/>`, chart.Coordinate(back), chart.Coordinate(edge), chart.Coordinate(back))
		}
		if math.Abs(b.at) <= scale*1.001 {
			s.Put(`<circle class="pt" cx="%s" cy="%s" r="4"/>`, chart.Coordinate(at(b.at)), chart.Coordinate(h/2))
		}
	}
	s.Put(`</svg>`)
	return s.String()
}

// compareFigures are the two charts of a latency.
func compareFigures(i int, c *compare.Curve) []chart.Figure {
	name := c.Title
	if c.Group != "" {
		name += ", " + c.Group
	}
	over := chart.Figure{ID: fmt.Sprintf("curve-%d", i), Title: name + " by percentile",
		Sub:  fmt.Sprintf("%s in ms, both axes log; A solid (n %s), B dashed (n %s); better ↓; bands: what 95 of 100 samples of independent requests would give", c.Title, typeset.Count(c.A.Len()), typeset.Count(c.B.Len())),
		Keys: []chart.Key{{Class: "ka", Text: "A"}, {Class: "kb", Text: "B " + typeset.Short(c.Candidate, 40)}}}
	if c.A.Len() < 6 || c.B.Len() < 6 {
		over.Empty = "Too few values for percentiles."
	} else {
		over.Chart = chart.HTML(overlay(c), fmt.Sprintf("Percentiles of %s of both sides. %s", name, shiftSentence(c)))
	}
	return []chart.Figure{over, shiftFigure(i, name, c)}
}

// overlay draws both sides on the same axes.
func overlay(c *compare.Curve) *chart.Plot {
	unit := "ms"
	if math.Max(c.A.At(c.A.Len()-1), c.B.At(c.B.Len()-1)) >= 20_000 {
		unit = "s"
	}
	type side struct {
		class  string
		curve  *chart.Curve
		points []chart.Drawn
		label  string
	}
	sides := []side{{class: "s1", curve: &chart.Curve{Sample: c.A}, label: "A"}, {class: "s2 dash", curve: &chart.Curve{Sample: c.B}, label: "B"}}
	lo, hi, end := math.Inf(1), 0.0, 0.3
	for i := range sides {
		s := &sides[i]
		s.curve.Row.Unit = unit
		s.points = s.curve.Points()
		for _, d := range s.points {
			lo, hi, end = min(lo, d.V), max(hi, d.V), max(end, d.X)
			if !math.IsNaN(d.Hi) {
				lo, hi = min(lo, math.Max(d.Lo, d.V/3)), max(hi, math.Min(d.Hi, d.V*3))
			}
		}
	}
	if math.IsInf(lo, 1) {
		lo, hi = 1, 10
	}
	p := chart.NewPlot(270, chart.LinearAxis(0, end), chart.LogAxis(lo, hi))
	p.Bottom = 40
	p.YAxis(unit+", log", p.Y.Ticks(7), typeset.AxisNumber)
	p.Frame()
	sides[0].curve.XTicks(p, end)
	for _, s := range sides {
		p.Path("band "+strings.Fields(s.class)[0], s.curve.Band(p, s.points))
		line := make([][2]float64, len(s.points))
		for i, d := range s.points {
			line[i] = p.Point(d.X, d.V)
		}
		p.Path("ln "+s.class, chart.Polyline(line))
		if n := len(s.points); n > 0 {
			last := s.points[n-1]
			p.Front.Put(`<text x="%s" y="%s" class="e lab">%s</text>`, p.XAt(last.X), chart.Coordinate(p.YAt(last.V)-6), s.label)
		}
	}
	return p
}

// shiftFigure draws the difference at each percentile.
func shiftFigure(i int, name string, c *compare.Curve) chart.Figure {
	f := chart.Figure{ID: fmt.Sprintf("shift-%d", i), Title: name + ": difference by percentile",
		Sub: "B against A in %; bars: 95 % interval; above the line B is slower"}
	if len(c.Shift) == 0 {
		f.Empty = "No percentile has an interval."
		return f
	}
	lo, hi := 0.0, 0.0
	for _, s := range c.Shift {
		lo, hi = min(lo, s.Lo), max(hi, s.Hi)
	}
	pad := math.Max((hi-lo)*0.08, 0.2)
	p := chart.NewPlot(230, chart.LinearAxis(0, float64(len(c.Shift))+1), chart.LinearAxis(lo-pad, hi+pad))
	p.YAxis("%", p.Y.LinearTicks(6), func(v float64) string { return plus(v, trimmedNumber(v)) })
	p.Frame()
	zero := chart.Coordinate(p.YAt(0))
	p.Back.Put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="x"/>`, zero, zero)
	t := &chart.Table{Head: []string{"percentile", "difference %", "95 % interval"}}
	for j, s := range c.Shift {
		x := p.XAt(float64(j) + 1)
		at, low, high := differenceDigits(s.Diff, s.Lo, s.Hi)
		label := "p" + typeset.AxisNumber(s.P*100)
		p.Front.Put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="ln s2"/>`, x, x, chart.Coordinate(p.YAt(s.Lo)), chart.Coordinate(p.YAt(s.Hi)))
		p.Front.Put(`<circle cx="%s" cy="%s" r="4" class="dot s2"><title>%s</title></circle>`, x, chart.Coordinate(p.YAt(s.Diff)),
			chart.Escape(fmt.Sprintf("%s: %s %% [%s, %s]", label, at, low, high)))
		p.XLabel(float64(j)+1, p.Height-p.Bottom+16, label, false)
		t.Rows = append(t.Rows, []string{label, at, low + " to " + high})
	}
	f.Chart, f.Table = chart.HTML(p, shiftSentence(c)), t
	return f
}

// trimmedNumber writes a tick of a linear axis.
func trimmedNumber(v float64) string {
	for dec := range 4 {
		if math.Abs(typeset.Round(v, dec)-v) < 1e-9 {
			return typeset.Number(v, dec)
		}
	}
	return typeset.Number(v, 3)
}

func shiftSentence(c *compare.Curve) string {
	var parts []string
	for _, s := range c.Shift {
		if s.P == 0.5 || s.P == 0.95 || s.P == 0.99 {
			at, low, high := differenceDigits(s.Diff, s.Lo, s.Hi)
			parts = append(parts, fmt.Sprintf("p%s %s %% between %s and %s", typeset.AxisNumber(s.P*100), at, low, high))
		}
	}
	if len(parts) == 0 {
		return "No percentile has an interval."
	}
	return "Difference: " + strings.Join(parts, "; ") + "."
}
