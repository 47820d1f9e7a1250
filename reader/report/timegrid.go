package report

import "math"

// timeGrid counts what happened over the time of a run: at most columns equal
// columns, which double their width when the run is longer than was thought.
type timeGrid struct {
	width   int64 // µs of a column
	tokens  []float64
	busy    []int64 // µs of requests in flight
	errors  []int64
	maxGap  []int64 // µs
	rows    [][]uint32
	zeros   []uint32 // gaps too short for the axis
	used    int      // columns in use
	anyGap  bool
	lowRow  int
	highRow int
}

const (
	columnsMax = 240
	// Rows of gaps are logarithmic from shortestGap on, so many a decade.
	rowsPerDecade = 64
	decades       = 8
	shortestGap   = 10 // µs; shorter ones arrived together
)

func newTimeGrid(endUS int64) *timeGrid {
	return &timeGrid{width: niceWidth(endUS / columnsMax), lowRow: math.MaxInt,
		tokens: make([]float64, columnsMax), busy: make([]int64, columnsMax),
		errors: make([]int64, columnsMax), maxGap: make([]int64, columnsMax),
		zeros: make([]uint32, columnsMax), rows: make([][]uint32, columnsMax)}
}

// niceWidth is the next of 1, 2, 5 × 10^k, at least a millisecond.
func niceWidth(us int64) int64 {
	for p := int64(1000); ; p *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if m*p > us || p >= 1e12 {
				return m * p
			}
		}
	}
}

// column returns the column of a moment; it makes room when there is none.
func (g *timeGrid) column(us int64) int {
	us = max(us, 0)
	for us/g.width >= columnsMax {
		g.double()
	}
	i := int(us / g.width)
	g.used = max(g.used, i+1)
	return i
}

// double merges pairs of columns.
func (g *timeGrid) double() {
	g.width *= 2
	for i := range columnsMax {
		a, b := 2*i, 2*i+1
		if a >= columnsMax {
			g.tokens[i], g.busy[i], g.errors[i], g.maxGap[i], g.zeros[i], g.rows[i] = 0, 0, 0, 0, 0, nil
			continue
		}
		g.tokens[i] = g.tokens[a] + g.tokens[b]
		g.busy[i] = g.busy[a] + g.busy[b]
		g.errors[i] = g.errors[a] + g.errors[b]
		g.maxGap[i] = max(g.maxGap[a], g.maxGap[b])
		g.zeros[i] = g.zeros[a] + g.zeros[b]
		g.rows[i] = addRows(g.rows[a], g.rows[b])
	}
	g.used = (g.used + 1) / 2
}

// settle widens the columns of a run with few gaps, so that a column holds
// enough of them to show a shape.
func (g *timeGrid) settle() {
	var n int64
	for i := range g.used {
		n += int64(g.zeros[i])
		for _, k := range g.rows[i] {
			n += int64(k)
		}
	}
	for g.used > 60 && n > 0 && n/int64(g.used) < 40 {
		g.double()
	}
}

func addRows(a, b []uint32) []uint32 {
	if a == nil {
		return b
	}
	for i, n := range b {
		a[i] += n
	}
	return a
}

func (g *timeGrid) deliver(us int64, tokens float64) { g.tokens[g.column(us)] += tokens }

func (g *timeGrid) fail(us int64) { g.errors[g.column(us)]++ }

// gap counts a pause in the column in which it ended.
func (g *timeGrid) gap(us, gap int64) {
	i := g.column(us)
	g.anyGap = true
	g.maxGap[i] = max(g.maxGap[i], gap)
	if gap < shortestGap {
		g.zeros[i]++
		return
	}
	row := gapRow(gap)
	g.lowRow, g.highRow = min(g.lowRow, row), max(g.highRow, row)
	if g.rows[i] == nil {
		g.rows[i] = make([]uint32, rowsPerDecade*decades)
	}
	g.rows[i][row]++
}

func gapRow(us int64) int {
	row := int(math.Log10(float64(us)/shortestGap) * rowsPerDecade)
	return min(max(row, 0), rowsPerDecade*decades-1)
}

// rowEdge is the lower edge of a row in ms.
func rowEdge(row int) float64 {
	return shortestGap * math.Pow(10, float64(row)/rowsPerDecade) / 1000
}

// span adds a request's time in flight.
func (g *timeGrid) span(from, to int64) {
	from = max(from, 0)
	if to <= from {
		return
	}
	last := g.column(to)
	for i := int(from / g.width); i <= last; i++ {
		lo, hi := int64(i)*g.width, int64(i+1)*g.width
		g.busy[i] += min(hi, to) - max(lo, from)
	}
}

// inFlight is the mean number of requests in flight in a column.
func (g *timeGrid) inFlight(i int) float64 { return float64(g.busy[i]) / float64(g.width) }

func (g *timeGrid) inFlightAt(us int64) float64 {
	if i := max(us, 0) / g.width; i < columnsMax {
		return g.inFlight(int(i))
	}
	return 0
}

// tps is the tokens a second that arrived in a column.
func (g *timeGrid) tps(i int) float64 { return g.tokens[i] * 1e6 / float64(g.width) }

// seconds is a column's width.
func (g *timeGrid) seconds() float64 { return float64(g.width) / 1e6 }

// medianGap is the middle of the row in which a column's median gap lies, in
// ms; false where the column has none.
func (g *timeGrid) medianGap(i int) (float64, bool) {
	var n, upto int64
	for _, k := range g.rows[i] {
		n += int64(k)
	}
	n += int64(g.zeros[i])
	if n == 0 || g.rows[i] == nil {
		return 0, false
	}
	upto = int64(g.zeros[i])
	for row, k := range g.rows[i] {
		if upto += int64(k); upto*2 >= n && upto > int64(g.zeros[i]) {
			return math.Sqrt(rowEdge(row) * rowEdge(row+1)), true
		}
	}
	return 0, false
}
