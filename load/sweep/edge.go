package sweep

import "math"

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
	if top := h.ceiling(); h.blind() && top > h.found.Holds && (h.found.Fails == 0 || top < h.found.Fails) {
		return top // nothing is near a limit there: it is what the server can do
	}
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
