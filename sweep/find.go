package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tokenmeter/metric"
	"tokenmeter/objective"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
)

// The variables of a search.
const (
	Rate        = "rate"        // requests a second, an open loop
	Concurrency = "concurrency" // streams, a closed loop
)

// Search looks for the largest load at which objectives hold. The zero value of
// every field but Objectives means the default that is written there.
type Search struct {
	Objectives []objective.Objective
	Variable   string  // Rate (default) or Concurrency
	From       float64 // the first load; default 1
	Most       float64 // the largest load to try; default 100,000
	// Width is how wide the bracket may be: fails ÷ holds − 1; default 0.05.
	// Between neighbouring whole numbers of streams there is nothing to narrow.
	Width      float64
	Confidence float64 // that the bracket is right; default 0.95
	MaxProbes  int     // default 40
	// MaxTime ends the search; the bracket is then as wide as it is. 0: none.
	// Now must be given with it.
	MaxTime time.Duration
	Now     func() time.Duration
	// Probe bounds each probe. Default: none, but for what the objectives need to
	// see a tail that is a fifth lighter or heavier than allowed.
	Probe Limit
	// Told hears of each probe when it is over; nil: nobody does.
	Told func(Probe)
}

// Probe is one load that was tried.
type Probe struct {
	Load     float64
	Says     string // holds, fails or unclear
	Firm     bool   // at the confidence of the search; else only a step on the way
	Repeat   bool   // the second look at the last load that held
	Grows    bool   // the server fell behind
	Requests int64
	Share    float64 // of good requests, under the objective nearest to its limit; NaN for none
	Worst    string  // that objective
	Note     string
	Probed

	score, slack, evidence float64
	decided                decision
	times                  []float64 // autocorrelation times, one a test
	own                    []pool
	counted                int     // requests after the start
	e2e                    float64 // median, in seconds; 0 without one
}

// Found is where the objectives cease to hold.
type Found struct {
	Variable string
	Holds    float64 // the largest load that was shown to hold; 0: none did
	Fails    float64 // the smallest that was shown to fail; 0: none did
	// Confidence that the load at which the objectives cease to hold lies between.
	Confidence float64
	Requests   int64
	Probes     []Probe
	// Settled: the bracket is as narrow as was asked. Else Why says what was in the way.
	Settled bool
	Why     string
	Missed  []string // objectives on the whole run, missed at Holds
}

// ErrLate is why a search stops when the client can't keep up.
var ErrLate = errors.New("the client was too slow to judge the server")

// firmProbes is among how many decisions the chance of a wrong one is shared.
const firmProbes = 12

// Run searches. The error is of the subject or of the settings; what was found
// until then is returned beside it.
func (s Search) Run(ctx context.Context, subject Subject) (Found, error) {
	if err := s.settle(); err != nil {
		return Found{}, err
	}
	tests, err := newTests(s.Objectives)
	if err != nil {
		return Found{}, err
	}
	h := &hunt{Search: s, subject: subject, tests: tests, found: Found{Variable: s.Variable, Confidence: s.Confidence},
		budget: 1, firm: math.Log(firmProbes / (1 - s.Confidence))}
	if s.Now != nil {
		h.began = s.Now()
	}
	err = h.run(ctx)
	return h.found, err
}

// Check says what is wrong with the settings, before anything is loaded.
func (s Search) Check() error {
	if s.MaxTime > 0 && s.Now == nil {
		s.Now = func() time.Duration { return 0 }
	}
	if err := s.settle(); err != nil {
		return err
	}
	_, err := newTests(s.Objectives)
	return err
}

// GoodShare is the share of good requests under the objective nearest to its limit.
func (p *Probe) GoodShare() (share float64, ok bool) {
	return p.Share, !math.IsNaN(p.Share) && p.Share >= 0 && p.Share <= 1
}

// Result is what was found as sweep.json keeps it.
func (f *Found) Result(objectives []string) *result.Found {
	out := &result.Found{Objectives: objectives, Variable: f.Variable, Confidence: f.Confidence, Probes: len(f.Probes),
		Requests: f.Requests, Settled: f.Settled, Why: f.Why, Missed: f.Missed}
	if f.Holds > 0 {
		out.Holds = timeline.Some(f.Holds)
	}
	if f.Fails > 0 {
		out.Fails = timeline.Some(f.Fails)
	}
	for _, p := range f.Probes {
		step := result.Step{Load: p.Load, Says: p.Says, Firm: p.Firm, Repeat: p.Repeat, Grows: p.Grows, Requests: p.Requests,
			Worst: p.Worst, Run: p.Run, Note: p.Note}
		if step.Note == "" {
			step.Note = p.Unsettled
		}
		if share, ok := p.GoodShare(); ok {
			step.Share = timeline.Some(share)
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

func (s *Search) settle() error {
	if s.Variable == "" {
		s.Variable = Rate
	}
	if s.From == 0 {
		s.From = 1
	}
	if s.Most == 0 {
		s.Most = 1e5
	}
	if s.Width == 0 {
		s.Width = 0.05
	}
	if s.Confidence == 0 {
		s.Confidence = 0.95
	}
	if s.MaxProbes == 0 {
		s.MaxProbes = 40
	}
	switch {
	case s.Variable != Rate && s.Variable != Concurrency:
		return fmt.Errorf("variable %q: want %s or %s", s.Variable, Rate, Concurrency)
	case !(s.From > 0) || math.IsInf(s.From, 0) || !(s.Most >= s.From):
		return fmt.Errorf("a search from %v to %v: want 0 < from ≤ most", s.From, s.Most)
	case !(s.Width > 0 && s.Width < 10):
		return fmt.Errorf("a bracket of %v: want a share like 0.05", s.Width)
	case !(s.Confidence > 0.5 && s.Confidence < 1):
		return fmt.Errorf("a confidence of %v: want a share above 0.5 and below 1", s.Confidence)
	case s.MaxTime > 0 && s.Now == nil:
		return errors.New("a bound on time needs a clock")
	}
	return nil
}

// hunt is a search under way.
type hunt struct {
	Search
	subject Subject
	tests   []*test
	found   Found
	firm    float64 // evidence that a decision for the bracket needs
	began   time.Duration

	// Bounds of the way: the largest load that seemed to hold and the smallest
	// that seemed to fail. Those of the bracket are found.Holds and found.Fails.
	low, high float64
	bottom    float64 // a load at which requests hardly meet each other, and that failed; 0: none
	served    float64 // what an overloaded server did, at most; 0: not known
	budget    float64 // factor on how many requests are plenty
}

// stop says why no further probe is made, or nothing.
func (h *hunt) stop() string {
	switch {
	case len(h.found.Probes) >= h.MaxProbes:
		return fmt.Sprintf("%d probes were not enough", h.MaxProbes)
	case h.MaxTime > 0 && h.Now()-h.began >= h.MaxTime:
		return fmt.Sprintf("the time was up (%v)", h.MaxTime)
	}
	return ""
}

// aim is what a probe is for.
type aim struct {
	pass, fail float64 // evidence that a decision needs
	firm       bool    // decides an end of the bracket
	repeat     bool
}

// tries is how often a load is tried at which the client was late: a machine that
// was busy with something else for a moment is no slow client.
const tries = 3

// probe tries a load and keeps what it says.
func (h *hunt) probe(ctx context.Context, load float64, a aim) (p *Probe, err error) {
	for range tries {
		p, err = h.once(ctx, load, a)
		if !errors.Is(err, ErrLate) || h.stop() != "" {
			break
		}
	}
	return p, err
}

func (h *hunt) once(ctx context.Context, load float64, a aim) (*Probe, error) {
	firm := a.firm
	t := newTrial(h.tests)
	for i, test := range t.tests {
		test.floor = h.time(i, load)
		if firm {
			test.above, test.below = h.neighbours(i, load)
		}
	}
	p := Probe{Load: load, Repeat: a.repeat, Share: math.NaN()}
	var l look
	limit := h.limit()
	probed, err := h.subject.Probe(ctx, load, limit, func(seen Seen) bool {
		t.take(seen)
		p.Requests++
		if !t.dueLook() {
			return true
		}
		l = t.judge(a, h.budget)
		return l.decision == unclear && !l.enough && !(!firm && h.light(load, t, l))
	})
	p.Probed = probed
	if err == nil && l.decision == unclear && !l.enough && !(!firm && h.light(load, t, l)) {
		t.close()
		l = t.judge(a, h.budget)
	}
	p.decided, p.Grows, p.Share, p.Worst = l.decision, l.grows, l.share, l.worst
	p.score, p.slack, p.evidence = l.score, l.slack, l.evidence
	p.times, p.own, p.counted = t.times, t.own, l.n
	p.e2e, _ = median(t.e2e)
	if p.decided == unclear && !firm && h.light(load, t, l) {
		p.decided = holds
	}
	h.found.Requests += p.Requests
	if probed.Late != "" && p.decided != unclear {
		p.decided, p.Note = unclear, "not judged: "+probed.Late
	}
	p.Says = p.decided.String()
	p.Firm = firm && p.decided != unclear
	h.found.Probes = append(h.found.Probes, p)
	if h.Told != nil {
		h.Told(p)
	}
	last := &h.found.Probes[len(h.found.Probes)-1]
	switch {
	case err != nil:
		return last, err
	case probed.Late != "":
		return last, fmt.Errorf("%w at %s: %s", ErrLate, h.words(load), probed.Late)
	}
	h.learn(last)
	return last, nil
}

func (h *hunt) limit() Limit {
	l := h.Probe
	if h.MaxTime > 0 {
		left := h.MaxTime - (h.Now() - h.began)
		if l.Duration == 0 || left < l.Duration {
			l.Duration = max(left, time.Second)
		}
	}
	return l
}

// light reports a load so far below the limit that a handful of good requests
// is enough to go on to the next: less than one request in flight.
func (h *hunt) light(load float64, t *trial, l look) bool {
	if h.Variable != Rate || l.n < fewest || !(l.share >= 1) {
		return false
	}
	e2e, ok := median(t.e2e)
	return ok && load*e2e < 1
}

// neighbours sums what earlier probes saw of a test at loads within half a
// bracket above and below.
func (h *hunt) neighbours(test int, load float64) (above, below pool) {
	for _, p := range h.found.Probes {
		if test >= len(p.own) || p.Grows || p.Late != "" {
			continue
		}
		if p.Load >= load && p.Load <= load*(1+h.Width/2) {
			above = above.and(p.own[test])
		}
		if p.Load <= load && p.Load >= load/(1+h.Width/2) {
			below = below.and(p.own[test])
		}
	}
	return above, below
}

// time is the autocorrelation time of a test as probes at about this load, and
// no larger ones, have shown it; 0 where none has.
func (h *hunt) time(test int, load float64) float64 {
	weight, sum := 0.0, 0.0
	for _, p := range h.found.Probes {
		if p.Load > load*1.02 || p.Load < load/1.3 || test >= len(p.times) || p.Grows {
			continue
		}
		w := math.Min(float64(p.counted)/p.times[test], 1000)
		weight += w
		sum += w * math.Log(p.times[test])
	}
	if weight < 30 {
		return 0
	}
	return math.Exp(sum / weight)
}

// alone is how many requests are in flight at most where one more or less makes
// no difference: less load would show the same.
const alone = 0.25

// learn moves the bounds.
func (h *hunt) learn(p *Probe) {
	switch p.decided {
	case holds:
		if p.Repeat {
			return
		}
		h.low = math.Max(h.low, p.Load)
		if h.high <= h.low {
			h.high = 0
		}
		if p.Firm && p.Load > h.found.Holds && (h.found.Fails == 0 || p.Load < h.found.Fails) {
			h.found.Holds, h.found.Missed = p.Load, p.Missed
		}
	case fails:
		if h.high == 0 || p.Load < h.high {
			h.high = p.Load
		}
		if h.low >= h.high {
			h.low = 0
		}
		if h.Variable == Rate && p.Load*p.e2e < alone && !p.Grows {
			h.bottom = math.Max(h.bottom, p.Load)
		}
		if p.Firm && (h.found.Fails == 0 || p.Load < h.found.Fails) && p.Load > h.found.Holds {
			h.found.Fails = p.Load
		}
		if a, ok := p.AchievedPerS.Get(); ok && p.Grows && h.Variable == Rate {
			h.served = math.Max(h.served, a)
		}
	case unclear:
		h.doubt(p)
	}
}

// doubt takes back a bound that a lucky handful of requests put on the wrong side
// of a load at which more of them lean the other way.
func (h *hunt) doubt(p *Probe) {
	if p.counted < 8*fewest || math.IsInf(p.score, 0) {
		return
	}
	switch {
	case p.score < 0 && p.Load <= h.low:
		h.low = 0
		for _, q := range h.found.Probes {
			if q.decided == holds && q.Load < p.Load {
				h.low = math.Max(h.low, q.Load)
			}
		}
	case p.score > 0 && h.high > 0 && p.Load >= h.high:
		h.high = 0
		for _, q := range h.found.Probes {
			if q.decided == fails && q.Load > p.Load && (h.high == 0 || q.Load < h.high) {
				h.high = q.Load
			}
		}
	}
}

func (h *hunt) words(load float64) string {
	if h.Variable == Concurrency {
		return fmt.Sprintf("%.0f streams", load)
	}
	return metric.Significant(load, 3) + " requests/s"
}
