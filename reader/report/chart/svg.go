package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tokenmeter/reader/typeset"
)

// A chart is two pictures side by side: a fixed column of labels for y, and
// the plot, whose width follows the page. Lengths across are in percent, so
// that text keeps its size; lines live in a stretched picture inside, drawn on
// a field of 1000 by 1000.

// SVG builds a picture as text. Everything that is not its own goes through
// Escape.
type SVG struct{ strings.Builder }

// Put adds markup; foreign text in it must have gone through Escape.
func (s *SVG) Put(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// Escape makes text stay text.
func Escape(text string) string { return typeset.Markup(typeset.Clean(text)) }

// Coordinate writes a length with at most one decimal.
func Coordinate(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(t, ".0")
}

// Axis maps values to 0…1, linear or logarithmic.
type Axis struct {
	Lo, Hi float64
	log    bool
}

// At is a value's place on the axis: 0 at Lo, 1 at Hi.
func (a Axis) At(v float64) float64 {
	lo, hi := a.Lo, a.Hi
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(math.Max(v, a.Lo/10))
	}
	if hi == lo {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// LinearAxis goes evenly from lo to hi.
func LinearAxis(lo, hi float64) Axis { return Axis{Lo: lo, Hi: hi} }

// LogAxis covers values with room, from and to a number of the 1-2-5 series.
// Values close together get a closer axis, but never one that makes a few
// percent look like a cliff.
func LogAxis(lo, hi float64) Axis {
	if !(lo > 0) {
		lo = hi / 1000
	}
	if !(hi > lo) {
		hi = lo
	}
	if hi/lo < 2 {
		middle := math.Sqrt(lo * hi)
		return Axis{min(lo*0.95, middle/1.25), max(hi*1.05, middle*1.25), true}
	}
	return Axis{below125(lo * 0.98), Above125(hi * 1.02), true}
}

// Above125 is the next number of the 1-2-5 series from v on.
func Above125(v float64) float64 {
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

// Ticks are the numbers of the 1-2-5 series on the axis, thinned to at most n.
func (a Axis) Ticks(n int) []float64 {
	if !a.log || a.Hi/a.Lo < 4 {
		return a.LinearTicks(n)
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

func (a Axis) logTicks(steps []float64, every int) []float64 {
	var t []float64
	for e := typeset.Magnitude(a.Lo); math.Pow10(e) <= a.Hi; e++ {
		if every > 1 && ((e%every)+every)%every != 0 {
			continue
		}
		for _, m := range steps {
			if v := m * math.Pow10(e); v >= a.Lo*0.999999 && v <= a.Hi*1.000001 {
				t = append(t, v)
			}
		}
	}
	return t
}

// LinearTicks are about n numbers of the 1-2-5 series, evenly spaced.
func (a Axis) LinearTicks(n int) []float64 {
	step := Above125((a.Hi - a.Lo) / float64(n))
	var t []float64
	for v := math.Ceil(a.Lo/step) * step; v <= a.Hi*1.000001; v += step {
		t = append(t, math.Round(v/step)*step)
	}
	return t
}

// Polyline is the path of points given in 0…1, y upwards, on the field of the
// stretched picture. NaN breaks the line.
func Polyline(points [][2]float64) string {
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
		b.WriteString(Coordinate(p[0] * 1000))
		b.WriteByte(' ')
		b.WriteString(Coordinate((1 - p[1]) * 1000))
	}
	return b.String()
}

// Plot is a chart under construction.
type Plot struct {
	Height, top, Bottom float64 // px: whole, above and below the field
	X, Y                Axis
	labels              SVG // left column
	Back, Field, Front  SVG // grid; stretched lines; text and dots
	wide                bool
}

// NewPlot is an empty plot of a height in px.
func NewPlot(height float64, x, y Axis) *Plot {
	return &Plot{Height: height, top: 22, Bottom: 24, X: x, Y: y}
}

// YAt is a value's height in px from the top.
func (p *Plot) YAt(v float64) float64 {
	return p.top + (1-p.Y.At(v))*(p.Height-p.top-p.Bottom)
}

// XAt is a value's place across in percent.
func (p *Plot) XAt(v float64) string { return coordinate2(p.X.At(v)*100) + "%" }

func coordinate2(v float64) string {
	t := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(t, "0"), ".")
}

// Point is a value in the field's 0…1.
func (p *Plot) Point(x, y float64) [2]float64 { return [2]float64{p.X.At(x), p.Y.At(y)} }

// YAxis draws grid lines with their labels and the unit above them.
func (p *Plot) YAxis(unit string, ticks []float64, text func(float64) string) {
	p.labels.Put(`<text x="100%%" y="12" class="u">%s</text>`, Escape(unit))
	for _, v := range ticks {
		y := Coordinate(p.YAt(v))
		p.labels.Put(`<text x="100%%" y="%s" class="t">%s</text>`, Coordinate(p.YAt(v)+4), Escape(text(v)))
		p.Back.Put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="g"/>`, y, y)
	}
}

// XLabel writes a label under the field (or above it), kept inside at the ends.
func (p *Plot) XLabel(x, y float64, text string, grid bool) {
	at := p.X.At(x)
	anchor := "m"
	switch {
	case at < 0.04:
		anchor = "s"
	case at > 0.96:
		anchor = "e"
	}
	p.Front.Put(`<text x="%s" y="%s" class="%s">%s</text>`, p.XAt(x), Coordinate(y), anchor, Escape(text))
	if grid {
		p.Back.Put(`<line x1="%s" x2="%s" y1="%s" y2="%s" class="g"/>`, p.XAt(x), p.XAt(x),
			Coordinate(p.top), Coordinate(p.Height-p.Bottom))
	}
}

// Frame draws the axis lines at the left and the bottom.
func (p *Plot) Frame() {
	b := Coordinate(p.Height - p.Bottom)
	p.Back.Put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="x"/>`, b, b)
}

// Hline draws a limit with its text at a value of the y axis, in its unit; nothing
// where that lies outside the field. A rising curve crosses it: then its text stands at
// the end, under the line, where the curve is above it.
func (p *Plot) Hline(v float64, text string, under bool) {
	if at := p.Y.At(v); at < 0 || at > 1 {
		return
	}
	y := p.YAt(v)
	p.Front.Put(`<line x1="0" x2="100%%" y1="%s" y2="%s" class="lim"/>`, Coordinate(y), Coordinate(y))
	if under && y+underText < p.Height-p.Bottom {
		p.Front.Put(`<text x="100%%" y="%s" dx="-4" class="e limt">%s</text>`, Coordinate(y+underText-4), Escape(text))
		return
	}
	p.Front.Put(`<text x="4" y="%s" class="limt">%s</text>`, Coordinate(y-4), Escape(text))
}

// underText is the room that a text under a line takes.
const underText = 18

// Path adds a line or an area to the field.
func (p *Plot) Path(class, d string) {
	if d != "" {
		p.Field.Put(`<path class="%s" d="%s"/>`, class, d)
	}
}
