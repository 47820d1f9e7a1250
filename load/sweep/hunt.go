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

// hunt is a search under way. It climbs in doubled steps first, which say nothing; then
// come probes of equal length, of which each holds, fails or stays open; last the load
// that held is looked at again.
type hunt struct {
	Search
	subject Subject
	tests   []*test
	found   Found
	began   time.Duration

	good, bad float64 // where the way up ended: the last load that seemed to hold, the first that did not; 0: none
	full      int     // probes of full length so far
	floor     float64 // a load at which requests fail that meet no other: no smaller one is worth a try; 0: none
	beyond    error   // why nothing is known of larger loads: the client was too slow for them
}

const (
	// wayTime is the part of a probe's time that a step on the way takes; a dozen steps
	// reach 2,000 times the first load in half a probe's time.
	wayTime = 1.0 / 20
	// mostWay is the part that it may take where requests last longer than that.
	mostWay = 1.0 / 4
	// apart is how far two loads are apart of which one was not tried yet: half of a doubling.
	apart = math.Sqrt2
	// beside is how near to a load that stayed open no other one is tried: it would stay
	// open too, as so little load changes what is seen by less than its error.
	beside = 1.1
	// tries is how often a load is tried at which the client was late, or the server still
	// busy with something else: a bad moment says nothing of a load.
	tries = 3
)

func (h *hunt) run(ctx context.Context) error {
	if err := h.climb(ctx); err != nil || h.found.Why != "" {
		return err
	}
	for {
		load, why := h.next()
		if why == "" && (h.full >= planned-again || !h.time(1+again)) {
			why = h.spent()
		}
		if why == "" {
			if err := h.firmly(ctx, load, false); err != nil {
				return err
			}
			continue
		}
		holds := h.largest()
		if holds == 0 || len(h.at(holds)) > again || !h.time(1) || h.full >= planned {
			h.found.Why = why
			return nil
		}
		if err := h.firmly(ctx, holds, true); err != nil {
			return err
		}
	}
}

// done begins why a search ended that has nothing more to do.
const done = "done"

// overrun is the part of a probe's time by which the last one may end late.
const overrun = 0.2

// time reports whether there is time for so many more probes.
func (h *hunt) time(probes int) bool {
	return h.MaxTime == 0 || h.left() >= time.Duration((float64(probes)-overrun)*float64(h.ProbeTime))
}

func (h *hunt) spent() string {
	if h.full >= planned-again {
		return fmt.Sprintf("%d probes did not narrow it further", h.full)
	}
	return fmt.Sprintf("the time was up (%v)", h.MaxTime)
}

// left is the time that is left; a long one without a bound.
func (h *hunt) left() time.Duration {
	if h.MaxTime == 0 {
		return math.MaxInt64
	}
	return h.MaxTime - (h.Now() - h.began)
}

// climb finds the neighbourhood: doubled loads in short steps, and halved ones where the
// first is too much. What they show is no evidence.
func (h *hunt) climb(ctx context.Context) error {
	for load := h.From; ; {
		p, err := h.probe(ctx, load, aim{})
		switch {
		case errors.Is(err, ErrLate) && h.good > 0:
			h.Most, h.beyond = h.good, err
			return nil
		case err != nil:
			return err
		case p.look.untold != "" && p.look.n >= fewest && p.answered():
			h.found.Why = p.Note
			return nil
		case p.decided == holds || p.decided == unclear && p.look.untold == "":
			if h.good = load; h.bad > 0 || load >= h.Most {
				return nil
			}
			load = math.Min(2*load, h.Most)
		default:
			if p.answered() && p.look.alone() {
				h.floor = load
			}
			if h.bad = load; h.good > 0 || load <= h.least() {
				return nil
			}
			down := 2.0
			if p.look.n >= fewest && !(p.Share > 0.2) {
				down = 4 // nearly all are beyond the limit
			}
			load = h.whole(math.Max(load/down, h.least()))
		}
		if !h.time(2) {
			h.found.Why = fmt.Sprintf("the time was up (%v)", h.MaxTime)
			return nil
		}
	}
}

// answered reports whether every request of a probe was.
func (p *Probe) answered() bool { return p.look.n > 0 && p.look.answered }

// least is the smallest load that makes sense.
func (h *hunt) least() float64 {
	if h.Variable == Concurrency {
		return 1
	}
	return math.Max(h.From/1024, h.floor)
}

// whole makes a load a possible one.
func (h *hunt) whole(load float64) float64 {
	switch {
	case h.Variable == Concurrency:
		return math.Max(1, math.Round(load))
	case load <= h.least() || load >= h.Most:
		return load
	}
	digits := math.Pow(10, 3-math.Floor(math.Log10(load)))
	return math.Round(load*digits) / digits
}

// next is the load to try, or why there is none. First an end that is missing, then the
// wider of the gaps between what holds, what stayed open and what fails is halved.
func (h *hunt) next() (load float64, why string) {
	lo, hi := h.largest(), h.smallest()
	open := h.open(lo, hi)
	first := func(loads ...float64) float64 { // the smallest of those that there are
		least := math.Inf(1)
		for _, x := range loads {
			if x > 0 {
				least = math.Min(least, x)
			}
		}
		return least
	}
	lowest := hi
	if len(open) > 0 {
		lowest = first(open[0], hi)
	}
	switch {
	case h.full == 0 && h.good > 0:
		return h.good, ""
	case h.full == 0:
		return h.bad, ""
	case lo == 0 && lowest <= h.least()*(1+narrowest):
		return 0, done
	case lo == 0 && h.good > 0 && h.good < lowest/apart && !h.tried(h.good):
		return h.good, ""
	case lo == 0:
		load = math.Max(h.whole(lowest/apart), h.least())
		if h.tried(load) {
			load = math.Max(load-1, 1) // of streams
		}
		if h.tried(load) {
			return 0, done
		}
		return load, ""
	case lo >= h.Most:
		return 0, done
	case hi == 0:
		top := lo
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		factor := apart
		if lo >= h.bad {
			factor = 2 // the way up ended too early, as it does where requests last longer than its steps
		}
		load = math.Min(h.whole(top*factor), h.Most)
		if h.bad > top && !h.tried(h.bad) {
			load = h.bad
		}
		if load <= top {
			load = math.Min(top+1, h.Most)
		}
		if h.tried(load) {
			return 0, fmt.Sprintf("%s stayed open, the largest load that was to be tried", h.words(load))
		}
		return load, ""
	case hi/lo <= (1+h.Width)*(1+1e-9), h.Variable == Concurrency && hi-lo <= 1:
		return 0, done
	}
	return h.halved(lo, hi, open)
}

// halved is the middle of the wider gap.
func (h *hunt) halved(lo, hi float64, open []float64) (load float64, why string) {
	from, to, narrow := lo, hi, 1+h.Width
	if n := len(open); n > 0 {
		narrow = math.Max(narrow, beside)
		if to = open[0]; hi/open[n-1] > to/from {
			from, to = open[n-1], hi
		}
	}
	load = h.whole(math.Sqrt(from * to))
	if to/from <= narrow || h.tried(load) {
		return 0, fmt.Sprintf("what lies between can't be told in probes of %v", h.ProbeTime)
	}
	return load, ""
}

// at are the probes of full length at a load.
func (h *hunt) at(load float64) (probes []*Probe) {
	for i := range h.found.Probes {
		if p := &h.found.Probes[i]; p.full() && p.Load == load {
			probes = append(probes, p)
		}
	}
	return probes
}

// says is what all probes of full length at a load say together. It fails where one of
// them did and none held; it holds where one did, none failed, each is within the limit,
// and all of them in a row hold; else it is open.
func (h *hunt) says(load float64) decision {
	all := h.at(load)
	if len(all) == 1 {
		return all[0].decided
	}
	failed, held := slices.ContainsFunc(all, (*Probe).fails), slices.ContainsFunc(all, (*Probe).holds)
	switch {
	case failed && !held:
		return fails
	case failed || !held || slices.ContainsFunc(all, func(p *Probe) bool { return p.look.over }):
		return unclear
	}
	return h.together(all)
}

// together judges the requests of several probes of a load as one series.
func (h *hunt) together(probes []*Probe) decision {
	l := look{}
	for i, p := range probes {
		for j, s := range p.look.series {
			if i == 0 {
				l.series = append(l.series, s)
			} else {
				l.series[j] = l.series[j].and(s)
			}
		}
	}
	l.pile = probes[0].look.pile
	for _, p := range probes[1:] {
		l.pile = l.pile.and(p.look.pile)
	}
	if l.weigh(h.wrong()); h.Variable == Rate {
		l.keepsUp(h.wrong(), 0)
	}
	if l.decision != holds {
		return unclear // taken together nothing fails that did not fail alone
	}
	return holds
}

// full reports whether a probe was one of full length that counts.
func (p *Probe) full() bool { return p.firm && !p.spoilt }

func (p *Probe) holds() bool { return p.decided == holds }
func (p *Probe) fails() bool { return p.decided == fails }

// tooMuch reports whether a probe failed, or stayed open with more than is allowed.
func (p *Probe) tooMuch() bool { return p.fails() || p.decided == unclear && p.look.over }

// loads are those that were tried in full, in order.
func (h *hunt) loads() (loads []float64) {
	for i := range h.found.Probes {
		if p := &h.found.Probes[i]; p.full() {
			loads = append(loads, p.Load)
		}
	}
	slices.Sort(loads)
	return slices.Compact(loads)
}

func (h *hunt) tried(load float64) bool { return slices.Contains(h.loads(), load) }

// largest is the largest load that holds: all probes at it do, none failed at a smaller
// one, and none saw more than allowed there. 0: there is none.
func (h *hunt) largest() (load float64) {
	for _, x := range h.loads() {
		if slices.ContainsFunc(h.at(x), (*Probe).tooMuch) {
			return load
		}
		if h.says(x) == holds {
			load = x
		}
	}
	return load
}

// smallest is the smallest load that fails of those above every load at which a probe
// held; 0: there is none.
func (h *hunt) smallest() (load float64) {
	loads := h.loads()
	for _, x := range slices.Backward(loads) {
		switch h.says(x) {
		case fails:
			load = x
		case holds:
			return load
		}
		if slices.ContainsFunc(h.at(x), (*Probe).holds) {
			return load
		}
	}
	return load
}

// open are the loads between that were tried and say neither.
func (h *hunt) open(lo, hi float64) (loads []float64) {
	for _, x := range h.loads() {
		if x > lo && (hi == 0 || x < hi) {
			loads = append(loads, x)
		}
	}
	return loads
}

func (h *hunt) words(load float64) string {
	if h.Variable == Concurrency {
		return fmt.Sprintf("%.0f streams", load)
	}
	return metric.Significant(load, 3) + " requests/s"
}
