package compare

import (
	"tokenmeter/record/stat"
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
	var known stat.Sample
	for _, r := range g.Runs {
		s := r.series[m.key]
		if s == nil {
			row.Runs = append(row.Runs, opt{})
			continue
		}
		v, _ := value([]series{s}, m, name)
		row.Runs = append(row.Runs, v)
		if x, ok := v.Get(); ok {
			known.Add(x)
		}
	}
	if known.Len() == 0 {
		return row, false
	}
	row.Together, _ = figureOf(g.Runs, m, name)
	if of, _ := known.Moments(); of.N > 1 {
		switch {
		case m.kind == ofShare:
			row.SpreadPct = timeline.Some(100 * of.SD)
		case of.Mean > 0:
			row.SpreadPct = timeline.Some(100 * of.SD / of.Mean)
		}
	}
	return row, true
}
