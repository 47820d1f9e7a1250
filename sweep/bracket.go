package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// close narrows the firm bracket to a width.
func (h *hunt) close(ctx context.Context, width float64) error {
	stretch, stuck, open := 1.0, 0, 0.0
	defer func() { h.budget = 1 }()
	for !h.closed(width) {
		if why := h.stop(); why != "" {
			return h.end(why)
		}
		if h.brief() {
			return h.end(fmt.Sprintf("the time was up (%v): what is left is too short for a firm decision", h.MaxTime))
		}
		load, done := h.next(width, stuck)
		if done {
			return nil
		}
		if open > 0 && math.Abs(math.Log(load/open)) <= math.Log(1+h.Width/2) && h.between(open) {
			load = open // what was seen of it counts
		}
		open = 0
		h.budget = h.plenty(width) * stretch
		p, err := h.probe(ctx, load, aim{pass: h.firm(), fail: h.firm(), firm: true})
		late := errors.Is(err, ErrLate)
		switch {
		case late && stuck < mostStuck:
			h.lates++
		case err != nil:
			return err
		case p.decided != unclear:
			continue
		}
		if p.short && !p.spoilt { // its time was up
			open = p.Load
		}
		// Else the edge is too near to this load. The next estimate knows it.
		if stuck++; stuck > mostStuck {
			return h.end(fmt.Sprintf("%d requests did not decide %s", p.Requests, h.words(load)))
		}
		stretch *= 1.3
	}
	return nil
}

// next is the load to try after so many probes that decided nothing.
func (h *hunt) next(width float64, stuck int) (load float64, done bool) {
	if turn := stuck >= 2 && h.found.Holds == 0 && h.found.Fails == 0; turn {
		return h.target(h.reach(width, 0), true)
	}
	return h.target(h.reach(width, stuck), false)
}

// reach is how far apart the ends are put. A search that lacks an end and has used
// half its time, or will not see many independent requests in what is left, looks
// farther from the edge: a wide bracket says more than none. So it does after
// every second probe that decided nothing.
func (h *hunt) reach(width float64, stuck int) float64 {
	if h.MaxTime == 0 || h.found.Holds > 0 && h.found.Fails > 0 {
		return width
	}
	if pace, ok := h.pace(); h.left() < h.MaxTime/2 || ok && pace*h.left().Seconds() < fewMoments {
		width = math.Max(width, farReach)
	}
	return width * math.Pow(farther, float64(stuck/2))
}

const (
	farReach   = 2
	farther    = 1.3
	fewMoments = 150 // independent requests
)

// pace is how many independent requests a second those near the edge are worth: no
// more than one in the time of a request, as those in flight together meet the same.
func (h *hunt) pace() (perS float64, ok bool) {
	lo, _ := h.bounds()
	var all []float64
	for i := range h.found.Probes {
		if p := &h.found.Probes[i]; p.Load >= 0.7*lo && !p.spoilt && !p.light && p.spanS > 0 && !math.IsInf(p.worth, 0) {
			all = append(all, math.Min(p.worth/p.spanS, 1/p.e2e))
		}
	}
	return median(all)
}

// mostStuck is how many probes of a bracket may stay open before it is left as it is.
const mostStuck = 8

// between reports whether a load lies inside the firm bracket.
func (h *hunt) between(load float64) bool {
	return load > h.found.Holds && (h.found.Fails == 0 || load < h.found.Fails)
}

func (h *hunt) closed(width float64) bool {
	lo, hi := h.found.Holds, h.found.Fails
	if lo == 0 || hi == 0 {
		return false
	}
	if h.Variable == Concurrency && hi-lo <= 1 {
		return true
	}
	return hi/lo <= width*(1+1e-9)
}

// target is the end of the bracket to try next: the one farther from the
// estimated edge, put as far beside it as the width allows, or with turn the upper one.
// done: there is none, as the objectives hold at the top or fail at the bottom.
func (h *hunt) target(width float64, turn bool) (load float64, done bool) {
	lo, hi := h.found.Holds, h.found.Fails
	if lo >= h.Most || hi > 0 && hi <= h.least()*1.001 { // loads are rounded
		return 0, true
	}
	edge, half := h.edge(), math.Sqrt(width)
	lower, upper := math.Inf(1), math.Inf(1) // how far the ends are
	if lo > 0 {
		lower = edge / lo
	}
	if hi > 0 {
		upper = hi / edge
	}
	// An end that is a little too far from the edge stays: moving it by a hair
	// would cost as much as putting it there did.
	snap := 1 + (width-1)/10
	toward := math.Ceil // never farther from the edge than the width allows
	if lower >= upper && !turn {
		load = edge / half
		if upper <= half*snap {
			load = hi / width
		}
	} else {
		toward = math.Floor
		load = edge * half
		if lower <= half*snap {
			load = lo * width
		}
	}
	load = math.Max(math.Min(load, h.Most), h.least())
	if h.Variable == Concurrency {
		return h.inside(math.Round(load)), false
	}
	return digits(load, toward), false
}

// inside keeps a number of streams between the ends of the firm bracket.
func (h *hunt) inside(streams float64) float64 {
	lo, hi := h.found.Holds, h.found.Fails
	if lo > 0 {
		streams = math.Max(streams, lo+1)
	}
	if hi > 0 {
		streams = math.Min(streams, hi-1)
	}
	return math.Max(streams, 1)
}

// confirm looks at the load that failed once more, some time later: on a machine
// that does something else now and then the first look may have met that. again:
// it held this time, so that the bracket is open once more.
func (h *hunt) confirm(ctx context.Context) (again bool, err error) {
	load := h.found.Fails
	if h.MaxTime == 0 || load == 0 || load == h.confirmed || h.stop() != "" {
		return false, nil // in virtual time nothing else happens
	}
	a := aim{pass: 2 * weak, fail: weak, repeat: true, short: true}
	p, err := h.probe(ctx, load, a)
	if err == nil && p.leansToHold() && h.stop() == "" {
		a.short = false // what speaks against the first look is worth a longer one
		p, err = h.probe(ctx, load, a)
	}
	switch h.unseen = ""; {
	case errors.Is(err, ErrLate):
		h.lates++
		h.unseen = fmt.Sprintf("%s could not be tried again: %v", h.words(load), err)
		return false, nil
	case err != nil:
		return false, err
	case p.decided == fails:
		h.confirmed = load
		return false, nil
	case p.spoilt:
		h.unseen = fmt.Sprintf("%s failed once, and the second look was %s", h.words(load), p.Note)
		return false, nil
	case p.leansToHold():
		h.unseen = fmt.Sprintf("%s failed once, and a second look leans the other way", h.words(load))
		return false, nil
	case p.decided == unclear: // it says nothing against the first look, and nothing for it
		return false, nil
	}
	h.refute(load)
	if h.refuted > mostRefuted {
		return false, h.end(fmt.Sprintf("%d loads failed and then held: the machine or server is not steady", h.refuted))
	}
	return true, nil
}

// leansToHold reports whether a probe that decided nothing speaks for the load.
func (p *Probe) leansToHold() bool { return p.decided == unclear && !p.spoilt && p.odds > leans }

// refute takes back what was seen of a load that failed and then held.
func (h *hunt) refute(load float64) {
	h.refuted++
	h.found.Fails, h.high = 0, 0
	for i := range h.found.Probes {
		q := &h.found.Probes[i]
		switch {
		case q.decided != fails:
		case q.Load == load:
			q.spoilt, q.Firm, q.Note = true, false, "it held later"
		case q.Firm && q.Load > load && (h.found.Fails == 0 || q.Load < h.found.Fails):
			h.found.Fails = q.Load
		}
	}
	h.low, h.high = math.Max(h.low, load), h.found.Fails
}

// mostRefuted is how many loads may have failed and then held before a search is over.
const mostRefuted = 3

// bounds are the nearest loads that held and failed, firmly or not; 0: none.
func (h *hunt) bounds() (lo, hi float64) {
	lo, hi = h.low, h.high
	if f := h.found.Holds; f > lo {
		lo = f
	}
	if f := h.found.Fails; f > 0 && (hi == 0 || f < hi) {
		hi = f
	}
	return lo, hi
}

// edge estimates the load at which the objectives cease to hold: a line through
// the scores of the probes around it, by the logarithm of the load.
func (h *hunt) edge() float64 {
	lo, hi := h.bounds()
	if lo == 0 && hi == 0 {
		return h.From
	}
	if hi == 0 {
		return lo * 1.2
	}
	if lo == 0 {
		return hi / 1.2
	}
	guess, _ := h.line(lo, hi)
	if !(guess > lo && guess < hi) {
		guess = math.Sqrt(lo * hi)
	}
	return guess
}

// line is the root of the weighted line through nearby scores; NaN without one.
func (h *hunt) line(lo, hi float64) (root, slope float64) {
	var w, x, y, xx, xy float64
	for _, p := range h.found.Probes {
		if p.Grows || p.spoilt || p.Busy || math.IsInf(p.score, 0) || p.slack <= 0 || p.Load < lo/1.3 || p.Load > hi*1.3 {
			continue
		}
		// A score far from 0 says little about where 0 is.
		u := math.Log(p.Load)
		away := (u - math.Log(lo*hi)/2) / math.Max(math.Log(hi/lo), 0.05)
		weight := p.slack / (1 + p.score*p.score) / (1 + away*away)
		w, x, y = w+weight, x+weight*u, y+weight*p.score
		xx, xy = xx+weight*u*u, xy+weight*u*p.score
	}
	det := w*xx - x*x
	if !(det > 1e-9*w*w) {
		return math.NaN(), 0
	}
	slope = (w*xy - x*y) / det
	if !(slope < 0) {
		return math.NaN(), 0
	}
	return math.Exp((x*slope - y) / (w * slope)), slope
}

// plenty is a factor on how many requests of a probe are plenty: as many as show
// a load half a bracket away from the edge. A load that they do not decide is
// nearer than that, and then another one is worth more.
func (h *hunt) plenty(width float64) float64 {
	lo, hi := h.bounds()
	if lo == 0 || hi == 0 {
		return 1
	}
	_, slope := h.line(lo, hi)
	if slope == 0 {
		return 1
	}
	// The score is a logit, and a decision needs about 15 p(1−p) ÷ (difference of
	// the shares)² independent requests.
	away := slope * math.Log(width) / 2
	factor := math.Inf(1)
	for _, t := range h.tests {
		if t.target > 0 {
			factor = math.Min(factor, 15/(t.target*(1-t.target)*away*away)/t.plenty())
		}
	}
	return math.Min(math.Max(factor, 0.08), 1)
}
