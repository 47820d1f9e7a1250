package metric

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// CollectorOpts is what a summary needs to know beside the records. The zero
// value means a closed loop of which nothing else is known.
type CollectorOpts struct {
	// OpenLoop: requests were due at times of their own, not when a slot fell free.
	OpenLoop bool
	// Concurrency is the planned number of streams, in an open loop the cap on
	// requests in flight; 0: none, or unknown.
	Concurrency int64
	// Prefills is the cap on requests without a first token; 0: there was none.
	Prefills int64
	// OfferedPerS is the rate that the schedule's due times demanded, with the
	// requests that were never sent; empty: taken from the records' due times.
	OfferedPerS timeline.Opt[float64]

	// PromptsUnique: no prompt was meant to be sent twice.
	PromptsUnique bool
	// PromptsMade: no prompt was the user's own words, so a length was chosen for each.
	PromptsMade bool
	// UniquePrompts is how many different prompts were sent, warm-up included.
	UniquePrompts timeline.Opt[int64]
	// AskedInput is the mean input length that the server should count: what was asked
	// for, and AskedTemplate, what its chat template is known to add to that.
	AskedInput    timeline.Opt[float64]
	AskedTemplate float64
	// TemplateTokens is what the server adds to each prompt, which may come from
	// its cache though no prompt was sent twice; 0: not known.
	TemplateTokens int64
	// OutputIsCap: the asked output length was an upper limit only, so a
	// shorter answer is no fault of the measurement.
	OutputIsCap bool
	// TaskDeadlineS is how long a task may take to be a success; empty: as long as
	// it likes.
	TaskDeadlineS timeline.Opt[float64]
	// SegmentS is the length of the segments of media that were played; 0: none were.
	SegmentS float64
	// Readers are speeds, in tokens a second, at which answers are read.
	Readers []float64
	// Outline: figures of single requests are kept elsewhere, or nobody asks for them. The
	// summary has no distributions but of gaps, no classes, readers, decomposition or
	// warnings; all else, and the facts, are the same.
	Outline bool
	// ManyConnects: every request, or every session, was meant to open a connection.
	ManyConnects bool

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
	order    Order
	now      uint32 // the request that is being added
	samples  map[string]*Ordered
	requests Requests
	served   served
	connects connects
	first    firstError
	gaps     pooled // where each event is one token: ICL and ITL alike
	icl, itl pooled // of the other requests
	lag      pooled // kernel stamp → read, of every generation event
	charged  stat.Ints
	events   eventCounts
	tokens   tokenCounts
	bins     tokenBins
	tasks    map[string]task
	items    items
	readers  readers
}

// row is what is kept of each request for the windows. Times are µs on the
// run's clock.
type row struct {
	due, start, end int64 // end: the body ended, and with it the slot
	request         int64
	ttft            float64 // ms; negative: none
	ok              bool
	warmup          bool
	later           bool // a further turn of a conversation or step of a task: no schedule asks for it
	newConnection   bool
	again           bool  // on another connection: the one that was kept had ended
	hungUp          bool  // we ended it, and with it the connection
	unsent          bool  // never sent: it has a due time and no start
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
	seen, seenOf       int64 // the same beyond the template
	cacheTold          bool
	asked, got         int64 // where an output length was asked for
	askedN, short, far int64
	shortBy            shortAnswers
	inputs             int64 // of successful requests: texts embedded, documents ranked
	chars, audioUS     int64 // of those too: characters spoken, and how long the sound was
	images             int64 // and pictures made
}

type task struct {
	failed, cancelled bool
	steps             []stepRow
}

type firstError struct {
	due, request int64
	any          bool
}

// NewCollector returns an empty collector.
func NewCollector(opts CollectorOpts) *Collector {
	return &Collector{
		Opts:     opts,
		order:    Order{OpenLoop: opts.OpenLoop},
		samples:  map[string]*Ordered{},
		requests: NewRequests(),
		tokens:   tokenCounts{byOutcome: map[timeline.Outcome]int64{}},
		tasks:    map[string]task{},
		served:   served{},
	}
}

// Add takes one timeline, which is read and not kept.
func (c *Collector) Add(tl *timeline.Timeline) {
	v, s := valuesOf(tl)
	r := rowOf(tl, &v)
	c.rows = append(c.rows, r)
	c.now = c.order.Add(r.due, r.end, r.request)
	c.connects.add(tl)
	if !c.requests.Count(tl) {
		return
	}
	c.countRequest(tl, &v)
	c.countTokens(tl, &v, &s)
	c.sampleFacts(tl, &v)
	if !c.Opts.Outline {
		c.sample(tl, &v)
		c.words(tl, &v, &s)
		c.read(tl, &v)
	}
	c.item(tl, &v)
	c.readEvents(tl, &v, &s)
}

func rowOf(tl *timeline.Timeline, v *Values) row {
	r := row{
		due: tl.DueUS, start: max(tl.StartUS, tl.DueUS), request: tl.Request,
		ttft: v.TTFTMS.Or(-1), ok: tl.Outcome == timeline.OK,
		warmup: !tl.Phase.Counts(), unsent: tl.Unsent(), tokenEnd: tl.DueUS - 1,
		later: tl.Turn.Or(0) > 0 || tl.Step.Or(0) > 0,
	}
	if reused, ok := tl.Reused.Get(); ok {
		r.newConnection = !reused
		r.again = tl.ConnRetries > 0
	}
	switch tl.Outcome {
	case timeline.CancelledUser, timeline.CancelledRunEnd, timeline.TimeoutTTFT, timeline.TimeoutIdle, timeline.TimeoutTotal:
		r.hungUp = !r.unsent
	default:
		r.hungUp = tl.Flags.Has(timeline.LeftOpen)
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
