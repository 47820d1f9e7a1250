package report

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/report/typeset"
	"tokenmeter/reader/report/view"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
)

// whyMissed says of each missed objective which requests missed it and when, and whether
// these waited or decoded longer than the others.
func whyMissed(r *run.Run, v *view.View, c *gather.Gathered) (list []finding) {
	if r.Goodput == nil || c.N == 0 {
		return nil
	}
	for i := range r.Goodput.Objectives {
		o := &r.Goodput.Objectives[i]
		if i < len(v.Objectives) && (v.Objectives[i].State == view.Missed || v.Objectives[i].State == view.Voided && o.State == objective.Missed) {
			if f, ok := missedBy(o, c); ok {
				list = append(list, f)
			}
		}
	}
	return list
}

// timeOf is the latency that an objective is on; nil where it is on none of a request.
func timeOf(metric string) (of func(*gather.Request) float64, link string) {
	switch metric {
	case "ttft":
		return ttft, "#curve-ttft"
	case "tpot":
		return tpot, "#curve-tpot"
	case "e2e":
		return func(q *gather.Request) float64 { return q.E2E }, "#curve-e2e"
	case "error_rate", "error rate":
		return func(*gather.Request) float64 { return 0 }, "#errors" // answered ones are within it
	}
	return nil, ""
}

// missedBy describes the requests beyond an objective's limit.
func missedBy(o *objective.ObjectiveResult, c *gather.Gathered) (f finding, ok bool) {
	of, link := timeOf(o.Metric)
	if of == nil {
		return f, false
	}
	var beyond, within []*gather.Request
	var at []int64
	failed := 0
	for i := range c.Requests {
		q := &c.Requests[i]
		x := of(q)
		switch {
		case q.Classed:
			failed++
			at = append(at, q.Due)
		case q.OK && x > o.Limit: // NaN is not beyond
			beyond = append(beyond, q)
			at = append(at, q.Due)
		case q.OK && !math.IsNaN(x):
			within = append(within, q)
		}
	}
	n := len(beyond) + failed
	if n == 0 {
		return f, false
	}
	text := fmt.Sprintf("%s: %s of %s", o.Text, typeset.Exact(int64(n)), typeset.Plural(int64(n+len(within)), "request"))
	switch {
	case len(beyond) == 0:
		text += " failed"
	case failed > 0:
		text += fmt.Sprintf(" are beyond it, %s of them as they failed", typeset.Exact(int64(failed)))
	default:
		text += " are beyond it"
	}
	text += crowded(at, c)
	return finding{Text: text, Detail: waitOrDecode(beyond, within), Link: link}, true
}

// crowded says when most of the requests were due, where they crowd.
func crowded(at []int64, c *gather.Gathered) string {
	length := c.Last - c.First
	if len(at) < 3 || length < 2_000_000 {
		return ""
	}
	from, to, n := densest(at, length/5)
	if share := float64(n) / float64(len(at)); share >= 0.5 {
		return fmt.Sprintf(", %s of these due at %s", typeset.Percent(share), stretch(from, to))
	}
	return ", spread over the whole run"
}

// waitOrDecode holds the parts of the slow requests against those of the others.
func waitOrDecode(slow, others []*gather.Request) string {
	if len(slow) == 0 {
		return ""
	}
	decode := func(q *gather.Request) float64 { return q.E2E - q.TTFT }
	wait, pace := medianOf(slow, ttft), medianOf(slow, decode)
	if math.IsNaN(wait) || math.IsNaN(pace) {
		return ""
	}
	text := fmt.Sprintf("They waited %s for the first token and then decoded for %s (medians)", msWords(wait), msWords(pace))
	w, p := medianOf(others, ttft), medianOf(others, decode)
	if math.IsNaN(w) || math.IsNaN(p) || len(others) < 5 {
		return text + "."
	}
	text += fmt.Sprintf("; the others %s and %s: ", msWords(w), msWords(p))
	switch more, longer := wait-w, pace-p; {
	case more > 2*math.Abs(longer):
		text += "they were waiting, not decoding."
	case longer > 2*math.Abs(more):
		text += "they were decoding, not waiting."
	default:
		return strings.TrimSuffix(text, ": ") + "."
	}
	return text
}

func medianOf(rows []*gather.Request, of func(*gather.Request) float64) float64 {
	var values []float64
	for _, q := range rows {
		if x := of(q); !math.IsNaN(x) {
			values = append(values, x)
		}
	}
	return stat.Median(values)
}
