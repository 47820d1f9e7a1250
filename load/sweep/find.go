package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tokenmeter/record/objective"
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
	// see a tail that is a quarter lighter or heavier than allowed.
	Probe Limit
	// Told hears of each probe when it is over; nil: nobody does.
	Told func(Probe)
}

// Probe is one load that was tried.
type Probe struct {
	Load     float64
	Says     string // holds, fails or unclear
	Firm     bool   // at the confidence of the search; else only a step on the way
	Repeat   bool   // a second look, at the load that held or at the one that failed
	Grows    bool   // the server fell behind
	Requests int64
	Share    float64 // of good requests, under the objective nearest to its limit; NaN for none
	Worst    string  // that objective
	Note     string
	Probed

	spoilt       bool    // it says nothing of the load
	short        bool    // more requests might have decided it
	untold       string  // an objective on which no request says anything
	early        bool    // too short to tell whether a queue grows, where no objective feels that
	didPerS      float64 // requests a second that ended
	didOf        int     // of so many
	above        bool    // more than the server did when it fell behind, where no objective feels that
	light        bool    // it held on a handful of requests, without evidence
	odds         float64 // where its evidence leans: above 0 it holds (a logarithm)
	score, slack float64
	decided      decision
	times        []float64 // autocorrelation times, one a test
	own          []pool
	counted      int     // requests after the start
	worth        float64 // independent ones that they tell as much as
	counts       float64 // of them as many as count for a load to hold
	spanS        float64 // seconds in which they were due
	e2e, ttft    float64 // medians, in seconds; 0 without one
	answered     bool    // every request was, in full
}

// ErrLate is why a search stops when the client can't keep up.
var ErrLate = errors.New("the client was too slow to judge the server")

// narrowest is a bracket whose ends are different loads, whatever their digits.
const narrowest = 0.002

// firmProbes is how many firm decisions a stage mostly takes.
const firmProbes = 4

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
		budget: 1}
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
	case s.Variable == Concurrency && (s.From != math.Trunc(s.From) || s.Most != math.Trunc(s.Most)):
		return fmt.Errorf("a search from %v to %v streams: want whole numbers", s.From, s.Most)
	case !(s.Width > 0 && s.Width < 10):
		return fmt.Errorf("a bracket of %v: want a share like 0.05", s.Width)
	case s.Variable == Rate && s.Width < narrowest:
		return fmt.Errorf("a bracket of %v: want %v or more, as rates have four digits", s.Width, narrowest)
	case !(s.Confidence > 0.5 && s.Confidence < 1):
		return fmt.Errorf("a confidence of %v: want a share above 0.5 and below 1", s.Confidence)
	case s.MaxTime > 0 && s.Now == nil:
		return errors.New("a bound on time needs a clock")
	case s.Probe.Duration > 0 && s.Probe.Duration < s.MaxTime/leastShare:
		return fmt.Errorf("probes of %v in a search of %v: a firm decision rests on 1/%d of the time at least, so give each probe %v or more",
			s.Probe.Duration, s.MaxTime, leastShare, s.MaxTime/leastShare)
	}
	return nil
}
