package lens

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// table collects the rows of one tool.
type table struct {
	facts Facts
	rows  []Row
	notes []string
}

type opt = timeline.Opt[float64]

// row adds a figure. ours names our counterpart ("ttft_ms.p99"), or several
// separated by "|" of which the first that is known counts.
func (t *table) row(name, unit string, value opt, ours, why string) {
	if v, ok := value.Get(); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
		value = opt{}
	}
	r := Row{Name: name, Unit: unit, Value: value, Why: why}
	for path := range strings.SplitSeq(ours, "|") {
		if r.Ours == "" {
			r.Ours = path
		}
		if v, ok := t.ours(path); ok {
			r.Ours, r.OurValue = path, timeline.Some(v*scale(path, unit))
			break
		}
	}
	if strings.HasPrefix(ours, "itl_ms") && t.facts.Summary != nil {
		q := &t.facts.Summary.Requests
		if left := metric.LeftOut(q.ITLLeftOut, q.OK); left != "" {
			r.Why += "; of our ITL " + left
		}
	}
	t.rows = append(t.rows, r)
}

// middle adds the mean, the median and the p99 of a sample under these names.
func (t *table) middle(names [3]string, name, unit string, s sample, ours, why string) {
	t.row(fmt.Sprintf(names[0], name), unit, mean(s), withStat(ours, "mean"), why)
	t.row(fmt.Sprintf(names[1], name), unit, linear(s, 0.5), withStat(ours, "p50"), why)
	t.row(fmt.Sprintf(names[2], name), unit, linear(s, 0.99), withStat(ours, "p99"), why)
}

func (t *table) noteIf(when bool, format string, args ...any) {
	if when {
		t.notes = append(t.notes, fmt.Sprintf(format, args...))
	}
}

// scale turns our milliseconds into the tool's unit.
func scale(path, unit string) float64 {
	name, _, _ := strings.Cut(path, ".")
	switch {
	case !strings.HasSuffix(name, "_ms"):
		return 1
	case unit == "s":
		return 1e-3
	case unit == "ns":
		return 1e6
	}
	return 1
}

// ours looks a figure up in our own summary.
func (t *table) ours(path string) (float64, bool) {
	switch path {
	case "goodput.fraction":
		return t.facts.GoodFraction.Get()
	case "goodput.requests_per_s":
		return t.facts.GoodPerS.Get()
	}
	s := t.facts.Summary
	if s == nil {
		return 0, false
	}
	switch path {
	case "requests.ok":
		return float64(s.Requests.OK), true
	case "requests.failed":
		return float64(s.Requests.Failed), true
	case "error_rate":
		return s.Requests.ErrorRate().Get()
	}
	name, stat, found := strings.Cut(path, ".")
	if !found {
		return s.Throughput.Rate(path).Get()
	}
	d := s.Metrics[name]
	v, _ := d.Stat(stat)
	return v.Get()
}

// withStat names the same statistic of each alternative.
func withStat(ours, stat string) string {
	if ours == "" {
		return ""
	}
	return strings.ReplaceAll(ours, "|", "."+stat+"|") + "." + stat
}
