package trend

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
)

// plot is a series as a terminal shows it: its blocks and its changes.
type plot struct {
	from  time.Time
	block time.Duration
	level []float64 // NaN: none
	at    []int     // blocks that begin a new level
}

// plotted are the blocks in the figure's own unit.
func (s *series) plotted(changes []Change) plot {
	p := plot{from: s.from, block: s.block, level: make([]float64, len(s.level))}
	for i, x := range s.level {
		switch {
		case s.n[i] == 0:
			p.level[i] = math.NaN()
		case isRate(s.metric):
			p.level[i] = float64(s.hits[i]) / float64(s.n[i])
		default:
			p.level[i] = math.Exp(x)
		}
	}
	for _, c := range changes {
		p.at = append(p.at, s.of(c.At))
	}
	return p
}

const (
	plotWidth  = 64
	plotHeight = 8
)

// text draws medians of as many columns as fit, from the least to the most of
// them; a line stands where the level changed.
func (p *plot) text() string {
	width := min(plotWidth, len(p.level))
	column := func(i int) int { return i * width / len(p.level) }
	columns := make([][]float64, width)
	for i, x := range p.level {
		if !math.IsNaN(x) {
			columns[column(i)] = append(columns[column(i)], x)
		}
	}
	mid := make([]float64, width)
	lo, hi := math.Inf(1), math.Inf(-1)
	for c := range columns {
		if mid[c] = stat.Median(columns[c]); !math.IsNaN(mid[c]) {
			lo, hi = math.Min(lo, mid[c]), math.Max(hi, mid[c])
		}
	}
	if !(hi >= lo) {
		return ""
	}
	grid := make([][]rune, plotHeight)
	for y := range grid {
		grid[y] = []rune(strings.Repeat(" ", width))
		for _, at := range p.at {
			if c := column(min(max(at, 0), len(p.level)-1)); c < width {
				grid[y][c] = '|'
			}
		}
	}
	for c, x := range mid {
		if !math.IsNaN(x) {
			y := 0
			if hi > lo {
				y = int(math.Round((hi - x) / (hi - lo) * (plotHeight - 1)))
			}
			grid[y][c] = '*'
		}
	}
	var b strings.Builder
	for y, line := range grid {
		label := ""
		switch y {
		case 0:
			label = metric.Significant(hi, 4)
		case plotHeight - 1:
			label = metric.Significant(lo, 4)
		}
		fmt.Fprintf(&b, "  %9s |%s\n", label, strings.TrimRight(string(line), " "))
	}
	end := p.from.Add(time.Duration(len(p.level)) * p.block)
	first, last := p.from.UTC().Format("2 Jan 15:04"), end.UTC().Format("2 Jan 15:04")
	fmt.Fprintf(&b, "  %9s  %s%s%s\n", "", first, strings.Repeat(" ", max(width-len(first)-len(last), 1)), last)
	return b.String()
}
