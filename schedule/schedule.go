// Package schedule says when requests are due. A schedule is a pure function of
// its settings and seed: no clock, no state, so it is tested without waiting,
// replays exactly, and any worker can compute its own share of it.
package schedule

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"time"
)

// Arrival is one request of an open loop.
type Arrival struct {
	Index int64         // ordinal in the whole schedule, from 0, over all workers
	At    time.Duration // due, since the phase's start
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
	Rate       float64       // mean requests a second, > 0
	Arrival    string        // a name of Names; empty means constant
	Burstiness float64       // shape of gamma: 1 is Poisson, below 1 burstier; 0 means 1
	Seed       uint64        // fixes the moments of random processes
	Requests   int64         // bound; 0: none
	Duration   time.Duration // bound; 0: none
}

// Names lists the arrival processes.
func Names() []string {
	names := make([]string, len(processes))
	for i, p := range processes {
		names[i] = p.name
	}
	return names
}

// Check returns what is wrong with the settings, naming the flag to mend.
func (o Open) Check() error {
	switch {
	case !(o.Rate > 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("rate %v: want requests a second above 0 (--rate)", o.Rate)
	case o.Rate > 1e6:
		return fmt.Errorf("rate %v: at most 1000000 requests a second (--rate)", o.Rate)
	case o.Requests < 0:
		return fmt.Errorf("requests %d: want a positive number (--requests)", o.Requests)
	case o.Duration < 0:
		return fmt.Errorf("duration %v: want a positive time (--duration)", o.Duration)
	case o.Burstiness < 0 || math.IsNaN(o.Burstiness) || math.IsInf(o.Burstiness, 0):
		return fmt.Errorf("burstiness %v: want a number above 0 (--burstiness)", o.Burstiness)
	case o.Burstiness > 0 && o.Burstiness < 0.01:
		return fmt.Errorf("burstiness %v: at least 0.01 (--burstiness)", o.Burstiness)
	}
	p := o.process()
	if p == nil {
		return fmt.Errorf("arrival %q: want one of %s (--arrival)", o.Arrival, strings.Join(Names(), ", "))
	}
	if o.Burstiness > 0 && o.Burstiness != 1 && !p.shaped {
		return fmt.Errorf("burstiness %v has no meaning for %s arrivals (use --arrival gamma)", o.Burstiness, p.name)
	}
	return nil
}

// Planned returns how many requests the schedule has, or is expected to have
// where the process is random; 0 when it has no bound.
func (o Open) Planned() int64 {
	byTime := int64(math.Ceil(float64(o.Rate*o.Duration.Seconds()) - 1e-9))
	switch {
	case o.Duration <= 0:
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
		if p == nil || !(o.Rate > 0) {
			return
		}
		shape := o.Burstiness
		if shape == 0 {
			shape = 1
		}
		unit := p.start(o.Seed, shape)
		for i := int64(0); o.Requests <= 0 || i < o.Requests; i++ {
			at := Flat(o.Rate).when(unit(i))
			if o.Duration > 0 && at >= o.Duration {
				return
			}
			if share.Has(i) && !yield(Arrival{i, at}) {
				return
			}
		}
	}
}

// Flat is a constant rate: it maps unit time, in which requests come once a
// second on average, to real time.
type Flat float64

func (r Flat) when(unit float64) time.Duration {
	ns := math.Round(float64(unit*1e9) / float64(r))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
