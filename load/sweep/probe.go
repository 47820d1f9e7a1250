package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// aim is what a probe is for.
type aim struct {
	firm   bool // of full length; else a step on the way
	repeat bool
}

// firmly makes a probe of full length. Where the client is too slow for it, the search
// goes on below.
func (h *hunt) firmly(ctx context.Context, load float64, repeat bool) error {
	p, err := h.probe(ctx, load, aim{firm: true, repeat: repeat})
	if h.full++; load == h.floor && err == nil && p.decided != fails {
		h.floor = 0
	}
	if errors.Is(err, ErrLate) && h.largest() > 0 && !repeat {
		h.Most, h.beyond = h.largest(), err
		return nil
	}
	return err
}

// probe tries a load and keeps what it says.
func (h *hunt) probe(ctx context.Context, load float64, a aim) (p *Probe, err error) {
	for range tries {
		if p, err = h.once(ctx, load, a); err != nil && !errors.Is(err, ErrLate) || !p.spoilt || !h.time(1) {
			break
		}
	}
	return p, err
}

func (h *hunt) once(ctx context.Context, load float64, a aim) (*Probe, error) {
	planned := h.ProbeTime
	if !a.firm {
		planned = time.Duration(wayTime * float64(h.ProbeTime))
	}
	t := newTrial(h.tests, h.Variable == Rate, planned.Seconds())
	if !slices.ContainsFunc(h.tests, func(of *test) bool { return of.feels(h.Width, planned.Seconds()) }) {
		t.mayPile = h.Width
	}
	limit := Limit{Duration: planned}
	if !a.firm {
		limit.Duration = time.Duration(mostWay * float64(h.ProbeTime))
	}
	cut := false // it had less than the planned time
	if h.MaxTime > 0 {
		limit.Left = func() time.Duration {
			left := h.left() + time.Duration(overrun*float64(h.ProbeTime)) + time.Second
			cut = left < planned
			return left
		}
	}
	p := Probe{Load: load, Repeat: a.repeat, Share: math.NaN(), firm: a.firm}
	stopped := false
	probed, err := h.subject.Probe(ctx, load, limit, func(seen Seen) bool {
		t.take(seen)
		p.Requests++
		switch n := len(t.due); {
		case !a.firm:
			stopped = n >= fewest && t.due[n-1] >= planned.Seconds()
		case t.dueLook():
			p.look = t.judge(h.wrong(), false)
			stopped = p.look.decision == fails
		}
		return !stopped
	})
	p.Probed = probed
	switch {
	case !stopped && err == nil:
		t.close()
		if p.look = t.judge(h.wrong(), a.firm && !cut); !a.firm {
			p.look = t.seems()
		}
	case !a.firm && err == nil:
		p.look = t.seems()
	}
	p.look.answered = t.answered == int(p.Requests)
	p.decided, p.Grows, p.Share, p.Worst = p.look.decision, p.look.grows, p.look.share, p.look.worst
	if err != nil && !errors.Is(err, ErrLate) {
		p.decided, p.Share, p.Note = unclear, math.NaN(), "broken off" // and so were requests
	}
	h.found.Requests += p.Requests
	p.qualify(cut && a.firm)
	p.Says, p.Firm = p.decided.String(), a.firm && p.decided != unclear
	h.found.Probes = append(h.found.Probes, p)
	if h.Told != nil {
		soFar := h.found
		h.answer(&soFar)
		soFar.Why = "the search was not finished"
		h.Told(&soFar)
	}
	last := &h.found.Probes[len(h.found.Probes)-1]
	if err == nil && p.spoilt && p.Late != "" {
		err = fmt.Errorf("%w at %s: %s", ErrLate, h.words(load), probed.Late)
	}
	return last, err
}

// qualify takes back what a probe can't say, and tells why an open one is open.
func (p *Probe) qualify(cut bool) {
	switch {
	case p.Note != "":
	case p.Late != "" && p.Harsh && p.decided == holds:
		p.Note = "it held although the client was late (" + p.Late + ")"
	case p.Late != "":
		p.spoil(p.Late)
	case p.Busy && p.decided != holds:
		p.spoil(p.Unsettled)
	case p.decided == unclear && cut:
		p.Note = "its time was cut short"
	case p.decided == unclear:
		p.Note = p.look.why()
	}
}

func (p *Probe) spoil(why string) {
	p.decided, p.spoilt, p.Note = unclear, true, "not judged: "+why
}
