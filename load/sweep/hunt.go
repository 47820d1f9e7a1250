package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tokenmeter/record/metric"
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
	// leans is the evidence that counts where nothing was decided, odds of 2 to 1.
	leans = 0.7
	// near is how narrow the bounds of the way are made before brackets are closed.
	near = 1.5
)

// hunt is a search under way.
type hunt struct {
	Search
	subject Subject
	tests   []*test
	found   Found
	began   time.Duration

	// Bounds of the way: the largest load that seemed to hold and the smallest
	// that seemed to fail. Those of the bracket are found.Holds and found.Fails.
	low, high float64
	bottom    float64 // a load at which requests hardly meet each other, and that failed; 0: none, or some load holds
	width     float64 // of the bracket that is being closed, as fails ÷ holds
	budget    float64 // factor on how many requests are plenty

	confirmed float64 // the load whose failing was seen twice
	refuted   int     // loads that failed and then held
	unseen    string  // why the load that failed had no second look; empty: it had one

	untold string // the objective on which no request says anything; empty: there is none

	aimed map[float64]bool // loads that were tried for a firm decision

	lates  int   // loads at which the client was too slow
	beyond error // why nothing is known of larger loads: the client was too slow for them
}

// stop says why no further probe is made, or nothing.
func (h *hunt) stop() string {
	switch {
	case len(h.found.Probes) >= h.MaxProbes:
		return fmt.Sprintf("%d probes were not enough", h.MaxProbes)
	case h.MaxTime > 0 && h.Now()-h.began >= h.MaxTime:
		return fmt.Sprintf(timeUp+" (%v)", h.MaxTime)
	}
	return ""
}

// timeUp begins why a search ended whose time was up.
const timeUp = "the time was up"

// left is the time that is left; 0 without a bound.
func (h *hunt) left() time.Duration {
	if h.MaxTime == 0 {
		return 0
	}
	return h.MaxTime - (h.Now() - h.began)
}

func (h *hunt) words(load float64) string {
	if h.Variable == Concurrency {
		return fmt.Sprintf("%.0f streams", load)
	}
	return metric.Significant(load, 3) + " requests/s"
}

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

// firm is the evidence that the next decision for the bracket needs. All may be
// wrong together with the chance that the confidence leaves: a twentieth of it is
// shared among loads beyond as many as are mostly tried, 1/(1·2) + 1/(2·3) + …
// of it, a fifth is for what holds by its distance from the limit, where something
// may, and the rest is shared evenly among the others. A probe may be wrong whether it
// decides or not, but tries of one load go on with what was seen of it.
func (h *hunt) firm() float64 {
	mostly, share := firmProbes*len(h.stages()), 0.95
	if slices.ContainsFunc(h.tests, func(t *test) bool { return t.o.OfPace() }) {
		share -= 0.2
	}
	chance := share * (1 - h.Confidence) / float64(mostly)
	if k := float64(len(h.aimed) - mostly); k > 0 {
		chance = 0.05 * (1 - h.Confidence) / (k * (k + 1))
	}
	return -math.Log(chance)
}

func (h *hunt) run(ctx context.Context) error {
	err := h.search(ctx)
	if err != nil && h.found.Why == "" {
		h.found.Why = "broken off: " + err.Error()
	}
	if h.found.Why != "" && h.lates > 0 {
		h.found.Why += fmt.Sprintf("; at %d of the loads the client was too slow to judge the server", h.lates)
	}
	h.lean()
	if err == nil || errors.Is(err, ErrLate) {
		h.found.Next = h.advice()
	}
	if err == nil {
		err = h.beyond
	}
	return err
}

func (h *hunt) search(ctx context.Context) error {
	if err := h.climb(ctx); err != nil || h.found.Why != "" {
		return err
	}
	for _, width := range h.stages() {
		for again := true; again; {
			err := h.close(ctx, width)
			if err != nil || h.found.Why != "" {
				return err
			}
			if again, err = h.confirm(ctx); err != nil || h.found.Why != "" {
				return err
			}
		}
	}
	if err := h.repeat(ctx); err != nil {
		return err
	}
	if h.found.Why == "" {
		h.found.Why = h.unseen
	}
	h.found.Settled = h.found.Why == "" && h.beyond == nil
	return nil
}

// pardon lets a search go on after a load at which the client was too slow: a
// machine that is busy with something else is so now and then. Too often, and
// the search is over.
func (h *hunt) pardon(err error) error {
	if !errors.Is(err, ErrLate) {
		return err
	}
	if h.lates++; h.lates > mostLates {
		return err
	}
	return nil
}

const mostLates = 3

// climb finds bounds within a factor of near of each other.
func (h *hunt) climb(ctx context.Context) error {
	load := h.From
	for {
		if why := h.stop(); why != "" {
			return h.end(why)
		}
		p, err := h.probe(ctx, load, aim{pass: weak, fail: weak})
		switch late := errors.Is(err, ErrLate); {
		case late && h.low > 0 && h.high == 0:
			if h.pardon(err) != nil || load/h.low <= 1+h.Width {
				// Up to where the client can judge, what seemed to hold is worth a firm look.
				h.Most, h.beyond = h.low, err
				return nil
			}
			load = h.whole(math.Sqrt(h.low * load))
			continue
		case late && h.low > 0:
			return h.pardon(err) // firm probes are elsewhere
		case late:
			if err = h.pardon(err); err == nil {
				load = h.whole(math.Max(load/2, h.least()))
				continue
			}
		}
		if err != nil {
			return err
		}
		if h.silent(p) {
			h.untold = p.untold
			return h.end(p.Note)
		}
		if done := h.placed(p); done {
			return nil
		}
		load = h.step(p)
	}
}

// silent reports whether requests that were all answered said nothing on an objective,
// and no load held before: none will.
func (h *hunt) silent(p *Probe) bool {
	return p.decided == unclear && p.untold != "" && !p.spoilt && p.answered &&
		!slices.ContainsFunc(h.found.Probes, func(q Probe) bool { return q.decided == holds })
}

// placed moves the bounds after a step that said nothing, and reports whether
// the climb is over.
func (h *hunt) placed(p *Probe) (done bool) {
	switch {
	case p.spoilt || p.decided == unclear && p.untold != "": // the server is still busy, or answers nothing: a smaller load shows more
		if h.high = p.Load; h.low >= p.Load {
			h.low = 0
		}
	case p.decided == unclear && p.short && h.high == 0 && p.odds > -leans: // more load shows more in the same time
		h.low = p.Load
	case p.decided == unclear && p.short && h.high > 0 && p.odds > leans: // good enough to go on
		h.low = p.Load
	case p.decided == unclear: // at the edge, as it seems: no reason to go on
		h.low, h.high = p.Load/math.Sqrt(near), p.Load*math.Sqrt(near)
		return true
	}
	return h.low > 0 && h.high > 0 && h.high/h.low <= h.rough() ||
		h.high == 0 && p.Load >= h.Most || // the top holds: close says it firmly
		h.low == 0 && p.Load <= h.least()
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
	switch {
	case h.Variable == Concurrency:
		return 1
	case h.low > 0 || h.found.Holds > 0: // the edge is above that, and the bottom was none
		return h.From / 1024
	}
	return math.Max(h.bottom, h.From/1024)
}

// step chooses the next load of the climb.
func (h *hunt) step(p *Probe) float64 {
	next, served := 0.0, h.ceiling()
	switch {
	case h.high == 0:
		next = h.low * 2
	case h.low == 0:
		next = h.high / 2
		if p.Share < 0.2 {
			next = h.high / 4
		}
		if served > 0 && served < h.high {
			next = math.Max(next/4, math.Min(next, served*0.8))
		}
	default:
		next = math.Sqrt(h.low * h.high)
		// What an overloaded server got done bounds what it can do.
		if served > h.low*1.05 && served*0.95 < h.high {
			next = math.Max(h.low*1.05, math.Min(next, served*0.9))
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
	return h.rounded(load, math.Round)
}

// rounded leaves four digits of a rate between the least and the most. Those two stay as
// they are: rounded, they would never be reached.
func (h *hunt) rounded(rate float64, round func(float64) float64) float64 {
	least := h.least()
	if rate > least && rate < h.Most {
		rate = digits(rate, round)
	}
	return math.Max(math.Min(rate, h.Most), least)
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
