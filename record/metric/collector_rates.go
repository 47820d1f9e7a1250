package metric

import (
	"cmp"
	"slices"
	"sort"

	"tokenmeter/record/timeline"
)

// windows are the spans of time that rates are taken over, in µs on the run's
// clock. Only measured requests count.
type windows struct {
	rows          []row // measured, by start
	sent                // all of them
	begun         sent  // those that a schedule asks for: of conversations and tasks the first ones
	lastToken     int64 // the last generation event of the run
	anyToken      bool
	steady        bool
	from, to      int64 // of the steady window, whole bins
	maxInFlight   int64
	capWasReached bool
}

// sent says when some requests were due and when they left.
type sent struct {
	due, n                int64 // how many were due, and how many of these left
	firstDue, lastDue     int64
	firstStart, lastStart int64
}

// add takes the next request by start.
func (s *sent) add(r *row) {
	if s.due == 0 {
		s.firstDue, s.lastDue = r.due, r.due
	}
	s.due++
	s.firstDue, s.lastDue = min(s.firstDue, r.due), max(s.lastDue, r.due)
	if r.unsent {
		return
	}
	if s.n == 0 {
		s.firstStart = r.start
	}
	s.n++
	s.lastStart = r.start
}

// rate is how many left a second. Where some never did, time went on without
// them until the last was due.
func (s *sent) rate() timeline.Opt[float64] {
	until := s.lastStart
	if s.n < s.due {
		until = max(until, s.lastDue)
	}
	return rate(s.n, until-s.firstStart)
}

// byStart sorts by package sort: of slices' generic sort a copy for this struct weighs
// 30 kB in the binary, for a tenth of a second in a million requests.
type byStart []row

func (rows byStart) Len() int      { return len(rows) }
func (rows byStart) Swap(i, j int) { rows[i], rows[j] = rows[j], rows[i] }
func (rows byStart) Less(i, j int) bool {
	a, b := &rows[i], &rows[j]
	if a.start != b.start {
		return a.start < b.start
	}
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.end, b.end), cmp.Compare(a.request, b.request)) < 0
}

func (c *Collector) windows() windows {
	sort.Sort(byStart(c.rows))
	w := windows{rows: c.only(false)}
	for i := range w.rows {
		r := &w.rows[i]
		w.add(r)
		if !r.later {
			w.begun.add(r)
		}
		if r.tokenEnd >= r.due && (!w.anyToken || r.tokenEnd > w.lastToken) {
			w.lastToken, w.anyToken = r.tokenEnd, true
		}
	}
	w.findSteady(&c.Opts)
	return w
}

// only are the rows of the measured part, or those of what is not measured: all of
// them as they are, or a copy.
func (c *Collector) only(warmup bool) []row {
	n := 0
	for i := range c.rows {
		if c.rows[i].warmup == warmup {
			n++
		}
	}
	if n == len(c.rows) {
		return c.rows
	}
	rows := make([]row, 0, n)
	for _, r := range c.rows {
		if r.warmup == warmup {
			rows = append(rows, r)
		}
	}
	return rows
}

// mostAside is how many requests that are not measured were in flight at once.
func (c *Collector) mostAside() int64 {
	w := windows{rows: c.only(true)}
	return mostOf(w.steps())
}

// full is the length of the whole window in seconds: first due time to last
// generation event.
func (w *windows) full() timeline.Opt[float64] {
	return timeline.Maybe(float64(w.lastToken-w.firstDue)/1e6, w.anyToken && w.lastToken > w.firstDue)
}

// step is a change of the number of requests in flight.
type step struct {
	at    int64
	delta int64
}

// steps are the changes in order of time; at one moment the ends come first.
func (w *windows) steps() []step {
	var ends []int64
	for i := range w.rows {
		if !w.rows[i].unsent {
			ends = append(ends, w.rows[i].end)
		}
	}
	slices.Sort(ends)
	all := make([]step, 0, 2*len(w.rows))
	for i := range w.rows { // in order of their starts
		if w.rows[i].unsent {
			continue
		}
		at := w.rows[i].start
		for len(ends) > 0 && ends[0] <= at {
			all = append(all, step{ends[0], -1})
			ends = ends[1:]
		}
		all = append(all, step{at, +1})
	}
	for _, at := range ends {
		all = append(all, step{at, -1})
	}
	return all
}

// rate is (n−1) ÷ span: the rate at which events followed one another.
func rate(n, span int64) timeline.Opt[float64] {
	return timeline.Maybe(float64(n-1)/(float64(span)/1e6), n >= 2 && span > 0)
}

func (c *Collector) throughput(w *windows) Throughput {
	t := Throughput{ByOutcome: map[timeline.Outcome]float64{}, WindowS: w.full()}
	c.rates(&t)
	if w.n > 0 {
		t.AchievedPerS = w.sent.rate()
		if c.Opts.OpenLoop {
			t.OfferedPerS = c.offered(w)
		}
	}
	if from, to, ok := c.bins.span(); ok && c.counted() {
		if _, most, ok := c.bins.extreme(from, max(to, from+100), 100); ok && t.WindowS.Or(0) >= 1 {
			t.Best1sTPS = timeline.Some(most)
		}
	}
	if w.steady {
		c.steady(&t, w)
	}
	return t
}

func (c *Collector) offered(w *windows) timeline.Opt[float64] {
	if c.Opts.OfferedPerS.OK() {
		return c.Opts.OfferedPerS
	}
	return rate(w.begun.due, w.begun.lastDue-w.begun.firstDue)
}

// rates are the means over the full window.
func (c *Collector) rates(t *Throughput) {
	window, ok := t.WindowS.Get()
	t.CacheHitRate = c.tokens.cacheHitRate()
	if !ok {
		return
	}
	per := func(n int64) timeline.Opt[float64] { return timeline.Some(float64(n) / window) }
	var spent int64
	for outcome, n := range c.tokens.byOutcome {
		spent += n
		t.ByOutcome[outcome] = float64(n) / window
	}
	if c.counted() {
		t.SystemOutputTPS = per(spent)
		if n, has := c.tokens.byOutcome[timeline.OK]; has || c.requests.OK == 0 {
			t.SuccessOutputTPS = per(n)
		}
	}
	if c.tokens.streamedKnown && c.events.streamed > 0 {
		t.DeliveredTPS = per(c.tokens.streamed)
	}
	// A part of the requests would understate the rate.
	if c.tokens.inputKnown && c.tokens.inputUnknown == 0 {
		t.SystemInputTPS = per(c.tokens.input)
		if t.SystemOutputTPS.OK() {
			t.SystemInOutTPS = per(c.tokens.input + spent)
		}
	}
	t.RequestsPerS = per(c.requests.OK)
	some := func(n int64) timeline.Opt[float64] { return timeline.Maybe(float64(n)/window, n > 0) }
	t.InputsPerS, t.CharsPerS, t.ImagesPerS = some(c.tokens.inputs), some(c.tokens.chars), some(c.tokens.images)
	t.AudioPerS = timeline.Maybe(float64(c.tokens.audioUS)/1e6/window, c.tokens.audioUS > 0)
	if len(c.tasks) > 0 {
		var done int64
		for _, task := range c.tasks {
			if !task.failed && !task.cancelled {
				done++
			}
		}
		t.TasksPerS = per(done)
	}
}

// counted reports whether any answer had tokens to count: sound and vectors have none.
func (c *Collector) counted() bool { return len(c.tokens.byOutcome) > 0 }

// steady fills the figures of the steady window.
func (c *Collector) steady(t *Throughput, w *windows) {
	from, to := w.from/binUS, w.to/binUS
	seconds := float64(w.to-w.from) / 1e6
	t.Steady = &Steady{FromS: float64(w.from) / 1e6, ToS: float64(w.to) / 1e6}
	if !c.counted() {
		return
	}
	tokens := c.bins.sum(from, to)
	t.Steady.OutputTokens, t.Steady.SystemOutputTPS = timeline.Some(tokens), timeline.Some(tokens/seconds)
	t.SustainedTPS = timeline.Maybe(tokens/seconds, seconds >= 60)
	if least, _, ok := c.bins.extreme(from, to, 3000); ok {
		t.Worst30sTPS = timeline.Some(least / 30)
	}
}
