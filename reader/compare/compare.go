// Package compare says whether one server is slower than another, from runs of
// both: the difference of each metric and percentile, its interval, and whether
// it is real. It holds gates for CI against it, keeps baselines in small files,
// ranks runs by several figures, and watches two live populations.
//
// The unit of analysis is the run where there are several a side, because
// requests inside a run are not independent of each other; with one run a side
// it is the block of consecutive requests, and then the answer holds within
// these runs only.
package compare

import (
	"cmp"
	"fmt"
	"slices"

	"tokenmeter/record/metric"
)

// Group is one side of a comparison: a run, or repeats of it.
type Group struct {
	Name string
	Runs []*Run
}

// Options of a comparison. The zero value is right for most.
type Options struct {
	// Within is the difference that does not matter, as a share: an interval
	// inside ± Within means "same". 0: 3 %.
	Within float64
	// WithinShare is the same for shares of requests (errors, goodput), in
	// points of one. 0: 0.01, a percentage point.
	WithinShare float64
	// RunNoise is how far two runs of one server may differ. With one run a
	// side only a larger difference counts. 0: 3 %.
	RunNoise float64
	// Gates are limits on differences and on values.
	Gates []Gate
	// Metrics restricts the rows to these metrics (names without unit); empty: all.
	Metrics []string
	// AllowLowN lets percentiles count that have too few requests.
	AllowLowN bool
	// Allow names reasons against a comparison that are meant (see Reason);
	// they warn instead of refusing.
	Allow []string
	// Seed fixes resampling and permutations.
	Seed uint64
}

// Defaults of Options.
const (
	DefaultWithin      = 0.03
	DefaultWithinShare = 0.01
	DefaultRunNoise    = 0.03
)

// Level is the chance of any false alarm in a comparison, over all rows and
// candidates together; Confidence is that of the intervals shown.
const (
	Level      = 0.05
	Confidence = 0.95
)

func (o Options) withDefaults() Options {
	if o.Within == 0 {
		o.Within = DefaultWithin
	}
	if o.WithinShare == 0 {
		o.WithinShare = DefaultWithinShare
	}
	if o.RunNoise == 0 {
		o.RunNoise = DefaultRunNoise
	}
	return o
}

// Compare holds every candidate against the baseline. An error means that the
// question makes no sense (no runs, an unknown metric); runs that can't be
// compared are a result.
func Compare(baseline Group, candidates []Group, o Options) (*Result, error) {
	o = o.withDefaults()
	if len(baseline.Runs) == 0 {
		return nil, fmt.Errorf("the baseline has no run; give the folder that bench printed as saved")
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("there is nothing to compare %s with; give a second run", baseline.Name)
	}
	for _, c := range candidates {
		if len(c.Runs) == 0 {
			return nil, fmt.Errorf("%s has no run", c.Name)
		}
	}
	measures, err := chosen(o.Metrics)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Schema: Schema, Baseline: sideOf(baseline), Comparable: Comparable{Why: []Reason{}},
		Rows: []Row{}, Gates: []GateResult{},
		Method: Method{Level: Level, Confidence: Confidence, WithinPct: o.Within * 100, WithinPoints: o.WithinShare * 100,
			RunNoisePct: o.RunNoise * 100, Seed: o.Seed},
	}
	for i, c := range candidates {
		r.Candidates = append(r.Candidates, sideOf(c))
		r.compare(baseline, c, i, measures, &o)
	}
	r.conclude(&o)
	return r, nil
}

// compare adds the rows of one candidate.
func (r *Result) compare(baseline, candidate Group, index int, measures []*measure, o *Options) {
	pairs, reasons := match(baseline, candidate, o)
	r.Comparable.add(reasons)
	for _, p := range pairs {
		p.candidate = index
		if p.hasTold() {
			r.compareTold(p, measures, o)
			continue
		}
		for _, m := range measures {
			if len(o.Metrics) == 0 && p.redundant(m) {
				continue
			}
			for _, stat := range m.stats {
				r.add(p, m, stat, false, o)
			}
		}
		if p.unlike["tpot_ms"] == burstsWhy && slices.ContainsFunc(measures, func(m *measure) bool { return m.key == "tpot_ms" }) {
			// What the bursts leave of the pace.
			for _, stat := range percentiles {
				if m := measureNamed("tpot_adj"); !r.has(p, m, stat) {
					r.add(p, m, stat, false, o)
				}
			}
		}
		r.gated(p, o)
	}
}

// compareTold adds rows for the figures that both sides have.
func (r *Result) compareTold(p *pairing, asked []*measure, o *Options) {
	if len(o.Metrics) == 0 {
		asked = everyMeasure()
	}
	for _, m := range asked {
		for _, stat := range p.shared(m) {
			r.add(p, m, stat, false, o)
		}
	}
	if only := p.leftOutTold(asked); only != "" {
		r.Comparable.add([]Reason{{Name: "not_told", Level: Note, Says: r.Candidates[p.candidate].Name + ": figures that only one side has are left out: " + only}})
	}
	r.gated(p, o)
}

// gated adds the rows that only gates ask for.
func (r *Result) gated(p *pairing, o *Options) {
	for _, g := range o.Gates {
		if m := g.measure; m != nil && !r.has(p, m, g.Stat) {
			r.add(p, m, g.Stat, true, o)
		}
	}
	r.pairs = append(r.pairs, p)
}

// redundant reports whether another row says the same: the answer's first
// token where it is the first token, gaps between chunks where those between
// tokens are known.
func (p *pairing) redundant(m *measure) bool {
	switch m.key {
	case "ttfo_ms":
		a, b := p.sides(measureNamed("ttft")), p.sides(m)
		return alikeSeries(a.a, b.a) && alikeSeries(a.b, b.b)
	case "icl_ms":
		itl := p.sides(measureNamed("itl"))
		return len(itl.a) == len(p.a) && len(itl.b) == len(p.b)
	}
	return false
}

func (r *Result) has(p *pairing, m *measure, stat string) bool {
	return r.row(p, m, stat) != nil
}

func (r *Result) row(p *pairing, m *measure, stat string) *Row {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.pairing == p && row.Metric == m.key && row.Stat == stat {
			return row
		}
	}
	return nil
}

// add computes one row. What neither side measured has none, unless a gate
// asks for it.
func (r *Result) add(p *pairing, m *measure, stat string, asked bool, o *Options) {
	f := p.find(m, stat, o)
	if f == nil && !asked {
		return
	}
	row := Row{Metric: m.key, Stat: stat, Unit: m.unit, Candidate: r.Candidates[p.candidate].Name,
		Verdict: Unclear, pairing: p, measure: m}
	if p.label != "" {
		row.Group = &p.label
	}
	if f != nil {
		row.fill(f, m)
	} else {
		row.Why = "neither side measured it"
	}
	if m.kind == ofGaps && !p.hasTold() {
		row.LeftOut = leftOut(p)
	}
	r.Rows = append(r.Rows, row)
}

// leftOut says of both sides which answers are not in ITL.
func leftOut(p *pairing) string {
	of := func(runs []*Run) string {
		counts, ok := map[string]int64{}, int64(0)
		for _, r := range runs {
			ok += r.Facts.Requests.OK
			for name, n := range r.Facts.ITLLeftOut {
				counts[name] += n
			}
		}
		return metric.LeftOut(counts, ok)
	}
	a, b := of(p.a), of(p.b)
	if a == "" && b == "" {
		return ""
	}
	return fmt.Sprintf("baseline: %s; candidate: %s", cmp.Or(a, "none left out"), cmp.Or(b, "none left out"))
}

// conclude adjusts the tests for their number, gives the verdicts and holds
// the gates.
func (r *Result) conclude(o *Options) {
	r.adjust(o)
	tests := r.tests()
	for i := range r.Rows {
		r.Rows[i].judge(o, tests)
	}
	r.Comparable.conclude()
	r.Verdict = r.overall()
	for _, g := range o.Gates {
		r.Gates = append(r.Gates, r.hold(g, o)...)
	}
	r.Says = r.sentence()
}
