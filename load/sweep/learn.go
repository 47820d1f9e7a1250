package sweep

import "math"

// neighbours sums what earlier probes saw of a test at loads within half a
// bracket above and below.
func (h *hunt) neighbours(test int, load float64) (above, below pool) {
	for _, p := range h.found.Probes {
		if test >= len(p.own) || p.Grows || p.spoilt {
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
		if p.Load > load*1.02 || p.Load < load/1.3 || test >= len(p.times) || p.Grows || p.spoilt {
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

// wander is how many requests tell as much as one independent one of what waits, near
// what the server can do: a queue in heavy traffic is reflected Brownian motion, whose
// autocorrelation time is its variance over the square of its drift, 1/(1 − ρ)² requests
// where arrivals come at random and the server is regular. It outlasts short probes: one in
// which no queue came up shows nothing of it. 0: what the server can do is not known.
func (h *hunt) wander(load float64) float64 {
	ceiling, of := h.ceilingOf()
	if of < leastSeen {
		return 0
	}
	free := math.Max(1-load/ceiling, leastFree)
	return tailToBody / (free * free)
}

const (
	leastSeen = 100  // requests that tell what a server can do to a tenth
	leastFree = 0.02 // it is known no better than that; what lasts longer is believed
)

// alone is how many requests are in flight at most where one more or less makes
// no difference: less load would show the same.
const alone = 0.25

// lonely reports whether the requests of a probe hardly met each other. Where some
// were refused or broke off that can't be told: a limit counts those that come, not
// those that are in flight, and what fails fast leaves no time behind.
func (p *Probe) lonely() bool {
	return p.answered && p.e2e > 0 && p.Load*p.e2e < alone && !p.Grows
}

// learn moves the bounds.
func (h *hunt) learn(p *Probe) {
	switch p.decided {
	case holds:
		h.bottom = 0 // where one load holds, it is the load that matters
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
		if h.Variable == Rate && h.low == 0 && h.found.Holds == 0 && p.lonely() {
			h.bottom = math.Max(h.bottom, p.Load)
		}
		if p.Firm && (h.found.Fails == 0 || p.Load < h.found.Fails) && p.Load > h.found.Holds {
			h.found.Fails = p.Load
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
			if q.decided == holds && !q.spoilt && q.Load < p.Load {
				h.low = math.Max(h.low, q.Load)
			}
		}
	case p.score > 0 && h.high > 0 && p.Load >= h.high:
		h.high, h.bottom = 0, 0
		for _, q := range h.found.Probes {
			if q.decided == fails && !q.spoilt && q.Load > p.Load && (h.high == 0 || q.Load < h.high) {
				h.high = q.Load
			}
		}
	}
}
