package bench

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// appender takes finished requests; *run.Writer is one.
type appender interface {
	Append(tl *timeline.Timeline) error
}

// leastForFailures is how many requests have ended before a share of failures
// is one.
const leastForFailures = 20

// recorder hands finished requests to the run folder and keeps what the run
// has to know of itself while it goes on.
type recorder struct {
	out  appender
	room *api.Room
	live bool // somebody looks at the figures while the run goes on
	// maxFailures is the share of failures that ends the run; 0: none does.
	maxFailures float64
	patient     bool      // a warm-up goes on though nothing answers
	pool        sync.Pool // of *timeline.Timeline whose events keep their memory

	inFlight, maxInFlight, opened atomic.Int64

	mu         sync.Mutex
	counts     map[timeline.Phase]*tally
	writeErr   error
	warm       []warmAnswer
	ttft, tpot stat.Sketch
	e2e, delay stat.Sketch
	tokens     int64
	prints     map[uint64]struct{} // of the prompts of files that were sent
	again      int64               // how many of them had been sent before

	precision *precision // nil: without --until-precision
	standings *standings // of the objectives, where somebody looks

	pricing  *cost.Pricing    // fills cost_usd; nil: unknown
	each     func(Ended) bool // sees measured requests; nil: nobody does
	eachMu   sync.Mutex
	eachOver bool
}

// tally counts the requests of a phase.
type tally struct {
	done, failed, ok, limited int64 // limited: answered 429
	stamped                   int64 // of the ok ones, by the kernel
	lasting                   int64 // of the failed, those that no waiting mends
	own                       int64 // of the failed, those that are our own want
	unanswered                int64 // of the failed, those to which nothing came until a limit of time
	asked, askedN             int64 // input tokens, where a length was asked for
	firstError                *timeline.Error
	firstStatus               int
}

// warmAnswer is what a warm-up request taught.
type warmAnswer struct {
	words     int
	corpus    string
	asked     int64
	input     int64
	refused   bool // for the name of the length field
	succeeded bool
}

func newRecorder(out appender, live bool) *recorder {
	return &recorder{out: out, live: live, standings: newStandings(nil), prints: map[uint64]struct{}{},
		counts: map[timeline.Phase]*tally{timeline.Warmup: {}, timeline.Measure: {}, timeline.Cooldown: {}}}
}

// mostUnanswered is after how many requests of a warm-up to which nothing came a server is
// given up, when nothing came to any. The first may have had to load the model.
const mostUnanswered = 2

// timeline returns an empty timeline, with the memory of a finished one.
func (r *recorder) timeline() *timeline.Timeline {
	tl, _ := r.pool.Get().(*timeline.Timeline)
	if tl == nil {
		return timeline.New()
	}
	events := tl.Events
	events.Reset()
	*tl = *timeline.New()
	tl.Events = events
	return tl
}

// mostPooled bounds what an idle timeline keeps: 64 Ki events.
const mostPooled = 1 << 20

// free takes a timeline back when it is kept no longer.
func (r *recorder) free(tl *timeline.Timeline) {
	r.room.Free(tl)
	if tl.Events.Bytes() > mostPooled {
		tl.Events = timeline.Events{}
	}
	r.pool.Put(tl)
}

// drop takes back a request that never came to be.
func (r *recorder) drop(j job) { r.free(j.tl) }

func (r *recorder) began() {
	n := r.inFlight.Add(1)
	for old := r.maxInFlight.Load(); n > old && !r.maxInFlight.CompareAndSwap(old, n); old = r.maxInFlight.Load() {
	}
}

// ended records a request. It ends the phase when going on has no sense.
func (r *recorder) ended(ph *phase, j job) {
	tl := j.tl
	if reused, ok := tl.Reused.Get(); ok && !reused {
		r.opened.Add(1)
	}
	if r.pricing != nil {
		tl.CostUSD = r.pricing.Of(tl)
	}
	err := r.out.Append(tl)
	var v metric.Values
	var verdicts []objective.Verdict
	if r.live {
		v = metric.ValuesOf(tl)
		verdicts = r.standings.verdicts(tl)
	}
	if why := r.note(j, &v, verdicts, err); why != nil {
		ph.stop(why)
	}
	if why := r.shown(ph, tl); why != nil {
		ph.stop(why)
	}
	r.free(tl)
}

// note counts a request and says why the phase should end, or nil.
func (r *recorder) note(j job, v *metric.Values, verdicts []objective.Verdict, writeErr error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	tl := j.tl
	c := r.counts[tl.Phase]
	if tl.Unsent() {
		return r.stopFor(writeErr)
	}
	c.done++
	if j.step.Print != 0 {
		before := len(r.prints)
		if r.prints[j.step.Print] = struct{}{}; len(r.prints) == before {
			r.again++
		}
	}
	if n, ok := j.step.InputTokens.Get(); ok && tl.Outcome == timeline.OK {
		c.asked += n
		c.askedN++
	}
	switch {
	case tl.Outcome == timeline.OK:
		c.ok++
		if tl.Clock == timeline.Kernel {
			c.stamped++
		}
	case tl.Outcome.Failed():
		c.failed++
		if tl.Outcome == timeline.HTTP429 {
			c.limited++
		}
		if tl.Outcome == timeline.ClientResource {
			c.own++
		}
		if lasting(tl) {
			c.lasting++
		}
		if nothingCame(tl) {
			c.unanswered++
		}
		if c.firstError == nil && tl.Error != nil {
			e := *tl.Error
			c.firstError, c.firstStatus = &e, tl.HTTPStatus
		}
	}
	if tl.Phase == timeline.Warmup {
		r.warm = append(r.warm, warmAnswer{words: j.step.Units, corpus: j.step.Corpus, asked: j.step.InputTokens.Or(0), input: tl.Usage.Input.Or(0),
			refused:   j.req.MaxTokensField != api.MaxCompletionTokens && tl.Error != nil && api.RefusesMaxTokens(tl.Error.Message),
			succeeded: tl.Outcome == timeline.OK})
	}
	r.sketch(tl, v)
	r.precision.add(tl, v)
	r.standings.add(verdicts)
	why := r.stopFor(writeErr)
	switch {
	case why != nil:
		return why
	case tl.Phase == timeline.Warmup && c.unanswered == mostUnanswered && c.unanswered == c.done && !r.patient:
		return errSilent
	case r.maxFailures > 0 && tl.Phase == timeline.Measure && c.done >= leastForFailures &&
		float64(c.failed) > r.maxFailures*float64(c.done):
		return &failuresError{c.failed, c.done}
	}
	return nil
}

// lasting reports whether a failure would be the same a minute later: nobody or
// somebody else is at the address, or the request itself is refused.
func lasting(tl *timeline.Timeline) bool {
	switch tl.Outcome {
	case timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect, timeline.RedirectRefused, timeline.BadContentType, timeline.ClientResource:
		return true
	case timeline.HTTP4xx:
		return tl.HTTPStatus != http.StatusRequestTimeout && tl.HTTPStatus != http.StatusTooEarly
	}
	return false
}

// nothingCame reports whether nothing at all came until a limit of time.
func nothingCame(tl *timeline.Timeline) bool {
	switch tl.Outcome {
	case timeline.TimeoutTTFT, timeline.TimeoutIdle, timeline.TimeoutTotal:
		return !tl.HeadUS.OK()
	}
	return false
}

// stopFor keeps the first error of writing, after which going on has no sense.
func (r *recorder) stopFor(writeErr error) error {
	if writeErr != nil && r.writeErr == nil {
		r.writeErr = writeErr
	}
	if r.writeErr != nil {
		return errWriting
	}
	return nil
}

func (r *recorder) sketch(tl *timeline.Timeline, v *metric.Values) {
	if tl.Phase != timeline.Measure {
		return
	}
	r.delay.Add(metric.DelayMS(tl))
	if ms, ok := v.TTFTMS.Get(); ok {
		r.ttft.Add(ms)
	}
	if ms, ok := v.TPOTMS.Get(); ok {
		r.tpot.Add(ms)
	}
	if ms, ok := v.E2EMS.Get(); ok && tl.Outcome == timeline.OK {
		r.e2e.Add(ms)
	}
	r.tokens += v.OutputTokens.Or(0)
}

// lateness is a quantile of start − due, in ms.
func (r *recorder) lateness(p float64) timeline.Opt[float64] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return quantile(&r.delay, p)
}

// of returns a copy of a phase's counts.
func (r *recorder) of(name timeline.Phase) tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.counts[name]
}

// repeats is how many requests sent a prompt that another had sent.
func (r *recorder) repeats() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.again
}

// failure is the first write error, or nil.
func (r *recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writeErr
}

// warmed returns and forgets the answers to the warm-up so far.
func (r *recorder) warmed() []warmAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.warm
	r.warm = nil
	return w
}

// snapshot describes the phase for a person who waits; counted is the time of the requests
// that it counts.
func (r *recorder) snapshot(name timeline.Phase, counted time.Duration, planned int64) Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[name]
	s := Snapshot{Phase: name, Done: c.done, Failed: c.failed, Planned: planned,
		InFlight: r.inFlight.Load()}
	s.TTFT, s.TPOT = tails(&r.ttft), tails(&r.tpot)
	if sec := counted.Seconds(); sec > 0 && name == timeline.Measure {
		s.RequestsPerS = timeline.Some(float64(c.ok) / sec)
		if r.tokens > 0 {
			s.OutputTPS = timeline.Some(float64(r.tokens) / sec)
		}
	}
	s.Objectives = slices.Clone(r.standings.counts)
	return s
}

func tails(s *stat.Sketch) Tails {
	return Tails{quantile(s, 0.5), quantile(s, 0.95), quantile(s, 0.99)}
}

func quantile(s *stat.Sketch, p float64) timeline.Opt[float64] {
	if x, ok := s.Quantile(p); ok {
		return timeline.Some(x)
	}
	return timeline.Opt[float64]{}
}
