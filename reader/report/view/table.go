package view

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Row is one latency of the table, with one unit.
type Row struct {
	Key, Name, Unit string
	Cells           []Cell
	N               string
	ExactN          int64
}

// Cell is one percentile: a value with its interval, or with what an interval
// would need.
type Cell struct {
	Value, Lo, Hi string
	needs         float64 // times the run's length, for an interval; 0: there is one, or nobody knows
	Exact         string
}

// Text is the cell in one piece.
func (c Cell) Text() string {
	if extra := c.Extra(); extra != "" {
		return c.Value + " " + extra
	}
	return c.Value
}

// Extra is what stands behind the value.
func (c Cell) Extra() string {
	switch {
	case c.Lo != "":
		return "[" + c.Lo + ", " + c.Hi + "]"
	case c.needs > 0 && c.Value != typeset.Missing:
		return "(needs " + TimesWords(c.needs) + ")"
	}
	return ""
}

// TimesWords is how many times as long a run would be: 3.4×.
func TimesWords(factor float64) string {
	if factor >= 1000 {
		return "1,000× or more"
	}
	return metric.Significant(math.Max(factor, 1.1), 2) + "×"
}

// short reports whether the run is too short for an interval of some figure.
func (r Row) short() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.needs > 0 && c.Value != typeset.Missing })
}

// doubt marks every figure of an invalid measurement; false when there is none.
func (r *Row) doubt() (marked bool) {
	for i := range r.Cells {
		if r.Cells[i].Value != typeset.Missing {
			r.Cells[i].Value += "?"
			marked = true
		}
	}
	return marked
}

// Percentile is one of the table: its name, and the share P of values below it.
type Percentile struct {
	Name string
	P    float64
}

// Percentiles are those of the table.
var Percentiles = []Percentile{{"p50", 0.50}, {"p90", 0.90}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}}

// Of is the percentile of a distribution.
func (p Percentile) Of(d *metric.Dist) timeline.Opt[float64] {
	v, _ := d.Stat(p.Name)
	return v
}

// Shown are the columns of the table, as indices of percentiles.
var Shown = []int{0, 2, 3}

// latencies are the rows of the table, in order.
var latencies = []struct{ key, name, objective string }{
	{"ttft_ms", "TTFT", "ttft"},
	{"ttfo_ms", "TTFO", "ttfo"},
	{"tpot_ms", "TPOT", "tpot"},
	{"itl_ms", "ITL", "itl"},
	{"icl_ms", "ICL", "icl"},
	{"ttfa_ms", "TTFA", "ttfa"},
	{"ttfi_ms", "TTFI", "ttfi"},
	{"starved_ms", "starved", "starved"},
	{"rtf", "RTF", "rtf"},
	{"e2e_ms", "E2E", "e2e"},
}

// wordless are the rows that are shown where there is sound, or a picture that came
// in steps.
func wordless(key string) bool {
	return key == "ttfa_ms" || key == "starved_ms" || key == "rtf" || key == "ttfi_ms"
}

// rows builds the latency table. Gaps between tokens are shown when they are
// known, else gaps between chunks; the answer's first token has a row of its
// own when it differs from the first token.
func rows(r *run.Run) (table []Row, notes []string) {
	for _, l := range latencies {
		d := r.Metrics[l.key]
		if wordless(l.key) && d.N == 0 && !(r.Speaks() && l.key == "ttfa_ms") {
			continue
		}
		if r.Wordless() && l.key != "e2e_ms" && !wordless(l.key) {
			continue // vectors, scores, sound and pictures have no first token and no pace
		}
		switch l.key {
		case "ttfo_ms":
			if same(d, r.Metrics["ttft_ms"]) {
				continue
			}
		case "itl_ms":
			if d.N == 0 && r.Metrics["icl_ms"].N > 0 {
				continue
			}
		case "icl_ms":
			if r.Metrics["itl_ms"].N > 0 || d.N == 0 {
				continue
			}
		}
		table = append(table, newRow(r, l.key, l.name, l.objective, d))
		if note := whyMissing(r, l.key, l.name, d); note != "" {
			notes = append(notes, note)
		}
		if left := metric.LeftOut(r.Requests.ITLLeftOut, r.Requests.OK); l.key == "itl_ms" && left != "" || l.key == "icl_ms" && left != "" {
			notes = append(notes, "ITL: "+left)
		}
	}
	return table, notes
}

func same(a, b metric.Dist) bool {
	return a.N == 0 || a.N == b.N && a.P50 == b.P50 && a.P95 == b.P95 && a.P99 == b.P99
}

func newRow(r *run.Run, key, name, objective string, d metric.Dist) Row {
	scale, unit := 1.0, "ms"
	if key == "rtf" {
		unit = "×"
	}
	for _, i := range Shown {
		if v, ok := Percentiles[i].Of(&d).Get(); ok && v >= 10_000 && unit == "ms" {
			scale, unit = 1e3, "s"
		}
	}
	line := Row{Key: key, Name: name, Unit: unit, N: typeset.Count(d.N), ExactN: d.N}
	if r.Told != nil && d.N == 0 {
		line.N = typeset.Missing // the other tool's file need not say it
	}
	for _, i := range Shown {
		p := Percentiles[i]
		line.Cells = append(line.Cells, newCell(d, p.Name, p.Of(&d), scale, limitOf(r, objective, p.P)))
	}
	return line
}

func newCell(d metric.Dist, name string, value timeline.Opt[float64], scale float64, limit timeline.Opt[float64]) Cell {
	v, ok := value.Get()
	if !ok {
		return Cell{Value: typeset.Missing}
	}
	g := typeset.Digits{Limit: timeline.Map(limit, func(l float64) float64 { return l / scale })}
	c := Cell{Exact: fmt.Sprintf("%g", v)}
	if ci, has := d.CI95[name]; has {
		c.Value, c.Lo, c.Hi = g.Interval(v/scale, ci[0]/scale, ci[1]/scale)
		return c
	}
	c.Value, c.needs = g.Value(v/scale), d.Needs[name]
	return c
}

// limitOf is the limit that an objective puts on a percentile of a metric.
func limitOf(r *run.Run, name string, p float64) timeline.Opt[float64] {
	if r.Goodput == nil {
		return timeline.Opt[float64]{}
	}
	for _, o := range r.Goodput.Objectives {
		if q, ok := o.Percentile.Get(); ok && o.Metric == name && near(q, p) {
			return timeline.Some(o.Limit)
		}
	}
	return timeline.Opt[float64]{}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// whyMissing explains a row without values.
func whyMissing(r *run.Run, key, name string, d metric.Dist) string {
	if d.N > 0 || r.Requests.OK == 0 || r.Told != nil { // a file's own figures say nothing of those it lacks
		return ""
	}
	flags := r.Requests.Flags
	switch {
	case flags["non_streaming"]+flags["stream_ignored"] >= r.Requests.OK:
		if key == "e2e_ms" {
			return ""
		}
		return name + ": the answers were no streams, only E2E is known"
	case key == "tpot_ms" && flags["burst"] >= r.Requests.OK:
		return name + ": every answer came in one burst, so it has no pace"
	case key == "tpot_ms" && flags["hidden_reasoning"] >= r.Requests.OK:
		return name + ": how much of the reasoning was streamed is not told, or no answer had two tokens that arrived apart"
	case key == "tpot_ms":
		return name + ": no answer had two tokens that arrived apart"
	case key == "itl_ms":
		return name + ": tokens per event are not known"
	}
	return name + ": not measured"
}

// SortedKeys are a map's keys, smallest first.
func SortedKeys[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
