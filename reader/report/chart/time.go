package chart

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/typeset"
)

// Charts over the time of the run share one x axis: 0 is the run's start.

func timeAxis(c *gather.Gathered) Axis {
	return LinearAxis(0, math.Max(float64(c.Grid.Used)*c.Grid.Seconds(), 1e-3))
}

// timeSteps are distances of ticks that people count time in, in seconds.
var timeSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}

// timeTicks labels seconds; from a minute on minutes and seconds, as the words
// do.
func timeTicks(p *Plot, end float64) {
	if end <= 60 {
		for _, v := range (LinearAxis(0, end)).Ticks(6) {
			p.XLabel(v, p.Height-p.Bottom+16, typeset.AxisNumber(v)+" s", true)
		}
		return
	}
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if end/s <= 6 {
			step = s
			break
		}
	}
	for v := 0.0; v <= end; v += step {
		p.XLabel(v, p.Height-p.Bottom+16, typeset.Clock(v), true)
	}
}

// warmSeen is the share of the axis from which on a warm-up is drawn.
const warmSeen = 0.005

// warmupBand greys what came before the first measured request.
func warmupBand(p *Plot, c *gather.Gathered) {
	first := float64(c.First) / 1e6
	if c.N == 0 || first < p.X.Hi*warmSeen {
		return
	}
	p.Back.Put(`<rect x="0" y="%s" width="%s" height="%s" class="warm"/>`, Coordinate(p.top), p.XAt(first), Coordinate(p.Height-p.top-p.Bottom))
}

// heatLevels is how many steps the colours have; a count of one starts at the
// third, so that it is seen.
const (
	heatLevels = 9
	heatFirst  = 3
	heatRows   = 64
)

// HeatFigure is the map of gaps between chunks over time.
func HeatFigure(c *gather.Gathered, limits []LimitLine) Figure {
	f := Figure{ID: "gaps", Title: "Gaps between chunks over time",
		Sub: fmt.Sprintf("gap between two chunks of an answer, by when it ended; columns of %s; colour = how many gaps, on a log scale",
			typeset.Span(c.Grid.Seconds()*1e3, typeset.Digits{Round: true}))}
	if !c.Grid.AnyGap {
		f.Empty = "No gaps are known: no answer came in two or more pieces, or the run has no arrivals."
		return f
	}
	h := newHeat(c.Grid)
	p := NewPlot(300, timeAxis(c), h.y)
	p.wide = true
	p.YAxis(h.unit+", log", p.Y.Ticks(7), typeset.AxisNumber)
	p.Frame()
	timeTicks(p, p.X.Hi)
	warmupBand(p, c)
	h.warm = float64(c.First)/1e6 > p.X.Hi*warmSeen
	h.cells(p)
	h.lines(p)
	for _, l := range limits {
		p.Hline(l.Value/h.scale, l.Text, false)
	}
	f.Title = h.title()
	f.Chart = HTML(p, h.sentence())
	f.Keys = h.keys()
	f.Table = h.table()
	return f
}

// heat is the grid's gaps, in at most 64 rows over the range that occurs.
type heat struct {
	g      *gather.TimeGrid
	y      Axis
	from   int // first fine row
	group  int // fine rows in a row
	rows   int
	max    uint32
	unit   string
	scale  float64
	counts [][]uint32
	total  int64
	zeros  int64
	warm   bool
}

func newHeat(g *gather.TimeGrid) *heat {
	h := &heat{g: g, unit: "ms", scale: 1}
	lowest, highest := g.LowRow, g.HighRow
	if lowest > highest { // nothing but zeros
		lowest, highest = 0, gather.RowsPerDecade
	}
	h.group = (highest-lowest)/heatRows + 1
	h.from = lowest
	h.rows = (highest-lowest)/h.group + 1
	lo, hi := gather.RowEdge(h.from), gather.RowEdge(h.from+h.rows*h.group)
	if hi >= 20_000 {
		h.unit, h.scale = "s", 1e3
	}
	h.y = Axis{lo / h.scale, hi / h.scale, true}
	h.counts = make([][]uint32, g.Used)
	for i := range g.Used {
		h.counts[i] = make([]uint32, h.rows)
		h.zeros += int64(g.Zeros[i])
		for row, n := range g.Rows[i] {
			if n == 0 {
				continue
			}
			k := (row - h.from) / h.group
			h.counts[i][k] += n
			h.total += int64(n)
			h.max = max(h.max, h.counts[i][k])
		}
	}
	h.total += h.zeros
	return h
}

// level is the colour of a count.
func (h *heat) level(n uint32) int {
	if n <= 1 || h.max <= 1 {
		return heatFirst
	}
	share := math.Log(float64(n)) / math.Log(float64(h.max))
	return heatFirst + int(math.Round(share*(heatLevels-heatFirst)))
}

// cells draws one path a colour; runs of equal cells in a column are one box.
func (h *heat) cells(p *Plot) {
	paths := make([]strings.Builder, heatLevels+1)
	columns := float64(h.g.Used)
	for i, counts := range h.counts {
		for k := 0; k < len(counts); {
			if counts[k] == 0 {
				k++
				continue
			}
			level, from := h.level(counts[k]), k
			for k < len(counts) && counts[k] > 0 && h.level(counts[k]) == level {
				k++
			}
			x0, x1 := float64(i)/columns*1000, float64(i+1)/columns*1000
			y0, y1 := (1-float64(k)/float64(h.rows))*1000, (1-float64(from)/float64(h.rows))*1000
			fmt.Fprintf(&paths[level], "M%s %sH%sV%sH%sZ", Coordinate(x0), Coordinate(y0), Coordinate(x1), Coordinate(y1), Coordinate(x0))
		}
	}
	for level := range paths {
		p.Path(fmt.Sprintf("h%d", level), paths[level].String())
	}
}

// lines join the medians and the longest gaps of the columns.
func (h *heat) lines(p *Plot) {
	var median, longest [][2]float64
	for i := range h.g.Used {
		x := (float64(i) + 0.5) * h.g.Seconds()
		m, ok := h.g.MedianGap(i)
		if !ok {
			m = math.NaN()
		}
		median = append(median, [2]float64{p.X.At(x), h.y.At(m / h.scale)})
		top := math.NaN()
		if h.g.MaxGap[i] >= gather.ShortestGap {
			top = h.y.At(float64(h.g.MaxGap[i]) / 1000 / h.scale)
		}
		longest = append(longest, [2]float64{p.X.At(x), top})
	}
	p.Path("max", Polyline(longest))
	p.Path("halo", Polyline(median)) // the median must be seen on any colour
	p.Path("med", Polyline(median))
}

func (h *heat) longest() (ms float64, column int) {
	var top int64
	for i, v := range h.g.MaxGap[:h.g.Used] {
		if v > top {
			top, column = v, i
		}
	}
	return float64(top) / 1000, column
}

func (h *heat) title() string {
	ms, column := h.longest()
	return fmt.Sprintf("Gaps between chunks: the longest was %s, at %s", typeset.Span(ms, typeset.Digits{}), typeset.Clock(float64(column)*h.g.Seconds()))
}

func (h *heat) sentence() string {
	ms, column := h.longest()
	return fmt.Sprintf("Heat map of %s gaps between chunks over %s. The longest gap was %s, %s after the start.",
		typeset.Count(h.total), typeset.Span(float64(h.g.Used)*h.g.Seconds()*1e3, typeset.Digits{Round: true}), typeset.Span(ms, typeset.Digits{}), typeset.Span(float64(column)*h.g.Seconds()*1e3, typeset.Digits{Round: true}))
}

func (h *heat) keys() []Key {
	keys := []Key{{"h3", "1 gap"}}
	if h.max > 3 {
		mid := uint32(math.Round(math.Sqrt(float64(h.max))))
		keys = append(keys, Key{fmt.Sprintf("h%d", h.level(mid)), typeset.Count(int64(mid))})
	}
	if h.max > 1 {
		keys = append(keys, Key{"h9", typeset.Count(int64(h.max))})
	}
	keys = append(keys, Key{"kmed", "median of the column"}, Key{"kmax", "longest gap of the column"})
	if h.warm {
		keys = append(keys, Key{"kwarm", "warm-up, not counted"})
	}
	if h.zeros > 0 {
		keys = append(keys, Key{"", fmt.Sprintf("not drawn: %s gaps under 0.01 ms (chunks that arrived together)", typeset.Count(h.zeros))})
	}
	return keys
}

func (h *heat) table() *Table {
	t := &Table{Head: []string{"from", "gaps", "median ms", "longest ms"}}
	step := (h.g.Used + rowsMax - 1) / rowsMax
	for i := 0; i < h.g.Used; i += step {
		var n, top int64
		median := typeset.Missing // of one column
		for j := i; j < min(i+step, h.g.Used); j++ {
			for _, k := range h.counts[j] {
				n += int64(k)
			}
			n += int64(h.g.Zeros[j])
			top = max(top, h.g.MaxGap[j])
			if m, ok := h.g.MedianGap(j); ok {
				median = typeset.Digits{}.Value(m)
			}
		}
		row := []string{typeset.Clock(float64(i) * h.g.Seconds()), typeset.Count(n), median, typeset.Missing}
		if n > 0 {
			row[3] = typeset.Digits{}.Value(float64(top) / 1000)
		}
		t.Rows = append(t.Rows, row)
	}
	if step > 1 {
		t.Head = []string{"from", "gaps", "longest ms"}
		for i, row := range t.Rows {
			t.Rows[i] = []string{row[0], row[1], row[3]}
		}
	}
	return t
}

// SeriesFigures are throughput (where answers have words), requests in flight and failures, one above the
// other on the x axis of the heat map.
func SeriesFigures(c *gather.Gathered, words bool) []Figure {
	if c.N == 0 {
		return nil
	}
	g := c.Grid
	var tokens, busy, errors []float64
	for i := range g.Used {
		tokens = append(tokens, g.TPS(i))
		busy = append(busy, g.InFlight(i))
		errors = append(errors, float64(g.Errors[i]))
	}
	each := typeset.Span(g.Seconds()*1e3, typeset.Digits{Round: true})
	var list []Figure
	if words {
		list = append(list, seriesFigure(c, "throughput", "Throughput", "tokens/s", "output tokens that arrived, in columns of "+each, "s3", tokens, false))
	}
	list = append(list, seriesFigure(c, "in-flight", "Requests in flight", "requests", "mean of each column", "s5", busy, false))
	failures := seriesFigure(c, "errors", "Failed requests", "requests", "failures by when they ended", "bad", errors, true)
	if sum(errors) == 0 {
		failures = Figure{ID: "errors-over-time", Title: "Failed requests", Empty: "No measured request failed."}
	}
	return append(list, failures)
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

func seriesFigure(c *gather.Gathered, id, title, unit, sub, class string, values []float64, bars bool) Figure {
	f := Figure{ID: id + "-over-time", Title: title, Sub: sub}
	top, at := 0.0, 0
	for i, v := range values {
		if v > top {
			top, at = v, i
		}
	}
	if top == 0 {
		f.Empty = "It was 0 all the time."
		return f
	}
	p := NewPlot(130, timeAxis(c), LinearAxis(0, top*1.05))
	p.wide = true
	marks := p.Y.Ticks(3)
	if bars && top < 3 {
		marks = []float64{0, 1, 2}[:int(top)+1] // failures are whole
	}
	p.YAxis(unit, marks, typeset.AxisNumber)
	p.Frame()
	timeTicks(p, p.X.Hi)
	warmupBand(p, c)
	if bars {
		p.Path("fill "+class, columnsPath(p, values, c.Grid.Seconds()))
	} else {
		p.Path("ln "+class, stepsPath(p, values, c.Grid.Seconds()))
	}
	f.Chart = HTML(p, fmt.Sprintf("%s over time: at most %s %s, %s after the start.", title, typeset.Rate(top), unit,
		typeset.Span(float64(at)*c.Grid.Seconds()*1e3, typeset.Digits{Round: true})))
	f.Table = seriesTable(c, unit, values)
	return f
}

// stepsPath draws a column as a level stretch: nothing between columns is
// made up.
func stepsPath(p *Plot, values []float64, width float64) string {
	points := make([][2]float64, 0, 2*len(values))
	for i, v := range values {
		points = append(points, p.Point(float64(i)*width, v), p.Point(float64(i+1)*width, v))
	}
	return Polyline(points)
}

func columnsPath(p *Plot, values []float64, width float64) string {
	var b strings.Builder
	for i, v := range values {
		if v == 0 {
			continue
		}
		x0, x1 := p.X.At(float64(i)*width)*1000, p.X.At(float64(i+1)*width)*1000
		x1 = max(x1, x0+3)
		fmt.Fprintf(&b, "M%s 1000V%sH%sV1000Z", Coordinate(x0), Coordinate((1-p.Y.At(v))*1000), Coordinate(x1))
	}
	return b.String()
}

func seriesTable(c *gather.Gathered, unit string, values []float64) *Table {
	t := &Table{Head: []string{"from", unit + ", mean", "highest column"}}
	if unit == "requests" {
		t.Head[1] = unit
	}
	step := (len(values) + rowsMax - 1) / rowsMax
	for i := 0; i < len(values); i += step {
		part := values[i:min(i+step, len(values))]
		top := 0.0
		for _, v := range part {
			top = max(top, v)
		}
		t.Rows = append(t.Rows, []string{typeset.Clock(float64(i) * c.Grid.Seconds()), typeset.Rate(sum(part) / float64(len(part))), typeset.Rate(top)})
	}
	return t
}
