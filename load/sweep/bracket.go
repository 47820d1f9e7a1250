package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// close narrows the firm bracket to a width.
func (h *hunt) close(ctx context.Context, width float64) error {
	h.width = width
	stretch, stuck, open := 1.0, 0, 0.0
	defer func() { h.budget = 1 }()
	for !h.closed(width) {
		if why := h.stop(); why != "" {
			return h.end(why)
		}
		if h.brief() {
			return h.end(fmt.Sprintf(timeUp+" (%v): what is left is too short for a firm decision", h.MaxTime))
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
		h.aim(load)
		p, err := h.probe(ctx, load, aim{pass: h.firm(), fail: h.firm(), grow: mayGrow(width), firm: true})
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

// aim notes a load that is tried for a firm decision.
func (h *hunt) aim(load float64) {
	if h.aimed == nil {
		h.aimed = map[float64]bool{}
	}
	h.aimed[load] = true
}

// next is the load to try after so many probes that decided nothing.
func (h *hunt) next(width float64, stuck int) (load float64, done bool) {
	if turn := stuck >= 2 && h.found.Holds == 0 && h.found.Fails == 0; turn {
		return h.target(h.reach(width, stuck-2), true)
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
	return h.rounded(load, toward), false
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
