package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
)

// finding is something that was seen together with what went wrong. It never
// says "caused by": the records show what coincides, not why.
type finding struct {
	Text   string
	Detail string
	Link   string  // the chart that shows it
	metric string  // the latency it is about
	weight float64 // how much of the damage, for the order
}

// findingsMax is how many are worth reading.
const findingsMax = 5

// findings are looked for only when something failed or is suspect.
func findings(r *run.Run, v *view.View, c *gather.Gathered) []finding {
	slow := judgedBad(v)
	if r.Requests.Failed == 0 && !slow || c.N == 0 {
		return nil
	}
	var list []finding
	take := func(f finding, ok bool) {
		if !ok || f.metric != "" && !slow {
			return
		}
		relevant := relevance(v, f.metric)
		if relevant >= 0 || v.Verdict != view.Valid {
			f.weight += relevant
			list = append(list, f)
		}
	}
	take(stallsTogether(c))
	take(failuresTogether(c))
	for _, q := range dependences {
		take(thirds(c, q))
	}
	take(newConnections(c))
	take(drift(c, tpot, "TPOT", "#gaps"))
	take(drift(c, ttft, "TTFT", "#curve-ttft"))
	sort.SliceStable(list, func(i, j int) bool { return list[i].weight > list[j].weight })
	return list[:min(len(list), findingsMax)]
}

// relevance puts what is about a missed objective first, and what is about one
// that held last.
func relevance(v *view.View, metric string) float64 {
	weight := 0.0
	for _, o := range v.Objectives {
		if metric == "" || o.Metric != metric && !(metric == "tpot" && (o.Metric == "itl" || o.Metric == "icl" || o.Metric == "max_gap")) {
			continue
		}
		switch o.State {
		case view.Missed:
			return 2
		case view.Held, view.Open, view.Limit:
			weight = -1
		}
	}
	return weight
}

// judgedBad reports whether latencies are to be explained, not only failures.
func judgedBad(v *view.View) bool {
	for _, o := range v.Objectives {
		if o.State == view.Missed {
			return true
		}
	}
	return v.Verdict == view.Suspect || v.Verdict == view.Invalid
}

// stallsTogether finds the stretch of time in which most requests stalled.
func stallsTogether(c *gather.Gathered) (finding, bool) {
	if len(c.Stalls) == 0 {
		return finding{}, false
	}
	at := make([]int64, len(c.Stalls))
	stalled := map[int64]bool{}
	for i, s := range c.Stalls {
		at[i] = s.At
		stalled[s.Request] = true
	}
	from, to, n := densest(at, max(3_000_000, c.Grid.Width))
	text := fmt.Sprintf("%s stalled for over 200 ms in the middle of the answer", typeset.Plural(int64(len(stalled)), "request"))
	share := float64(len(stalled)) / float64(max(1, c.N))
	if n >= 4 && float64(n) >= 0.5*float64(len(at)) && float64(to-from) < 0.5*float64(c.Last-c.First) {
		during := map[int64]bool{}
		for _, s := range c.Stalls {
			if s.At >= from && s.At <= to {
				during[s.Request] = true
			}
		}
		text = fmt.Sprintf("%s stalled for over 200 ms at %s (%s of the run's %s stalls)",
			typeset.Plural(int64(len(during)), "request"), stretch(from, to), typeset.Exact(int64(n)), typeset.Exact(int64(len(at))))
	}
	var longest int64
	for _, s := range c.Stalls {
		longest = max(longest, s.US)
	}
	return finding{Text: text, Detail: "longest pause " + typeset.Span(float64(longest)/1000, typeset.Digits{}), Link: "#gaps", metric: "tpot", weight: 0.2 + share}, true
}

// densest is the window of a width that holds most moments.
func densest(at []int64, width int64) (from, to int64, n int) {
	slices.Sort(at)
	j := 0
	for i := range at {
		for j < len(at) && at[j]-at[i] <= width {
			j++
		}
		if j-i > n {
			from, to, n = at[i], at[j-1], j-i
		}
	}
	return from, to, n
}

// stretch is a time of the run: 0:41–0:44.
func stretch(from, to int64) string {
	a, b := typeset.Clock(float64(from)/1e6), typeset.Clock(float64(to)/1e6)
	if a == b {
		return a
	}
	return a + "–" + b
}

// failuresTogether says whether failures crowd in a part of the run.
func failuresTogether(c *gather.Gathered) (finding, bool) {
	var at []int64
	for _, q := range c.Requests {
		if q.Classed {
			at = append(at, q.Due)
		}
	}
	length := c.Last - c.First
	if len(at) < 3 || length < 2_000_000 {
		return finding{}, false
	}
	from, to, n := densest(at, length/10)
	if float64(n) < 0.6*float64(len(at)) {
		return finding{}, false
	}
	return finding{
		Text:   fmt.Sprintf("%d of %d failures were of requests due at %s, a tenth of the run or less", n, len(at), stretch(from, to)),
		Link:   "#errors-over-time",
		weight: 1 + float64(len(at))/float64(c.N),
	}, true
}

// comparison of a metric of the requests at both ends of something.
type comparison struct {
	metric func(*gather.Request) float64
	by     func(*gather.Request) float64
	needs  float64 // ratio of the medians that is worth a word
	name   string  // of the metric
	words  func(by float64) string
	link   string
}

// dependences are the metrics that are held against what may slow them.
var dependences = []comparison{
	{ttft, input, 1.3, "TTFT", tokensWords, "#curve-ttft"},
	{tpot, input, 1.15, "TPOT", tokensWords, "#curve-tpot"},
	{ttft, inFlight, 1.3, "TTFT", loadedWords, "#in-flight-over-time"},
	{tpot, inFlight, 1.15, "TPOT", loadedWords, "#in-flight-over-time"},
}

// apart is the ratio of the groups' medians of what they differ in, at least.
const apart = 1.2

// thirds compares the median of a metric between the requests with the lowest
// and the highest third of something.
func thirds(c *gather.Gathered, q comparison) (finding, bool) {
	var rows []*gather.Request
	for i := range c.Requests {
		m, b := q.metric(&c.Requests[i]), q.by(&c.Requests[i])
		if c.Requests[i].OK && !math.IsNaN(m) && !math.IsNaN(b) && b > 0 {
			rows = append(rows, &c.Requests[i])
		}
	}
	if len(rows) < 30 {
		return finding{}, false
	}
	slices.SortStableFunc(rows, func(a, b *gather.Request) int { return cmp.Compare(q.by(a), q.by(b)) })
	third := len(rows) / 3
	low, lowBy := medianOf(rows[:third], q.metric), medianOf(rows[:third], q.by)
	high, highBy := medianOf(rows[len(rows)-third:], q.metric), medianOf(rows[len(rows)-third:], q.by)
	if low <= 0 || lowBy <= 0 || high/low < q.needs || highBy/lowBy < apart {
		return finding{}, false
	}
	return finding{Text: fmt.Sprintf("%s is %s with %s and %s with %s", q.name, msWords(low), q.words(lowBy), msWords(high), q.words(highBy)), Link: q.link,
		Detail: fmt.Sprintf("medians of the lowest and the highest third; n %s", typeset.Count(int64(len(rows)))),
		metric: strings.ToLower(q.name), weight: math.Log(high / low)}, true
}

func ttft(q *gather.Request) float64     { return q.TTFT }
func tpot(q *gather.Request) float64     { return q.TPOT }
func input(q *gather.Request) float64    { return q.Input }
func inFlight(q *gather.Request) float64 { return q.InFlight }

func msWords(ms float64) string { return typeset.Span(ms, typeset.Digits{Round: true}) }

func tokensWords(n float64) string { return typeset.Count(int64(n)) + " input tokens" }
func loadedWords(n float64) string { return typeset.Rate(n) + " in flight" }

// newConnections compares requests that had to connect with the others.
func newConnections(c *gather.Gathered) (finding, bool) {
	var fresh, reused []float64
	for _, q := range c.Requests {
		if !q.OK || !q.ReusedKnown || math.IsNaN(q.TTFT) {
			continue
		}
		if q.Fresh {
			fresh = append(fresh, q.TTFT)
		} else {
			reused = append(reused, q.TTFT)
		}
	}
	if len(fresh) < 3 || len(reused) < 3 {
		return finding{}, false
	}
	n := len(fresh)
	a, b := stat.Median(fresh), stat.Median(reused)
	if b <= 0 || a < 1.3*b {
		return finding{}, false
	}
	return finding{Text: fmt.Sprintf("TTFT is %s on new connections and %s on reused ones", msWords(a), msWords(b)),
		Detail: fmt.Sprintf("%s of %s requests made a new connection", typeset.Count(int64(n)), typeset.Count(int64(n+len(reused)))),
		Link:   "#worst", metric: "ttft", weight: math.Log(a/b) * float64(n) / float64(n+len(reused))}, true
}

// drift compares the halves of the run.
func drift(c *gather.Gathered, metric func(*gather.Request) float64, name, link string) (finding, bool) {
	middle := c.First + (c.Last-c.First)/2
	var a, b []float64
	for i := range c.Requests {
		q := &c.Requests[i]
		if v := metric(q); q.OK && !math.IsNaN(v) {
			if q.Due < middle {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
	}
	if len(a) < 15 || len(b) < 15 {
		return finding{}, false
	}
	x, y := stat.Median(a), stat.Median(b)
	if x <= 0 || y <= 0 || math.Abs(math.Log(y/x)) < math.Log(1.1) {
		return finding{}, false
	}
	verb := "rose"
	if y < x {
		verb = "fell"
	}
	return finding{Text: fmt.Sprintf("%s %s from %s in the first half of the run to %s in the second", name, verb, msWords(x), msWords(y)),
		Detail: fmt.Sprintf("medians; n %s and %s", typeset.Count(int64(len(a))), typeset.Count(int64(len(b)))),
		Link:   link, metric: strings.ToLower(name), weight: math.Abs(math.Log(y / x))}, true
}
