package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"tokenmeter/reader/report/typeset"
)

// A chart is two pictures side by side: a fixed column of labels for y, and
// the plot, whose width follows the page. Lengths across are in percent, so
// that text keeps its size; lines live in a stretched picture inside, drawn on
// a field of 1000 by 1000.

// svg builds a picture as text. Everything that is not its own goes through
// esc.
type svg struct{ strings.Builder }

func (s *svg) put(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// esc makes text stay text.
func esc(text string) string { return html.EscapeString(typeset.Clean(text)) }

// coordinate writes a length with at most one decimal.
func coordinate(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(t, ".0")
}

// axis maps values to 0…1, linear or logarithmic.
type axis struct {
	lo, hi float64
	log    bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(math.Max(v, a.lo/10))
	}
	if hi == lo {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// logAxis covers values with room, from and to a number of the 1-2-5 series.
// Values close together get a closer axis, but never one that makes a few
// percent look like a cliff.
func logAxis(lo, hi float64) axis {
	if !(lo > 0) {
		lo = hi / 1000
	}
	if !(hi > lo) {
		hi = lo
	}
	if hi/lo < 2 {
		middle := math.Sqrt(lo * hi)
		return axis{min(lo*0.95, middle/1.25), max(hi*1.05, middle*1.25), true}
	}
	return axis{below125(lo * 0.98), above125(hi * 1.02), true}
}

func above125(v float64) float64 {
	p := math.Pow10(typeset.Magnitude(v))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*0.999999 {
			return m * p
		}
	}
	return 10 * p
}

func below125(v float64) float64 {
	p := math.Pow10(typeset.Magnitude(v))
	best := p
	for _, m := range []float64{2, 5} {
		if m*p <= v*1.000001 {
			best = m * p
		}
	}
	return best
}

// ticks are the numbers of the 1-2-5 series on the axis, thinned to at most n.
func (a axis) ticks(n int) []float64 {
	if !a.log || a.hi/a.lo < 4 {
		return a.linearTicks(n)
	}
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if t := a.logTicks(steps, 1); len(t) <= n {
			return t
		}
	}
	t := a.logTicks([]float64{1}, 2)
	if len(t) > n {
		t = a.logTicks([]float64{1}, 3)
	}
	return t
}

func (a axis) logTicks(steps []float64, every int) []float64 {
	var t []float64
	for e := typeset.Magnitude(a.lo); math.Pow10(e) <= a.hi; e++ {
		if every > 1 && ((e%every)+every)%every != 0 {
			continue
		}
		for _, m := range steps {
			if v := m * math.Pow10(e); v >= a.lo*0.999999 && v <= a.hi*1.000001 {
				t = append(t, v)
			}
		}
	}
	return t
}

func (a axis) linearTicks(n int) []float64 {
	step := above125((a.hi - a.lo) / float64(n))
	var t []float64
	for v := math.Ceil(a.lo/step) * step; v <= a.hi*1.000001; v += step {
		t = append(t, math.Round(v/step)*step)
	}
	return t
}

// polyline is the path of points given in 0…1, y upwards, on the field of the
// stretched picture. NaN breaks the line.
func polyline(points [][2]float64) string {
	var b strings.Builder
	move := true
	for _, p := range points {
		if math.IsNaN(p[0]) || math.IsNaN(p[1]) {
			move = true
			continue
		}
		if move {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		move = false
		b.WriteString(coordinate(p[0] * 1000))
		b.WriteByte(' ')
		b.WriteString(coordinate((1 - p[1]) * 1000))
	}
	return b.String()
}

// plot is a chart under construction.
type plot struct {
	height, top, bottom float64 // px: whole, above and below the field
	x, y                axis
	labels              svg // left column
	back, field, front  svg // grid; stretched lines; text and dots
	wide                bool
}

func newPlot(height float64, x, y axis) *plot {
	return &plot{height: height, top: 22, bottom: 24, x: x, y: y}
}

// yAt is a value's height in px from the top.
func (p *plot) yAt(v float64) float64 {
	return p.top + (1-p.y.at(v))*(p.height-p.top-p.bottom)
}

// xAt is a value's place across in percent.
func (p *plot) xAt(v float64) string { return coordinate2(p.x.at(v)*100) + "%" }

func coordinate2(v float64) string {
	t := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(t, "0"), ".")
}

// point is a value in the field's 0…1.
func (p *plot) point(x, y float64) [2]float64 { return [2]float64{p.x.at(x), p.y.at(y)} }

// yAxis draws grid lines with their labels and the unit above them.
func (p *plot) yAxis(unit string, ticks []float64, text func(float64) string) {
	p.labels.put(`<text x="100%%" y="12" class="u">%s</text>`, esc(unit))
	for _, v := range ticks {
		y := coordinate(p.yAt(v))
		p.labels.put(`<text x="100%%" y="%s" class="t">%s</text>`, coordinate(p.yAt(v)+4), esc(text(v)))
		p.back.put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="g"/>`, y, y)
	}
}

// xLabel writes a label under the field (or above it), kept inside at the ends.
func (p *plot) xLabel(x, y float64, text string, grid bool) {
	at := p.x.at(x)
	anchor := "m"
	switch {
	case at < 0.04:
		anchor = "s"
	case at > 0.96:
		anchor = "e"
	}
	p.front.put(`<text x="%s" y="%s" class="%s">%s</text>`, p.xAt(x), coordinate(y), anchor, esc(text))
	if grid {
		p.back.put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="g"/>`, p.xAt(x), p.xAt(x),
			coordinate(p.top), coordinate(p.height-p.bottom))
	}
}

// frame draws the axis lines at the left and the bottom.
func (p *plot) frame() {
	b := coordinate(p.height - p.bottom)
	p.back.put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="x"/>`, b, b)
}

// hline draws a limit with its text.
func (p *plot) hline(v float64, text string) {
	if at := p.y.at(v); at < 0 || at > 1 {
		return
	}
	y := p.yAt(v)
	p.front.put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="lim"/>`, coordinate(y), coordinate(y))
	p.front.put(`<text x="4" y="%s" class="limt">%s</text>`, coordinate(y-4), esc(text))
}

// path adds a line or an area to the field.
func (p *plot) path(class, d string) {
	if d != "" {
		p.field.put(`<path class="%s" d="%s"/>`, class, d)
	}
}

// render gives the chart as HTML: one image for who cannot see it, with a
// sentence.
func (p *plot) render(sentence string) string {
	var s svg
	h := coordinate(p.height)
	class := "chart"
	if p.wide {
		class += " wide"
	}
	s.put(`<div class="%s" role="img" aria-label="%s">`, class, esc(sentence))
	s.put(`<svg class="ya" height="%s" aria-hidden="true" focusable="false">%s</svg>`, h, p.labels.String())
	s.put(`<svg class="pa" height="%s" aria-hidden="true" focusable="false">%s`, h, p.back.String())
	if p.field.Len() > 0 {
		s.put(`<svg x="0" y="%s" width="100%%" height="%s" viewBox="0 0 1000 1000" preserveAspectRatio="none">%s</svg>`,
			coordinate(p.top), coordinate(p.height-p.top-p.bottom), p.field.String())
	}
	s.put(`%s</svg></div>`, p.front.String())
	return s.String()
}
