package sweep

import (
	"cmp"
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

// Search looks for the largest load at which objectives hold. docs/search.md says how,
// what may be concluded and where its constants come from. The zero value of every
// field but Objectives means the default that is written there.
type Search struct {
	Objectives []objective.Objective
	Variable   string  // Rate (default) or Concurrency
	From       float64 // the first load; default 1
	Most       float64 // the largest load to try; default 100,000
	// Width is how narrow the bracket has to be, as fails ÷ holds − 1; default 0.05.
	// Between neighbouring whole numbers of streams there is nothing to narrow.
	Width float64
	// Confidence that nothing that is said of any load is wrong; default 0.95.
	Confidence float64
	// MaxTime ends the search; the bracket is then as wide as it is. 0: none.
	// Now must be given with it.
	MaxTime time.Duration
	Now     func() time.Duration
	// ProbeTime is the length of every probe: a load that holds, holds for so long.
	// Default: MaxTime / 6, or two minutes.
	ProbeTime time.Duration
	// Told hears what is known after each probe, the last of Probes; nil: nobody does.
	Told func(soFar *Found)
}

// Probe is one load that was tried.
type Probe struct {
	Load     float64
	Says     string // holds, fails or unclear
	Firm     bool   // at the confidence of the search; else only a step on the way
	Repeat   bool   // a second look, with fresh data, at the load that held
	Grows    bool   // the server fell behind
	Requests int64
	Share    float64 // of good requests, under the objective nearest to its limit; NaN for none
	Worst    string  // that objective
	Note     string
	Probed

	decided decision
	firm    bool // of full length
	spoilt  bool // it says nothing of the load
	look    look
}

// ErrLate is why a search stops when the client can't keep up.
var ErrLate = errors.New("the client was too slow to judge the server")

const (
	// planned is how many probes share the chance of error. A bracket takes one probe
	// for each end, two or three for halving twice, and the last one; the rest is for loads
	// that stay open.
	planned = 9
	// again is how often a load that held is looked at once more, with fresh data.
	again = 2
	// looks is how often a probe may say that a load fails, at equal distances. With
	// more of them fails are said sooner and each needs more evidence.
	looks = 8
	// ofTime is how many probes the time is for: the six of a bracket that don't end early.
	ofTime = 6
	// narrowest is a bracket whose ends are different loads, whatever their digits.
	narrowest = 0.002
)

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
	h := &hunt{Search: s, subject: subject, tests: tests, found: Found{Variable: s.Variable, Confidence: s.Confidence}}
	if s.Now != nil {
		h.began = s.Now()
	}
	err = h.run(ctx)
	h.conclude(err)
	if err == nil {
		err = h.beyond
	}
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
	s.Variable = cmp.Or(s.Variable, Rate)
	s.From = cmp.Or(s.From, 1)
	s.Most = cmp.Or(s.Most, 1e5)
	s.Width = cmp.Or(s.Width, 0.05)
	s.Confidence = cmp.Or(s.Confidence, 0.95)
	s.ProbeTime = cmp.Or(s.ProbeTime, s.MaxTime/ofTime, 2*time.Minute)
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
	case s.MaxTime > 0 && (1+again)*s.ProbeTime > s.MaxTime:
		return fmt.Errorf("probes of %v in a search of %v: what holds has to hold in three of them, so give them %v or less", s.ProbeTime, s.MaxTime, s.MaxTime/(1+again))
	}
	return nil
}

// wrong is the chance that one probe may say the wrong thing in one direction: what the
// confidence leaves, split over the planned probes and over both directions.
func (s *Search) wrong() float64 { return (1 - s.Confidence) / planned / 2 }
