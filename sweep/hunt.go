package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// A search has three parts: it climbs in large steps, on weak evidence, until
// the load is known to within a half; then it closes a bracket around where the
// objectives seem to cease to hold, first a wide one and then narrower ones, each
// end on firm evidence; last it repeats the load that held.
//
// Loads at the very edge can't be decided in any number of requests. That is why
// the ends of a bracket are put beside the estimated edge and not by halving.

const (
	// weak is the evidence of a step on the way, odds of 4 to 1.
	weak = 1.4
	// near is how narrow the bounds of the way are made before brackets are closed.
	near = 1.5
)

// stages are the widths of the brackets, as fails ÷ holds.
func (s *Search) stages() []float64 {
	var widths []float64
	for _, w := range []float64{1.5, 1.22, 1.1} {
		if w > 1+2*s.Width {
			widths = append(widths, w)
		}
	}
	return append(widths, 1+s.Width)
}

func (h *hunt) run(ctx context.Context) error {
	err := h.search(ctx)
	if errors.Is(err, ErrLate) && h.found.Holds == 0 && h.low > 0 && h.stop() == "" {
		// Up to where the client can judge, what seemed to hold is worth a firm look.
		if _, again := h.probe(ctx, h.low, aim{pass: h.firm, fail: h.firm, firm: true}); again != nil && !errors.Is(again, ErrLate) {
			return again
		}
	}
	return err
}

func (h *hunt) search(ctx context.Context) error {
	if err := h.climb(ctx); err != nil || h.found.Why != "" {
		return err
	}
	for _, width := range h.stages() {
		if err := h.close(ctx, width); err != nil || h.found.Why != "" {
			return err
		}
	}
	if err := h.repeat(ctx); err != nil {
		return err
	}
	h.found.Settled = h.found.Why == ""
	return nil
}

// climb finds bounds within a factor of near of each other.
func (h *hunt) climb(ctx context.Context) error {
	load := h.From
	for {
		if why := h.stop(); why != "" {
			return h.end(why)
		}
		p, err := h.probe(ctx, load, aim{pass: weak, fail: weak})
		if err != nil {
			return err
		}
		if p.decided == unclear { // at the edge, as it seems: no reason to go on
			h.low, h.high = load/math.Sqrt(near), load*math.Sqrt(near)
			return nil
		}
		switch {
		case h.low > 0 && h.high > 0 && h.high/h.low <= h.rough():
			return nil
		case h.high == 0 && load >= h.Most:
			return h.end("") // the top holds: close says it firmly
		case h.low == 0 && load <= h.least():
			return nil
		}
		load = h.step(p)
	}
}

// rough is how near each other the bounds of the way must be; neighbouring
// numbers of streams are as near as can be.
func (h *hunt) rough() float64 {
	if h.Variable == Concurrency && h.low > 0 && h.high-h.low <= 1 {
		return math.Inf(1)
	}
	return near
}

// least is the smallest load that makes sense.
func (h *hunt) least() float64 {
	if h.Variable == Concurrency {
		return 1
	}
	return math.Max(h.bottom, h.From/1024)
}

// step chooses the next load of the climb.
func (h *hunt) step(p *Probe) float64 {
	next := 0.0
	switch {
	case h.high == 0:
		next = h.low * 2
	case h.low == 0:
		next = h.high / 2
		if p.Share < 0.2 {
			next = h.high / 4
		}
		if h.served > 0 && h.served < h.high {
			next = math.Max(next/4, math.Min(next, h.served*0.8))
		}
	default:
		next = math.Sqrt(h.low * h.high)
		// What an overloaded server got done bounds what it can do.
		if h.served > h.low*1.05 && h.served*0.95 < h.high {
			next = math.Max(h.low*1.05, math.Min(next, h.served*0.9))
		}
	}
	return h.whole(math.Max(math.Min(next, h.Most), h.least()))
}

// whole makes a load a possible one.
func (h *hunt) whole(load float64) float64 {
	if h.Variable == Concurrency {
		load = math.Round(load)
		if h.high > 0 && load >= h.high && h.high-h.low > 1 {
			load = h.high - 1
		}
		if load <= h.low && (h.high == 0 || h.high-h.low > 1) {
			load = h.low + 1
		}
		return math.Max(load, 1)
	}
	return digits(load, math.Round)
}

// digits leaves four of them: a load that can be typed again.
func digits(load float64, round func(float64) float64) float64 {
	scale := math.Pow(10, 3-math.Floor(math.Log10(load)))
	return round(load*scale) / scale
}

// end notes why the search is over.
func (h *hunt) end(why string) error {
	h.found.Why = why
	return nil
}

// close narrows the firm bracket to a width.
func (h *hunt) close(ctx context.Context, width float64) error {
	stretch, stuck := 1.0, 0
	defer func() { h.budget = 1 }()
	for !h.closed(width) {
		if why := h.stop(); why != "" {
			return h.end(why)
		}
		load, done := h.target(width)
		if done {
			return nil
		}
		h.budget = h.plenty(width) * stretch
		p, err := h.probe(ctx, load, aim{pass: h.firm, fail: h.firm, firm: true})
		if err != nil {
			return err
		}
		if p.decided != unclear {
			continue
		}
		// The edge is too near to this load. The next estimate knows it.
		if stuck++; stuck > 8 {
			return h.end(fmt.Sprintf("%d requests did not decide %s", p.Requests, h.words(load)))
		}
		stretch *= 1.3
	}
	return nil
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
// estimated edge, put as far beside it as the width allows. done: there is
// none, as the objectives hold at the top or fail at the bottom.
func (h *hunt) target(width float64) (load float64, done bool) {
	lo, hi := h.found.Holds, h.found.Fails
	if lo >= h.Most || hi > 0 && hi <= h.least() {
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
	toward := math.Ceil // never farther from the edge than the width allows
	if lower >= upper {
		load = edge / half
		if upper <= half {
			load = hi / width
		}
	} else {
		toward = math.Floor
		load = edge * half
		if lower <= half {
			load = lo * width
		}
	}
	load = math.Max(math.Min(load, h.Most), h.least())
	if h.Variable == Concurrency {
		return h.inside(math.Round(load)), false
	}
	return digits(load, toward), false
}

// inside keeps a load between the ends of the firm bracket.
func (h *hunt) inside(load float64) float64 {
	lo, hi := h.found.Holds, h.found.Fails
	if h.Variable == Concurrency {
		if lo > 0 {
			load = math.Max(load, lo+1)
		}
		if hi > 0 {
			load = math.Min(load, hi-1)
		}
		return math.Max(load, 1)
	}
	return load
}

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
		if p.Grows || math.IsInf(p.score, 0) || p.slack <= 0 || p.Load < lo/1.3 || p.Load > hi*1.3 {
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

// repeat tries the load that held once more. What held by luck, or before the
// server changed, does not hold again.
func (h *hunt) repeat(ctx context.Context) error {
	if h.found.Holds == 0 || h.stop() != "" {
		return nil
	}
	load := h.found.Holds
	budget := int64(0)
	for _, p := range h.found.Probes {
		if p.Load == load {
			budget = max(budget, p.Requests)
		}
	}
	saved := h.Probe
	h.Probe.Requests = max(budget/4, 50)
	p, err := h.probe(ctx, load, aim{pass: weak, fail: h.firm, repeat: true})
	h.Probe = saved
	if err != nil {
		return err
	}
	if p.decided == fails {
		h.found.Why = fmt.Sprintf("%s held and then did not: the server changes, or it held by luck", h.words(load))
		h.found.Holds, h.found.Fails = h.below(load), load
	}
	return nil
}

// below is the largest load under one that was shown to hold.
func (h *hunt) below(load float64) float64 {
	best := 0.0
	for _, p := range h.found.Probes {
		if p.Firm && p.decided == holds && p.Load < load {
			best = math.Max(best, p.Load)
		}
	}
	return best
}
