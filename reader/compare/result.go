package compare

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Schema names the version of the result.
const Schema = "tokenmeter.compare/v1"

// Verdict says what became of a figure.
type Verdict string

// The verdicts of a row. Mixed and NotComparable are of the whole only.
const (
	Better        Verdict = "better"
	Worse         Verdict = "worse"
	Same          Verdict = "same"    // the interval lies inside the margin
	Unclear       Verdict = "unclear" // not settled by these requests
	Mixed         Verdict = "mixed"
	NotComparable Verdict = "not_comparable"
)

// Result is the outcome of a comparison, as `compare --format json` prints it.
type Result struct {
	Schema     string       `json:"schema"`
	Baseline   Side         `json:"baseline"`
	Candidates []Side       `json:"candidates"`
	Comparable Comparable   `json:"comparable"`
	Method     Method       `json:"method"`
	Rows       []Row        `json:"rows"`
	Gates      []GateResult `json:"gates"`
	Verdict    Verdict      `json:"verdict"`
	Says       string       `json:"says"` // the verdict in a sentence
	Pareto     *Pareto      `json:"pareto,omitempty"`

	pairs []*pairing
}

// JSON is the result as `compare --format json` prints it.
func (r *Result) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(printable.JSON(data), '\n'), nil
}

// Broken reports whether a gate broke: the exit code is 1.
func (r *Result) Broken() bool {
	return slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.State == Broken })
}

// Side is one side as it is shown.
type Side struct {
	Name string    `json:"name"`
	Runs []SideRun `json:"runs"`
	// Requests were measured, in all its runs; null where another tool did not tell them.
	Requests timeline.Opt[int64] `json:"requests"`
	Model    string              `json:"model"`
	Server   string              `json:"server"`
}

// SideRun names one run of a side.
type SideRun struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

// Method is how the comparison was made.
type Method struct {
	Level        float64 `json:"level"`         // chance of any false alarm over all rows
	Confidence   float64 `json:"confidence"`    // of the intervals
	WithinPct    float64 `json:"within_pct"`    // differences inside are "same"
	WithinPoints float64 `json:"within_points"` // the same for shares, in percentage points
	RunNoisePct  float64 `json:"run_noise_pct"` // with one run a side only larger differences count
	Seed         uint64  `json:"seed"`
}

// Unit is the unit of analysis.
type Unit string

// The units. A round is a pair of runs that were measured in turns. By request
// the interval holds within these runs only. Of a summary nothing is tested.
const (
	ByRun     Unit = "run"
	ByRound   Unit = "round"
	ByRequest Unit = "request"
	BySummary Unit = "summary"
)

// Row is one figure of one candidate against the baseline.
type Row struct {
	Candidate string  `json:"candidate"`
	Group     *string `json:"group"` // the workload, where several are compared
	Metric    string  `json:"metric"`
	Stat      string  `json:"stat"` // p50, mean, …; share; rate
	Unit      string  `json:"unit"`

	A       timeline.Opt[float64] `json:"a"`
	B       timeline.Opt[float64] `json:"b"`
	NA      int64                 `json:"n_a"`
	NB      int64                 `json:"n_b"`
	Diff    timeline.Opt[float64] `json:"diff"`     // b − a, in the unit
	DiffPct timeline.Opt[float64] `json:"diff_pct"` // null for shares
	CI95    *[2]float64           `json:"ci95"`     // of diff
	CI95Pct *[2]float64           `json:"ci95_pct"` // of diff_pct

	UnitOfAnalysis Unit                  `json:"unit_of_analysis"`
	P              timeline.Opt[float64] `json:"p"`
	PPermutation   timeline.Opt[float64] `json:"p_permutation"`
	PAdjusted      timeline.Opt[float64] `json:"p_adjusted"` // Holm, over all rows
	Verdict        Verdict               `json:"verdict"`
	More           *More                 `json:"more"` // what would settle an unclear row
	Why            string                `json:"why"`  // why there is no test; empty: there is one
	// Unsettled is what keeps a tested row from a verdict; empty: it has one.
	Unsettled string `json:"unsettled"`
	// LeftOut says beside ITL and ICL how many answers of each side are not in ITL, and
	// why; empty: all are.
	LeftOut string `json:"left_out,omitempty"`

	pairing *pairing
	measure *measure
	finding *finding
	gated   bool
}

// More is what would settle a row, for each side.
type More struct {
	Requests int64 `json:"requests,omitempty"`
	Runs     int64 `json:"runs,omitempty"`
}

// Real reports whether the difference was shown to be real.
func (row *Row) Real() bool {
	p, tested := row.PAdjusted.Get()
	return tested && p <= Level && row.PPermutation.Or(0) <= Level && row.excludesZero()
}

// Bad reports whether the candidate is on the bad side, real or not.
func (row *Row) Bad() bool {
	d, ok := row.Diff.Get()
	return ok && d != 0 && (d > 0) == (row.measure.better == metric.Lower)
}

// Title is the metric's short name for people.
func (row *Row) Title() string { return row.measure.title }

// Needed is how many requests a side a test of the row needs, where there is
// none because requests tell of each other; 0: that is not why, or nobody knows.
func (row *Row) Needed() int64 {
	if row.finding == nil {
		return 0
	}
	return row.finding.needed
}

// Share reports whether the row is a share of requests, compared in points.
func (row *Row) Share() bool { return row.measure.kind == ofShare }

func (row *Row) excludesZero() bool {
	return row.CI95 != nil && (row.CI95[0] > 0 || row.CI95[1] < 0)
}

// fill copies what was found.
func (row *Row) fill(f *finding, m *measure) {
	row.finding = f
	row.UnitOfAnalysis = f.unit
	row.A, row.B, row.NA, row.NB, row.Why = f.a, f.b, f.na, f.nb, f.why
	a, okA := f.a.Get()
	b, okB := f.b.Get()
	if !okA || !okB {
		return
	}
	row.Diff = timeline.Some(b - a)
	row.DiffPct = timeline.Maybe((b/a-1)*100, m.kind != ofShare && a > 0)
	if f.why != "" {
		return
	}
	row.P, row.PPermutation = f.p, f.permutation
	if ci := f.interval; ci != nil && m.kind == ofShare {
		row.CI95 = ci
	} else if ci != nil {
		row.CI95Pct = &[2]float64{(ci[0] - 1) * 100, (ci[1] - 1) * 100}
		row.CI95 = &[2]float64{a * (ci[0] - 1), a * (ci[1] - 1)}
	}
}

// gateWeight is the part of the level that gated rows have together: what a
// user promises to watch keeps its power, however many rows there are.
const gateWeight = 0.8

// adjust corrects the p-values for the number of tests.
func (r *Result) adjust(o *Options) {
	var rows []*Row
	gated := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if !row.P.OK() {
			continue
		}
		for _, g := range o.Gates {
			row.gated = row.gated || g.measure != nil && g.measure.key == row.Metric && g.Stat == row.Stat
		}
		if row.gated {
			gated++
		}
		rows = append(rows, row)
	}
	p, weight := make([]float64, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		p[i] = row.P.Or(1)
		switch {
		case gated == 0 || gated == len(rows):
			weight[i] = 1
		case row.gated:
			weight[i] = gateWeight / float64(gated)
		default:
			weight[i] = (1 - gateWeight) / float64(len(rows)-gated)
		}
	}
	for i, adjusted := range stat.HolmWeighted(p, weight) {
		rows[i].PAdjusted = timeline.Some(adjusted)
	}
}

// judge gives a row its verdict, one of so many tests. Same goes before better and worse: what is
// real and too small to matter is the same.
func (row *Row) judge(o *Options, tests int) {
	if row.Why != "" || row.finding == nil {
		return
	}
	switch {
	case row.inside(o) && row.UnitOfAnalysis != ByRequest, row.inside(o) && !row.excludesZero():
		row.Verdict = Same
	case row.inside(o):
		// A small difference between single runs may be the runs'.
	case row.Real() && row.Bad():
		row.Verdict = Worse
	case row.Real():
		row.Verdict = Better
	}
	if row.Verdict == Unclear {
		row.More = row.finding.more(o, row.measure, tests)
		row.Unsettled = row.unsettled(o, tests)
	}
}

// inside reports whether the interval lies in the margin.
func (row *Row) inside(o *Options) bool {
	ci, margin := row.CI95Pct, o.Within*100
	if row.Share() {
		ci, margin = row.CI95, o.WithinShare
	}
	return ci != nil && ci[0] >= -margin && ci[1] <= margin
}

// overall is the verdict on the whole.
func (r *Result) overall() Verdict {
	if r.Comparable.Verdict == NotComparableRuns {
		return NotComparable
	}
	seen := map[Verdict]int{}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.measure.better != "" {
			seen[row.Verdict]++
		}
	}
	switch {
	case seen[Better] > 0 && seen[Worse] > 0:
		return Mixed
	case seen[Worse] > 0:
		return Worse
	case seen[Better] > 0:
		return Better
	case seen[Same] > 0 && seen[Unclear] == 0:
		return Same
	}
	return Unclear
}

func sideOf(g Group) Side {
	s := Side{Name: g.Name, Runs: []SideRun{}}
	all, told := int64(0), true
	for _, run := range g.Runs {
		f := &run.Facts
		s.Runs = append(s.Runs, SideRun{ID: f.ID, Name: f.Name, Dir: f.Dir})
		all, told = all+f.Requests.Total, told && !f.Requests.Untold.Total
		s.Model, s.Server = cmp.Or(s.Model, f.Target.Model), cmp.Or(s.Server, f.Target.Server)
	}
	s.Requests = timeline.Maybe(all, told)
	return s
}

// finite keeps what is no number out of the result.
func finite(v float64) timeline.Opt[float64] {
	return timeline.Maybe(v, !math.IsNaN(v) && !math.IsInf(v, 0))
}
