package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// aim is what a probe is for.
type aim struct {
	pass, fail float64 // evidence that a decision needs
	firm       bool    // decides an end of the bracket
	grow       float64 // how much of the load may pile up
	repeat     bool
	short      bool // a repeat that may cost as little as a step on the way
}

// tries is how often a load is tried at which the client was late, or the server
// still busy with something else: a bad moment says nothing of a load.
const tries = 3

// probe tries a load and keeps what it says.
func (h *hunt) probe(ctx context.Context, load float64, a aim) (p *Probe, err error) {
	most := tries
	if h.lates > 0 && !a.firm {
		most = 1 // it is no moment: the next load will show
	}
	began := h.left()
	for range most {
		p, err = h.once(ctx, load, a)
		if err != nil && !errors.Is(err, ErrLate) || !p.spoilt || h.stop() != "" || a.firm && h.brief() || began-h.left() > h.MaxTime/retakeShare {
			break
		}
	}
	return p, err
}

func (h *hunt) once(ctx context.Context, load float64, a aim) (*Probe, error) {
	firm, way := a.firm, !a.firm && !a.repeat
	t := newTrial(h.tests, h.Variable == Rate)
	ceiling, wander := h.ceiling(), h.wander(load)
	t.grow, t.below = mayGrow(1+h.Width), load < ceiling/surely
	if h.blind() {
		t.idle, t.above = h.idle(), ceiling > 0 && load > ceiling
	}
	for i, test := range t.tests {
		test.floor = h.time(i, load)
		if !way && test.o.FeelsWaiting(test.all) {
			test.wander = wander
		}
		if firm {
			test.above, test.below = h.neighbours(i, load)
		}
	}
	p := Probe{Load: load, Repeat: a.repeat, Share: math.NaN()}
	var l look
	probed, err := h.subject.Probe(ctx, load, h.limit(load, a), func(seen Seen) bool {
		t.take(seen)
		p.Requests++
		if !t.dueLook() {
			return true
		}
		l = t.judge(a, h.budget)
		if (firm || a.repeat && l.decision == holds) && seen.DueS < h.shortest() {
			return true
		}
		return l.decision == unclear && !l.enough && !(way && h.light(load, t, l))
	})
	p.Probed = probed
	if err == nil && l.decision == unclear && !l.enough && !(way && h.light(load, t, l)) {
		t.close()
		l = t.judge(a, h.budget)
	}
	if err != nil && !errors.Is(err, ErrLate) {
		l.decision, l.share = unclear, math.NaN() // it was broken off, and so were requests
	}
	p.decided, p.Grows, p.Share, p.Worst = l.decision, l.grows, l.share, l.worst
	p.score, p.slack, p.odds = l.score, l.slack, l.holds-l.fails
	p.times, p.own, p.counted, p.worth, p.counts = t.times, t.own, l.n, l.worth, l.counts
	if n := len(t.due); n > 0 {
		p.spanS = t.due[n-1] - t.due[l.from]
	}
	p.short, p.untold = !l.enough && !l.rising, l.untold
	p.early = l.n > 0 && !t.keepsUp(l.from, aim{})
	p.didPerS, p.didOf = t.flights.did()
	p.above = t.above
	p.e2e, _ = median(t.e2e)
	p.ttft, _ = median(t.ttft)
	p.answered = t.unanswered == 0
	if p.decided == unclear && err == nil && way && h.light(load, t, l) {
		p.decided, p.light = holds, true
	}
	h.found.Requests += p.Requests
	p.qualify(l)
	if err != nil && p.Note == "" {
		p.Note = "broken off"
	}
	p.Says = p.decided.String()
	p.Firm = firm && p.decided != unclear
	h.found.Probes = append(h.found.Probes, p)
	if h.Told != nil {
		h.Told(p)
	}
	last := &h.found.Probes[len(h.found.Probes)-1]
	switch {
	case err != nil:
		return last, err
	case p.spoilt && p.Late != "":
		return last, fmt.Errorf("%w at %s: %s", ErrLate, h.words(load), probed.Late)
	}
	if !p.spoilt {
		h.learn(last)
	}
	return last, nil
}

// qualify takes back what a probe can't say, and tells why an open one is open.
func (p *Probe) qualify(l look) {
	switch {
	case p.Late != "" && p.Harsh && p.decided == holds:
		p.Note = "it held although the client was late (" + p.Late + ")"
	case p.Late != "":
		p.spoil(p.Late)
	case p.Busy && p.decided != holds:
		p.spoil(p.Unsettled)
	case p.decided == unclear:
		p.Note = l.open()
	case p.decided == holds && l.distant:
		p.Note = fmt.Sprintf("by its distance from the limit: %d requests are worth %.0f independent ones", l.n, l.worth)
	}
}

func (p *Probe) spoil(why string) {
	p.decided, p.spoilt, p.Note = unclear, true, "not judged: "+why
}

// limit bounds a probe. A step on the way may cost little: where it stays open, firm
// probes beside it tell more.
func (h *hunt) limit(load float64, a aim) Limit {
	l := h.Probe
	if h.MaxTime == 0 {
		return l
	}
	most := h.MaxTime / wayShare
	if h.high == 0 && !a.repeat {
		most /= 2 // on the way up more load will show more
	}
	if !a.firm && (!a.repeat || a.short) {
		if h.Variable == Rate {
			most = max(most, time.Duration(2*fewest/load*float64(time.Second)))
		}
		if l.Duration == 0 || most < l.Duration {
			l.Duration = most
		}
	}
	if left := h.left(); l.Duration == 0 || left < l.Duration {
		l.Duration = max(left, time.Second)
	}
	l.Left = h.left
	return l
}

// shortest is how many seconds a firm decision, and a second look that holds, rest
// on at least: a bad moment of the machine is to be no more than a part of it, and
// so is what a limit lets through before it bites.
func (h *hunt) shortest() float64 { return (h.MaxTime / leastShare).Seconds() }

// brief reports whether the time that is left is too short for a firm decision.
func (h *hunt) brief() bool { return h.MaxTime > 0 && h.left().Seconds() < h.shortest() }

// surely is how far below what the server did a load is that it keeps up with.
const surely = 1.1

const (
	leastShare  = 40 // which part of the time a firm decision rests on at least
	wayShare    = 20 // which part of the time a step on the way may take
	retakeShare = 10 // and for how much of it a load is tried again
)

// light reports a load so far below the limit that a handful of good requests
// is enough to go on to the next: less than one request in flight, or all requests
// far from every limit for as long as a queue takes to show.
func (h *hunt) light(load float64, t *trial, l look) bool {
	if l.n < fewest || l.untold != "" || !(l.share >= 1) && !l.far {
		return false
	}
	e2e, ok := median(t.e2e)
	switch {
	case !ok:
		return false
	case h.Variable == Rate && load*e2e < 1:
		return true
	case h.Variable == Rate:
		return l.far && l.n >= 2*fewest && t.moments(l.from) >= queueShows && t.keepsUp(l.from, aim{})
	}
	return l.far && float64(l.n) >= math.Max(2*fewest, 3*load)
}
