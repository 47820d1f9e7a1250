package metric

import (
	"tokenmeter/stat"
	"tokenmeter/timeline"
)

// CollectorOpts is what a summary needs to know beside the records. The zero
// value means a closed loop of which nothing else is known.
type CollectorOpts struct {
	// OpenLoop: requests were due at times of their own, not when a slot fell free.
	OpenLoop bool
	// Concurrency is the planned number of streams, in an open loop the cap on
	// requests in flight; 0: none, or unknown.
	Concurrency int64
	// OfferedPerS is the rate that the schedule's due times demanded, with the
	// requests that were never sent; empty: taken from the records' due times.
	OfferedPerS timeline.Opt[float64]

	// PromptsUnique: no prompt was meant to be sent twice.
	PromptsUnique bool
	// UniquePrompts is how many different prompts were sent, warm-up included.
	UniquePrompts timeline.Opt[int64]
	// AskedInput is the mean input length that was asked for.
	AskedInput timeline.Opt[float64]
	// OutputIsCap: the asked output length was an upper limit only, so a
	// shorter answer is no fault of the measurement.
	OutputIsCap bool
	// NoKeepAlive: every request was meant to open a connection.
	NoKeepAlive bool

	// Warnings are facts from outside, put before those found in the records.
	Warnings []Warning
	Cost     *Cost
}

// Collector computes a run's summary from its timelines, one pass, in any
// order. The result is exact and depends on the set of timelines only. It
// holds a few numbers a request and one count a distinct gap, not the events.
// Not safe for concurrent use; collectors of parts can be merged.
type Collector struct {
	Opts CollectorOpts

	rows     []row
	samples  map[string]*stat.Sample
	requests Requests
	first    firstError
	gaps     pooled // where each event is one token: ICL and ITL alike
	icl, itl pooled // of the other requests
	lag      pooled // kernel stamp → read, of every generation event
	charged  stat.Ints
	events   eventCounts
	tokens   tokenCounts
	bins     tokenBins
	tasks    map[string]task
}

// row is what is kept of each request for the windows. Times are µs on the
// run's clock.
type row struct {
	due, start, end int64 // end: the body ended, and with it the slot
	request         int64
	ttft, tpot      float64 // ms; negative: none
	outcome         timeline.Outcome
	warmup          bool
	newConnection   bool
	tokenEnd        int64 // last generation event; before due: none
}

// eventCounts are generation events of measured requests.
type eventCounts struct {
	all, kernel, coalesced int64
	streamed, burst        int64 // requests
}

// tokenCounts are sums over measured requests.
type tokenCounts struct {
	byOutcome          map[timeline.Outcome]int64 // N, where known
	streamed           int64
	streamedKnown      bool
	unknown            int64 // successful requests without a token count
	input              int64
	inputKnown         bool
	inputUnknown       int64 // successful requests without one
	cached, cachedOf   int64 // of successful requests that tell both
	cacheTold          bool
	asked, got         int64 // where an output length was asked for
	askedN, short, far int64
	hidden             int64
}

type task struct {
	failed, cancelled bool
}

type firstError struct {
	due, request int64
	any          bool
}

// NewCollector returns an empty collector.
func NewCollector(opts CollectorOpts) *Collector {
	return &Collector{
		Opts:    opts,
		samples: map[string]*stat.Sample{},
		requests: Requests{
			ByClass: map[timeline.Outcome]int64{}, Excluded: map[string]int64{},
			TokenSources: map[string]int64{}, Flags: map[string]int64{},
			Clocks: map[timeline.Clock]int64{},
		},
		tokens: tokenCounts{byOutcome: map[timeline.Outcome]int64{}},
		tasks:  map[string]task{},
	}
}

// Add takes one timeline, which is read and not kept.
func (c *Collector) Add(tl *timeline.Timeline) {
	v, s := valuesOf(tl)
	r := rowOf(tl, &v)
	c.rows = append(c.rows, r)
	if r.warmup {
		c.requests.Warmup++
		return
	}
	c.countRequest(tl, &v)
	c.countTokens(tl, &v)
	c.sample(tl, &v)
	c.readEvents(tl, &v, &s)
}

func rowOf(tl *timeline.Timeline, v *Values) row {
	r := row{
		due: tl.DueUS, start: max(tl.StartUS, tl.DueUS), request: tl.Request,
		ttft: v.TTFTMS.Or(-1), tpot: v.TPOTMS.Or(-1), outcome: tl.Outcome,
		warmup: tl.Phase == timeline.Warmup, tokenEnd: tl.DueUS - 1,
	}
	if reused, ok := tl.Reused.Get(); ok {
		r.newConnection = !reused
	}
	r.end = r.start
	if e2e, ok := v.E2EMS.Get(); ok {
		r.tokenEnd = tl.DueUS + microseconds(e2e)
		r.end = max(r.end, r.tokenEnd)
	}
	if closed, ok := tl.CloseUS.Get(); ok {
		r.end = max(r.end, tl.DueUS+closed)
	}
	return r
}

// microseconds undoes ms; exact for any time of a run.
func microseconds(ms float64) int64 { return int64(ms*1000 + 0.5) }

func (c *Collector) countRequest(tl *timeline.Timeline, v *Values) {
	r := &c.requests
	r.Total++
	r.Attempts += int64(max(tl.Attempts, 1))
	switch {
	case tl.Outcome == timeline.OK:
		r.OK++
		r.TokenSources[sourceName(v)]++
	case tl.Outcome.Cancelled():
		r.Excluded[string(tl.Outcome)]++
	default:
		r.Failed++
		c.noteError(tl)
	}
	r.ByClass[tl.Outcome]++
	r.Clocks[tl.Clock]++
	if v.Flags != 0 {
		for _, name := range v.Flags.Names() {
			r.Flags[name]++
		}
	}
	if tl.Task != "" {
		t := c.tasks[tl.Task]
		t.failed = t.failed || tl.Outcome.Failed()
		t.cancelled = t.cancelled || tl.Outcome.Cancelled()
		c.tasks[tl.Task] = t
	}
}

func sourceName(v *Values) string {
	if v.TokenSource == "" {
		return "unknown"
	}
	return string(v.TokenSource)
}

// noteError keeps the words of the failure that was due first.
func (c *Collector) noteError(tl *timeline.Timeline) {
	f := firstError{tl.DueUS, tl.Request, true}
	if c.first.any && !f.before(c.first) {
		return
	}
	words := string(tl.Outcome)
	if tl.Error != nil && tl.Error.Message != "" {
		words = tl.Error.Message
	}
	c.first, c.requests.FirstError = f, &words
}

func (f firstError) before(g firstError) bool {
	if f.due != g.due {
		return f.due < g.due
	}
	return f.request < g.request
}

func (c *Collector) countTokens(tl *timeline.Timeline, v *Values) {
	t := &c.tokens
	ok := tl.Outcome == timeline.OK
	n, known := v.OutputTokens.Get()
	if known {
		t.byOutcome[tl.Outcome] += n
	} else if ok {
		t.unknown++
	}
	if streamed, has := v.StreamedTokens.Get(); has {
		t.streamed += streamed
		t.streamedKnown = true
		t.hidden += n - streamed
	}
	input, hasInput := tl.Usage.Input.Get()
	if hasInput && input >= 0 {
		t.input += input
		t.inputKnown = true
		if cached, told := tl.Usage.Cached.Get(); ok && told {
			t.cached += cached
			t.cacheTold = true
		}
		if ok {
			t.cachedOf += input
		}
	} else if ok {
		t.inputUnknown++
	}
	if asked, has := tl.Requested.Get(); has && ok && known && asked > 0 {
		t.asked += asked
		t.got += n
		t.askedN++
		if float64(n) < 0.95*float64(asked) {
			t.short++
		}
		if n > asked+1 {
			t.far++
		}
	}
}

// Merge takes everything o has collected; o must not be used afterwards.
func (c *Collector) Merge(o *Collector) {
	c.rows = append(c.rows, o.rows...)
	for name, s := range o.samples {
		c.at(name).Merge(s)
	}
	c.mergeRequests(&o.requests)
	if o.first.any && (!c.first.any || o.first.before(c.first)) {
		c.first, c.requests.FirstError = o.first, o.requests.FirstError
	}
	c.gaps.merge(&o.gaps)
	c.icl.merge(&o.icl)
	c.itl.merge(&o.itl)
	c.lag.merge(&o.lag)
	c.charged.Merge(&o.charged)
	c.events.merge(o.events)
	c.tokens.merge(&o.tokens)
	c.bins.merge(&o.bins)
	for name, t := range o.tasks {
		have := c.tasks[name]
		c.tasks[name] = task{have.failed || t.failed, have.cancelled || t.cancelled}
	}
}

func (c *Collector) mergeRequests(o *Requests) {
	r := &c.requests
	r.Total += o.Total
	r.OK += o.OK
	r.Failed += o.Failed
	r.Warmup += o.Warmup
	r.Attempts += o.Attempts
	addAll(r.ByClass, o.ByClass)
	addAll(r.Excluded, o.Excluded)
	addAll(r.TokenSources, o.TokenSources)
	addAll(r.Clocks, o.Clocks)
	addAll(r.Flags, o.Flags)
}

func addAll[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

func (e *eventCounts) merge(o eventCounts) {
	e.all += o.all
	e.kernel += o.kernel
	e.coalesced += o.coalesced
	e.streamed += o.streamed
	e.burst += o.burst
}

func (t *tokenCounts) merge(o *tokenCounts) {
	addAll(t.byOutcome, o.byOutcome)
	t.streamed += o.streamed
	t.streamedKnown = t.streamedKnown || o.streamedKnown
	t.unknown += o.unknown
	t.input += o.input
	t.inputKnown = t.inputKnown || o.inputKnown
	t.inputUnknown += o.inputUnknown
	t.cached += o.cached
	t.cachedOf += o.cachedOf
	t.cacheTold = t.cacheTold || o.cacheTold
	t.asked += o.asked
	t.got += o.got
	t.askedN += o.askedN
	t.short += o.short
	t.far += o.far
	t.hidden += o.hidden
}
