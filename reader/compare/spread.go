package compare

import (
	"math"

	"tokenmeter/record/timeline"
)

// SpreadRow is one figure of repeats of one server: what each run says, what
// they say together, and how far they lie apart.
type SpreadRow struct {
	Metric string `json:"metric"`
	Stat   string `json:"stat"`
	Unit   string `json:"unit"`
	Title  string `json:"-"`
	// Together is the figure of all values of the runs as one.
	Together opt `json:"together"`
	// Runs are the figures of the runs, in the order in which they were measured.
	Runs []opt `json:"runs"`
	// SpreadPct is the standard deviation between the runs, in percent of their
	// mean; of shares in points. Null for fewer than two runs.
	SpreadPct opt `json:"spread_pct"`
}

// SpreadOf lists the usual figures of repeats. What no run measured has no row.
func SpreadOf(g Group) []SpreadRow {
	list, err := chosen(nil)
	if err != nil {
		return nil
	}
	rows := []SpreadRow{}
	for _, m := range list {
		for _, name := range m.stats {
			if row, ok := spreadOf(g, m, name); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func spreadOf(g Group, m *measure, name string) (SpreadRow, bool) {
	row := SpreadRow{Metric: m.key, Stat: name, Unit: m.unit, Title: m.title}
	var known []float64
	for _, r := range g.Runs {
		s := r.series[m.key]
		if s == nil {
			row.Runs = append(row.Runs, opt{})
			continue
		}
		v, _ := value([]series{s}, m, name)
		row.Runs = append(row.Runs, v)
		if x, ok := v.Get(); ok {
			known = append(known, x)
		}
	}
	if len(known) == 0 {
		return row, false
	}
	row.Together, _ = figureOf(g.Runs, m, name)
	if len(known) > 1 {
		var mean, squares float64
		for i, x := range known {
			d := x - mean
			mean += d / float64(i+1)
			squares += d * (x - mean)
		}
		sd := math.Sqrt(squares / float64(len(known)-1))
		switch {
		case m.kind == ofShare:
			row.SpreadPct = timeline.Some(100 * sd)
		case mean > 0:
			row.SpreadPct = timeline.Some(100 * sd / mean)
		}
	}
	return row, true
}
