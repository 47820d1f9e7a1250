package report

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Why says of objectives that were missed which requests missed them, when, and
// whether these waited or decoded longer than the others; then what failed, and how.
// Objectives that are on no time of a request, nor on failures, have no line.
func Why(r *run.Run, requests iter.Seq2[*timeline.Timeline, error], missed []objective.Objective) (beyond []string, failed string) {
	c := gather.From(r, requests)
	for _, o := range missed {
		of, _ := timeOf(o.Metric)
		f, ok := missedBy(o.Text, of, o.Limit, c)
		if !ok {
			continue
		}
		beyond = append(beyond, strings.Join(nonEmpty(f.Text+".", worst(of, o.Limit, c), f.Detail, causeOf(r, c, o.Metric, o.Limit)), " "))
	}
	return beyond, failedHow(r, c)
}

// Reasons writes of each run why it missed objectives, a paragraph a line; empty ones
// are passed over.
func Reasons(w io.Writer, dirs []string, why func(dir string) []string, o Options) error {
	b := bufio.NewWriter(w)
	t := newTerminal(b, o)
	for _, dir := range dirs {
		t.line("")
		t.line(t.text("Why, by the requests of " + dir + ":"))
		for _, text := range nonEmpty(why(dir)...) {
			t.labelled("  ", text, 2, "")
		}
	}
	return b.Flush()
}

func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// namedMost is how many requests are named one by one.
const namedMost = 3

// worst names the requests furthest beyond a limit.
func worst(of func(*gather.Request) float64, limit float64, c *gather.Gathered) string {
	var named []*gather.Request
	var list []string
	for range namedMost {
		var furthest *gather.Request
		for i := range c.Requests {
			q := &c.Requests[i]
			if q.OK && of(q) > limit && (furthest == nil || of(q) > of(furthest)) && !slices.Contains(named, q) {
				furthest = q
			}
		}
		if furthest == nil {
			break
		}
		named = append(named, furthest)
		list = append(list, fmt.Sprintf("%d (%s)", furthest.ID, msWords(of(furthest))))
	}
	if len(list) == 0 {
		return ""
	}
	return "Furthest beyond: requests " + strings.Join(list, ", ") + "."
}

// failedHow says how many requests failed, in which ways, when, and what the first of
// them was told.
func failedHow(r *run.Run, c *gather.Gathered) string {
	f := view.FailureOf(r)
	if f == nil {
		return ""
	}
	var at []int64
	var first *gather.Request
	for i := range c.Requests {
		q := &c.Requests[i]
		if !q.Classed {
			continue
		}
		at = append(at, q.Due)
		if first == nil || q.Due < first.Due {
			first = q
		}
	}
	text := fmt.Sprintf("%s of %s failed: %s%s.", typeset.Exact(r.Requests.Failed),
		typeset.Plural(r.Requests.OK+r.Requests.Failed, "request"), f.List(), crowded(at, c))
	if first != nil && f.First != "" {
		text += fmt.Sprintf(" The first, request %d, due at %s: %s.", first.ID, typeset.Clock(float64(first.Due)/1e6), strings.TrimRight(f.First, ". "))
	}
	return strings.Join(nonEmpty(text, sentence(f.Advice)), " ")
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}

// whyMissed says of each missed objective which requests missed it and when, and whether
// these waited or decoded longer than the others.
func whyMissed(r *run.Run, v *view.View, c *gather.Gathered) (list []finding) {
	if r.Goodput == nil || c.N == 0 {
		return nil
	}
	for i := range r.Goodput.Objectives {
		o := &r.Goodput.Objectives[i]
		if i < len(v.Objectives) && (v.Objectives[i].State == view.Missed || v.Objectives[i].State == view.Voided && o.State == objective.Missed) {
			if f, ok := missedAt(o, c); ok {
				f.Detail = strings.Join(nonEmpty(f.Detail, causeOf(r, c, o.Metric, o.Limit)), " ")
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

func missedAt(o *objective.ObjectiveResult, c *gather.Gathered) (f finding, ok bool) {
	of, link := timeOf(o.Metric)
	f, ok = missedBy(o.Text, of, o.Limit, c)
	f.Link = link
	return f, ok
}

// missedBy describes the requests beyond an objective's limit on a time of theirs; of
// none where there is no such time.
func missedBy(name string, of func(*gather.Request) float64, limit float64, c *gather.Gathered) (f finding, ok bool) {
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
		case q.OK && x > limit: // NaN is not beyond
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
	text := fmt.Sprintf("%s: %s of %s", name, typeset.Exact(int64(n)), typeset.Plural(int64(n+len(within)), "request"))
	switch {
	case len(beyond) == 0:
		text += " failed"
	case failed > 0:
		text += fmt.Sprintf(" are beyond it, %s of them as they failed", typeset.Exact(int64(failed)))
	default:
		text += " are beyond it"
	}
	text += crowded(at, c)
	return finding{Text: text, Detail: waitOrDecode(beyond, within)}, true
}

// crowded says when most of the requests were due, where they crowd.
func crowded(at []int64, c *gather.Gathered) string {
	length := c.Last - c.First
	if len(at) < 3 || length < 2_000_000 {
		return ""
	}
	from, to, n := densest(at, length/5)
	if share := float64(n) / float64(len(at)); share >= 0.5 {
		if n == len(at) {
			return ", all of them at " + stretch(from, to)
		}
		return fmt.Sprintf(", %s of them at %s", typeset.Exact(int64(n)), stretch(from, to))
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
	text := fmt.Sprintf("Those beyond it waited %s for the first token and then decoded for %s (medians)", msWords(wait), msWords(pace))
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
