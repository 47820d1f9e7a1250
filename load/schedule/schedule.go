// Package schedule says when requests are due. A schedule is a pure function of
// its settings and seed: no clock, no state, so it is tested without waiting,
// replays exactly, and any worker can compute its own share of it.
package schedule

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"
)

// Part says where in a schedule a request stands: only the main part is
// measured.
type Part uint8

// The parts of a schedule, in order.
const (
	Main Part = iota
	Lead      // the load grows
	Tail      // the load goes on, so that the last of the main part end under it
)

// Arrival is one request of an open loop.
type Arrival struct {
	Index int64         // ordinal in the whole schedule, from 0, over all workers
	At    time.Duration // due, since the phase's start
	Part  Part
}

// Share is a worker's part of a schedule: every Of-th request from Worker on.
// The shares of all workers are disjoint and their union is the schedule. The
// zero value is everything.
type Share struct {
	Worker int // from 0
	Of     int // number of workers; 0 and 1 mean everything
}

// Has reports whether request i belongs to the share.
func (s Share) Has(i int64) bool {
	return s.Of <= 1 || i%int64(s.Of) == int64(s.Worker)
}

// Count returns how many of the first n requests belong to the share.
func (s Share) Count(n int64) int64 {
	if s.Of <= 1 {
		return max(n, 0)
	}
	return max((n-int64(s.Worker)+int64(s.Of)-1)/int64(s.Of), 0)
}

// Open is an open loop: requests are due at moments that do not depend on how
// fast the server answers.
type Open struct {
	Rate       float64       // mean requests a second, > 0 unless there are stages
	Stages     Curve         // a rate that changes; its end ends the schedule
	Arrival    string        // a name of Names; empty means constant
	Burstiness float64       // shape of gamma: 1 is Poisson, below 1 burstier; 0 means 1
	Seed       uint64        // fixes the moments of random processes
	Requests   int64         // bound of the main part; 0: none
	Duration   time.Duration // bound of the main part; 0: none

	Ramp time.Duration // before the main part the rate grows from 0; 0: at once
	Tail time.Duration // after the main part the load goes on for so long
}

// curve is the rate over the whole schedule, with the ramp.
func (o Open) curve() Curve {
	c := o.Stages
	if len(c) == 0 {
		c = Flat(o.Rate)
	}
	if o.Ramp > 0 {
		c = append(Curve{{For: o.Ramp, To: c[0].From}}, c...)
	}
	return c
}

// Names lists the arrival processes.
func Names() []string {
	names := make([]string, len(processes))
	for i, p := range processes {
		names[i] = p.name
	}
	return names
}

// Check returns what is wrong with the settings.
func (o Open) Check() error {
	if len(o.Stages) > 0 {
		if err := o.Stages.Check(); err != nil {
			return fmt.Errorf("stages: %w", err)
		}
		if o.Rate != 0 {
			return fmt.Errorf("a rate of %v beside stages: give one of them", o.Rate)
		}
	}
	switch {
	case len(o.Stages) > 0:
	case !(o.Rate > 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("rate %v: want requests a second above 0", o.Rate)
	case o.Rate > maxRate:
		return fmt.Errorf("rate %v: at most 1000000 requests a second", o.Rate)
	}
	switch {
	case o.Ramp < 0 || o.Ramp > maxStage:
		return fmt.Errorf("ramp %v: want a time from 0 to %v", o.Ramp, maxStage)
	case o.Burstiness < 0 || math.IsNaN(o.Burstiness) || math.IsInf(o.Burstiness, 0):
		return fmt.Errorf("burstiness %v: want a number above 0", o.Burstiness)
	case o.Burstiness > 0 && o.Burstiness < 0.01:
		return fmt.Errorf("burstiness %v: at least 0.01", o.Burstiness)
	}
	if err := o.bounds().check(); err != nil {
		return err
	}
	p := o.process()
	if p == nil {
		return fmt.Errorf("arrival %q: want one of %s", o.Arrival, strings.Join(Names(), ", "))
	}
	if o.Burstiness > 0 && o.Burstiness != 1 && !p.shaped {
		return fmt.Errorf("burstiness %v has no meaning for %s arrivals; those of gamma have one", o.Burstiness, p.name)
	}
	return nil
}

// Planned returns how many requests the main part has, or is expected to have
// where the process is random; 0 when it has no bound.
func (o Open) Planned() int64 {
	length := o.Duration
	if end := o.Stages.Length(); end > 0 && (length == 0 || end < length) {
		length = end
	}
	c := o.Stages
	if len(c) == 0 {
		c = Flat(o.Rate)
	}
	byTime := int64(math.Ceil(c.expected(length) - 1e-9))
	switch {
	case length <= 0:
		return o.Requests
	case o.Requests <= 0:
		return byTime
	}
	return min(o.Requests, byTime)
}

// Arrivals yields the share's requests in order of their due times. It is
// endless without a bound.
func (o Open) Arrivals(share Share) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		p := o.process()
		if p == nil || len(o.Stages) == 0 && !(o.Rate > 0) {
			return
		}
		shape := cmp.Or(o.Burstiness, 1)
		unit, when := p.start(o.Seed, shape), o.curve().walk()
		b := o.bounds()
		for i := int64(0); ; i++ {
			at, ok := when(unit(i))
			if !ok {
				return
			}
			part, over := b.part(at)
			if over || share.Has(i) && !yield(Arrival{i, at, part}) {
				return
			}
		}
	}
}

// bounds tell the parts of a schedule from each other, request by request.
type bounds struct {
	requests             int64
	ramp, duration, tail time.Duration

	main  int64         // requests of the main part so far
	ended bool          // the main part is over
	end   time.Duration // since when
}

func (o Open) bounds() bounds {
	return bounds{requests: o.Requests, ramp: o.Ramp, duration: o.Duration, tail: o.Tail}
}

// check returns what is wrong with them.
func (b bounds) check() error {
	switch {
	case b.requests < 0:
		return fmt.Errorf("requests %d: want a positive number", b.requests)
	case b.duration < 0:
		return fmt.Errorf("duration %v: want a positive time", b.duration)
	case b.ramp < 0:
		return fmt.Errorf("ramp %v: want a positive time", b.ramp)
	case b.tail < 0:
		return fmt.Errorf("cool-down %v: want a positive time", b.tail)
	}
	return nil
}

// part is where the next request, due at a moment, belongs; over says that it
// lies behind the end.
func (b *bounds) part(at time.Duration) (part Part, over bool) {
	switch {
	case at < b.ramp:
		return Lead, false
	case b.ended:
	case b.duration > 0 && at >= b.ramp+b.duration:
		b.ended, b.end = true, b.ramp+b.duration
	case b.requests > 0 && b.main >= b.requests:
		b.ended, b.end = true, at
	default:
		b.main++
		return Main, false
	}
	return Tail, b.tail <= 0 || at >= b.end+b.tail
}
