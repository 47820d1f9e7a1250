package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"tokenmeter/reader/report/typeset"
	"tokenmeter/reader/report/view"
	"tokenmeter/record/run"
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
func findings(r *run.Run, v *view.View, c *collected) []finding {
	if !wrong(r, v) || c.n == 0 {
		return nil
	}
	slow := judgedBad(v)
	var list []finding
	for _, look := range []func(*collected) (finding, bool){
		stallsTogether, failuresTogether, firstTokenByInput, paceByInput, firstTokenByLoad, paceByLoad,
		newConnections, paceDrift, firstTokenDrift,
	} {
		if f, ok := look(c); ok && (f.metric == "" || slow) {
			relevant := relevance(v, f.metric)
			if relevant < 0 && v.Verdict == view.Valid {
				continue
			}
			f.weight += relevant
			list = append(list, f)
		}
	}
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

// wrong reports whether there is something to explain.
func wrong(r *run.Run, v *view.View) bool {
	return r.Requests.Failed > 0 || judgedBad(v)
}

// stallsTogether finds the stretch of time in which most requests stalled.
func stallsTogether(c *collected) (finding, bool) {
	if len(c.stalls) == 0 {
		return finding{}, false
	}
	at := make([]int64, len(c.stalls))
	stalled := map[int64]bool{}
	for i, s := range c.stalls {
		at[i] = s.at
		stalled[s.request] = true
	}
	from, to, n := densest(at, max(3_000_000, c.grid.width))
	text := fmt.Sprintf("%s stalled for over 200 ms in the middle of the answer", typeset.Plural(int64(len(stalled)), "request"))
	share := float64(len(stalled)) / float64(max(1, c.n))
	if n >= 4 && float64(n) >= 0.5*float64(len(at)) && float64(to-from) < 0.5*float64(c.last-c.first) {
		during := map[int64]bool{}
		for _, s := range c.stalls {
			if s.at >= from && s.at <= to {
				during[s.request] = true
			}
		}
		text = fmt.Sprintf("%s stalled for over 200 ms at %s (%s of the run's %s stalls)",
			typeset.Plural(int64(len(during)), "request"), stretch(from, to), typeset.Exact(int64(n)), typeset.Exact(int64(len(at))))
	}
	var longest int64
	for _, s := range c.stalls {
		longest = max(longest, s.us)
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
func failuresTogether(c *collected) (finding, bool) {
	var at []int64
	for _, q := range c.reqs {
		if q.classed {
			at = append(at, q.due)
		}
	}
	length := c.last - c.first
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
		weight: 1 + float64(len(at))/float64(c.n),
	}, true
}

// comparison of the requests at both ends of something.
type comparison struct {
	metric func(*request) float64
	by     func(*request) float64
	needs  float64 // ratio of the medians that is worth a word
	text   func(low, high, lowBy, highBy float64) string
	link   string
	apart  float64 // ratio of the groups' medians of by, at least
	name   string  // of the metric
}

// thirds compares the median of a metric between the requests with the lowest
// and the highest third of something.
func thirds(c *collected, q comparison) (finding, bool) {
	var rows []*request
	for i := range c.reqs {
		m, b := q.metric(&c.reqs[i]), q.by(&c.reqs[i])
		if c.reqs[i].ok && !math.IsNaN(m) && !math.IsNaN(b) && b > 0 {
			rows = append(rows, &c.reqs[i])
		}
	}
	if len(rows) < 30 {
		return finding{}, false
	}
	slices.SortStableFunc(rows, func(a, b *request) int {
		switch {
		case q.by(a) < q.by(b):
			return -1
		case q.by(a) > q.by(b):
			return 1
		}
		return 0
	})
	third := len(rows) / 3
	low, lowBy := medians(rows[:third], q)
	high, highBy := medians(rows[len(rows)-third:], q)
	if low <= 0 || lowBy <= 0 || high/low < q.needs || highBy/lowBy < q.apart {
		return finding{}, false
	}
	return finding{Text: q.text(low, high, lowBy, highBy), Link: q.link,
		Detail: fmt.Sprintf("medians of the lowest and the highest third; n %s", typeset.Count(int64(len(rows)))),
		metric: q.name, weight: math.Log(high / low)}, true
}

func medians(rows []*request, q comparison) (metric, by float64) {
	m, b := make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		m[i], b[i] = q.metric(r), q.by(r)
	}
	return median(m), median(b)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func ttft(q *request) float64     { return q.ttft }
func tpot(q *request) float64     { return q.tpot }
func input(q *request) float64    { return q.input }
func inFlight(q *request) float64 { return q.inFlight }

func growth(what string, by func(float64) string) func(low, high, lowBy, highBy float64) string {
	return func(low, high, lowBy, highBy float64) string {
		return fmt.Sprintf("%s is %s with %s and %s with %s", what,
			msWords(low), by(lowBy), msWords(high), by(highBy))
	}
}

func msWords(ms float64) string { return typeset.Span(ms, typeset.Digits{Round: true}) }

func tokensWords(n float64) string { return typeset.Count(int64(n)) + " input tokens" }
func loadedWords(n float64) string { return typeset.Rate(n) + " in flight" }

func firstTokenByInput(c *collected) (finding, bool) {
	return thirds(c, comparison{ttft, input, 1.3, growth("TTFT", tokensWords), "#curve-ttft", 1.2, "ttft"})
}

func paceByInput(c *collected) (finding, bool) {
	return thirds(c, comparison{tpot, input, 1.15, growth("TPOT", tokensWords), "#curve-tpot", 1.2, "tpot"})
}

func firstTokenByLoad(c *collected) (finding, bool) {
	return thirds(c, comparison{ttft, inFlight, 1.3, growth("TTFT", loadedWords), "#in-flight-over-time", 1.2, "ttft"})
}

func paceByLoad(c *collected) (finding, bool) {
	return thirds(c, comparison{tpot, inFlight, 1.15, growth("TPOT", loadedWords), "#in-flight-over-time", 1.2, "tpot"})
}

// newConnections compares requests that had to connect with the others.
func newConnections(c *collected) (finding, bool) {
	var fresh, reused []float64
	for _, q := range c.reqs {
		if !q.ok || !q.reusedKnown || math.IsNaN(q.ttft) {
			continue
		}
		if q.fresh {
			fresh = append(fresh, q.ttft)
		} else {
			reused = append(reused, q.ttft)
		}
	}
	if len(fresh) < 3 || len(reused) < 3 {
		return finding{}, false
	}
	n := len(fresh)
	a, b := median(fresh), median(reused)
	if b <= 0 || a < 1.3*b {
		return finding{}, false
	}
	return finding{Text: fmt.Sprintf("TTFT is %s on new connections and %s on reused ones", msWords(a), msWords(b)),
		Detail: fmt.Sprintf("%s of %s requests made a new connection", typeset.Count(int64(n)), typeset.Count(int64(n+len(reused)))),
		Link:   "#worst", metric: "ttft", weight: math.Log(a/b) * float64(n) / float64(n+len(reused))}, true
}

func paceDrift(c *collected) (finding, bool) { return drift(c, tpot, "TPOT", "#gaps") }

func firstTokenDrift(c *collected) (finding, bool) { return drift(c, ttft, "TTFT", "#curve-ttft") }

// drift compares the halves of the run.
func drift(c *collected, metric func(*request) float64, name, link string) (finding, bool) {
	middle := c.first + (c.last-c.first)/2
	var a, b []float64
	for i := range c.reqs {
		q := &c.reqs[i]
		if v := metric(q); q.ok && !math.IsNaN(v) {
			if q.due < middle {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
	}
	if len(a) < 15 || len(b) < 15 {
		return finding{}, false
	}
	x, y := median(a), median(b)
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
