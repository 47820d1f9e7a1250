package compare

import (
	"tokenmeter/record/stat"
)

// Curve is one latency of both sides over its percentiles, for charts.
type Curve struct {
	Title, Candidate string
	Group            string // empty with one workload
	A, B             stat.Ordered
	Shift            []Shift
}

// Shift is the difference at one percentile, in percent of A.
type Shift struct {
	P            float64 // 0.95
	Diff, Lo, Hi float64
}

// drawnPercentiles are those whose difference is drawn.
var drawnPercentiles = []string{"p10", "p20", "p30", "p40", "p50", "p60", "p70", "p80", "p90", "p95", "p98", "p99"}

// Curves returns what charts show of a comparison: TTFT, TPOT (its adjusted
// form where tokens came in bursts) and E2E of every candidate.
func (r *Result) Curves() []Curve {
	var list []Curve
	o := Options{}.withDefaults()
	o.Seed = r.Method.Seed
	for _, p := range r.pairs {
		if p.refused {
			continue
		}
		for _, key := range []string{"ttft_ms", "tpot_ms", "e2e_ms"} {
			if key == "tpot_ms" && p.unlike[key] == burstsWhy {
				key = "tpot_adj_ms"
			}
			m := measureNamed(key)
			s := p.sides(m)
			if len(s.a) == 0 || len(s.b) == 0 || p.unlike[key] != "" {
				continue
			}
			c := Curve{Title: m.title, Candidate: r.Candidates[p.candidate].Name, Group: p.label,
				A: together(s.a), B: together(s.b)}
			for _, name := range drawnPercentiles {
				f := p.find(m, name, &o)
				q, _ := percentileOf(name)
				if f == nil || f.why != "" || f.interval == nil {
					continue
				}
				c.Shift = append(c.Shift, Shift{P: q, Diff: 100 * (f.b.Or(0)/f.a.Or(1) - 1),
					Lo: 100 * (f.interval[0] - 1), Hi: 100 * (f.interval[1] - 1)})
			}
			list = append(list, c)
		}
	}
	return list
}

// together is all values of a side as one ordered sample; of a baseline file
// as near as its histograms tell.
func together(list []series) stat.Ordered {
	if o := exactly(list); o != nil {
		return o
	}
	n := 0.0
	for _, s := range list {
		n += s.count()
	}
	return inverted{list, int64(n)}
}

// inverted is a sample known by its counts.
type inverted struct {
	list []series
	n    int64
}

func (v inverted) Len() int64 { return v.n }

func (v inverted) At(i int64) float64 {
	return inverse(v.list, (float64(i)+0.5)/float64(v.n))
}
