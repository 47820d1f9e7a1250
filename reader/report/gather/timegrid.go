package gather

import "math"

// TimeGrid counts what happened over the time of a run: at most columns equal
// columns, which double their width when the run is longer than was thought.
type TimeGrid struct {
	Width   int64 // µs of a column
	tokens  []float64
	busy    []int64 // µs of requests in flight
	Errors  []int64
	MaxGap  []int64 // µs
	Rows    [][]uint32
	Zeros   []uint32 // gaps too short for the axis
	Used    int      // columns in use
	AnyGap  bool
	LowRow  int
	HighRow int
}

const (
	columnsMax = 240
	// Rows of gaps are logarithmic from shortestGap on, so many a decade.
	RowsPerDecade = 64
	decades       = 8
	ShortestGap   = 10 // µs; shorter ones arrived together
)

func newTimeGrid(endUS int64) *TimeGrid {
	return &TimeGrid{Width: niceWidth(endUS / columnsMax), LowRow: math.MaxInt,
		tokens: make([]float64, columnsMax), busy: make([]int64, columnsMax),
		Errors: make([]int64, columnsMax), MaxGap: make([]int64, columnsMax),
		Zeros: make([]uint32, columnsMax), Rows: make([][]uint32, columnsMax)}
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
func (g *TimeGrid) column(us int64) int {
	us = max(us, 0)
	for us/g.Width >= columnsMax {
		g.double()
	}
	i := int(us / g.Width)
	g.Used = max(g.Used, i+1)
	return i
}

// double merges pairs of columns.
func (g *TimeGrid) double() {
	g.Width *= 2
	for i := range columnsMax {
		a, b := 2*i, 2*i+1
		if a >= columnsMax {
			g.tokens[i], g.busy[i], g.Errors[i], g.MaxGap[i], g.Zeros[i], g.Rows[i] = 0, 0, 0, 0, 0, nil
			continue
		}
		g.tokens[i] = g.tokens[a] + g.tokens[b]
		g.busy[i] = g.busy[a] + g.busy[b]
		g.Errors[i] = g.Errors[a] + g.Errors[b]
		g.MaxGap[i] = max(g.MaxGap[a], g.MaxGap[b])
		g.Zeros[i] = g.Zeros[a] + g.Zeros[b]
		g.Rows[i] = addRows(g.Rows[a], g.Rows[b])
	}
	g.Used = (g.Used + 1) / 2
}

// settle widens the columns of a run with few gaps, so that a column holds
// enough of them to show a shape.
func (g *TimeGrid) settle() {
	var n int64
	for i := range g.Used {
		n += int64(g.Zeros[i])
		for _, k := range g.Rows[i] {
			n += int64(k)
		}
	}
	for g.Used > 60 && n > 0 && n/int64(g.Used) < 40 {
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

func (g *TimeGrid) deliver(us int64, tokens float64) { g.tokens[g.column(us)] += tokens }

func (g *TimeGrid) fail(us int64) { g.Errors[g.column(us)]++ }

// gap counts a pause in the column in which it ended.
func (g *TimeGrid) gap(us, gap int64) {
	i := g.column(us)
	g.AnyGap = true
	g.MaxGap[i] = max(g.MaxGap[i], gap)
	if gap < ShortestGap {
		g.Zeros[i]++
		return
	}
	row := gapRow(gap)
	g.LowRow, g.HighRow = min(g.LowRow, row), max(g.HighRow, row)
	if g.Rows[i] == nil {
		g.Rows[i] = make([]uint32, RowsPerDecade*decades)
	}
	g.Rows[i][row]++
}

func gapRow(us int64) int {
	row := int(math.Log10(float64(us)/ShortestGap) * RowsPerDecade)
	return min(max(row, 0), RowsPerDecade*decades-1)
}

// RowEdge is the lower edge of a row in ms.
func RowEdge(row int) float64 {
	return ShortestGap * math.Pow(10, float64(row)/RowsPerDecade) / 1000
}

// span adds a request's time in flight.
func (g *TimeGrid) span(from, to int64) {
	from = max(from, 0)
	if to <= from {
		return
	}
	last := g.column(to)
	for i := int(from / g.Width); i <= last; i++ {
		lo, hi := int64(i)*g.Width, int64(i+1)*g.Width
		g.busy[i] += min(hi, to) - max(lo, from)
	}
}

// InFlight is the mean number of requests in flight in a column.
func (g *TimeGrid) InFlight(i int) float64 { return float64(g.busy[i]) / float64(g.Width) }

func (g *TimeGrid) inFlightAt(us int64) float64 {
	if i := max(us, 0) / g.Width; i < columnsMax {
		return g.InFlight(int(i))
	}
	return 0
}

// TPS is the tokens a second that arrived in a column.
func (g *TimeGrid) TPS(i int) float64 { return g.tokens[i] * 1e6 / float64(g.Width) }

// Seconds is a column's width.
func (g *TimeGrid) Seconds() float64 { return float64(g.Width) / 1e6 }

// MedianGap is the middle of the row in which a column's median gap lies, in
// ms; false where the column has none.
func (g *TimeGrid) MedianGap(i int) (float64, bool) {
	var n, upto int64
	for _, k := range g.Rows[i] {
		n += int64(k)
	}
	n += int64(g.Zeros[i])
	if n == 0 || g.Rows[i] == nil {
		return 0, false
	}
	upto = int64(g.Zeros[i])
	for row, k := range g.Rows[i] {
		if upto += int64(k); upto*2 >= n && upto > int64(g.Zeros[i]) {
			return math.Sqrt(RowEdge(row) * RowEdge(row+1)), true
		}
	}
	return 0, false
}
