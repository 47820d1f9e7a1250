package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// confirm looks at the load that failed once more, some time later: on a machine
// that does something else now and then the first look may have met that. again:
// it held this time, so that the bracket is open once more.
func (h *hunt) confirm(ctx context.Context) (again bool, err error) {
	load := h.found.Fails
	if h.MaxTime == 0 || load == 0 || load == h.confirmed || h.stop() != "" {
		return false, nil // in virtual time nothing else happens
	}
	a := aim{pass: 2 * weak, fail: weak, grow: mayGrow(h.width), repeat: true, short: true}
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

// repeat tries the load that held once more. What held by luck, or before the
// server changed, does not hold again.
func (h *hunt) repeat(ctx context.Context) error {
	load := h.found.Holds
	if load == 0 {
		return nil
	}
	if why := h.stop(); why != "" {
		return h.end(fmt.Sprintf("%s held once and was not tried again: %s", h.words(load), why))
	}
	saved := h.Probe
	h.Probe.Requests = h.again(load)
	p, err := h.probe(ctx, load, aim{pass: weak, fail: h.firm(), grow: mayGrow(h.width), repeat: true})
	h.Probe = saved
	switch {
	case errors.Is(err, ErrLate):
		return h.end(fmt.Sprintf("%s could not be tried again: %v", h.words(load), err))
	case err != nil:
		return err
	case p.spoilt:
		return h.end(fmt.Sprintf("%s held once, and the second look was %s", h.words(load), p.Note))
	case p.decided == unclear && p.odds < -leans:
		return h.end(fmt.Sprintf("%s held once, and a second look leans the other way", h.words(load)))
	case p.decided == fails:
		h.found.Why = fmt.Sprintf("%s held and then did not: the server changes, or it held by luck", h.words(load))
		h.found.Holds, h.found.Missed, h.found.Fails = 0, nil, load
		if q := h.below(load); q != nil {
			h.found.Holds, h.found.Missed = q.Load, q.Missed
		}
	}
	return nil
}

// again is how many requests the second look at a load that held may take: a
// quarter of the first, but enough for the time that it rests on. 0: no bound but
// that of time.
func (h *hunt) again(load float64) int64 {
	if h.Variable == Concurrency && h.MaxTime > 0 {
		return 0
	}
	most := int64(0)
	for _, p := range h.found.Probes {
		if p.Load == load {
			most = max(most, p.Requests)
		}
	}
	return max(most/4, 50, int64(1.5*load*h.shortest()))
}

// below is the probe of the largest load under one that was shown to hold; nil: there is none.
func (h *hunt) below(load float64) (best *Probe) {
	for i := range h.found.Probes {
		p := &h.found.Probes[i]
		if p.Firm && p.decided == holds && p.Load < load && (best == nil || p.Load > best.Load) {
			best = p
		}
	}
	return best
}
