package sweep

import (
	"math"
	"slices"
	"sort"

	"tokenmeter/record/objective"
)

// A queue that grows shows itself in what requests wait. The pace of answers and the
// share of errors may be as good as ever meanwhile: a server that answers so many
// at once answers those well, whatever waits behind them. Where only such figures are
// judged, a load that comes by itself holds when the server is shown to keep up, too.
const (
	queueShows  = 10 // request times after which a queue that grows is seen
	queueBegins = 3  // and after which a step on the way goes on
	errorsWide  = 2  // standard errors from the growth that was seen to the one that may be

	// queueWanders is how many requests, times the square of the share of the load that
	// piles up, it takes until a queue has grown by more than two of its own errors.
	queueWanders = 2
)

// keepsUp reports whether enough was seen to tell that requests don't pile up. A
// step on the way asks only whether more have ended than are in flight, and nothing
// where an objective feels what waits.
func (t *trial) keepsUp(from int, a aim) bool {
	feels := !feelNoQueue(t.tests)
	switch way := !a.firm && !a.repeat; {
	case !t.open, feels && (way || t.below || t.felt(from)):
		return true
	case way:
		f, ended := &t.flights, len(t.flights.n)
		return t.moments(from) >= queueBegins && ended > 0 && f.n[ended-1] <= float64(ended)
	}
	return t.served(from, a)
}

// served reports whether the server was seen to do all that it was offered.
func (t *trial) served(from int, a aim) bool {
	if t.moments(from) < queueShows || t.above {
		return false
	}
	span := t.due[len(t.due)-1] - t.due[from]
	if n := float64(len(t.due) - from); n*a.grow*a.grow < queueWanders {
		return false // the queue of a load that is so much above the limit still wanders more than it grows
	}
	if t.idle > 0 {
		// A queue that grows by a share of the load makes requests wait for that share of
		// the time. Twice what an idle server takes is the batch's part.
		late, ok := median(t.ttft[(from+len(t.ttft))/2:])
		return ok && late <= 2*t.idle+a.grow*span/2
	}
	return t.flights.most() <= a.grow*float64(len(t.due)-from)/span
}

// felt reports whether the probe was long enough for an objective on waiting to feel a queue
// that grows. At a load that is a little above what the server can do requests wait ever
// longer, by that share of the time: until it reaches the limit, all is as good as ever,
// and any number of requests says nothing.
func (t *trial) felt(from int) bool {
	span := t.due[len(t.due)-1] - t.due[from]
	first, _ := median(t.ttft)
	whole, _ := median(t.e2e)
	for _, test := range t.tests {
		slackS, ok := test.slack(first, whole)
		if !ok {
			continue
		}
		target := test.target
		if target == 0 {
			target = 0.5 // the mean feels it as the median does
		}
		if 2*t.grow*span*target >= slackS {
			return true
		}
	}
	return false
}

// slack is how many seconds longer a usual request may wait, under the limit that is the
// first to feel it; false: none does. It has its first token after so many seconds, and all.
func (t *test) slack(first, whole float64) (seconds float64, ok bool) {
	limits := []objective.Objective{*t.o}
	if t.o.Metric == "goodput" {
		limits = t.all
	}
	seconds = math.Inf(1)
	for i := range limits {
		switch o := &limits[i]; {
		case o.Metric == "goodput" || !o.OfRequests() || !o.FeelsWaiting(nil):
		case slices.Contains([]string{"e2e", "close", "service_e2e"}, o.Metric):
			seconds, ok = math.Min(seconds, o.Limit/1e3-whole), true
		case slices.Contains([]string{"e2e_tps", "norm_e2e_tps"}, o.Metric):
			seconds, ok = math.Min(seconds, whole), true // half the speed
		default:
			seconds, ok = math.Min(seconds, o.Limit/1e3-first), true
		}
	}
	return seconds, ok
}

// mayGrow is how much of a load may pile up that is said to hold: half of what the ends
// of a bracket of this width are beside the edge.
func mayGrow(width float64) float64 { return (math.Sqrt(width) - 1) / 2 }

// feelNoQueue reports whether no objective is on a time that a queue makes longer.
func feelNoQueue(tests []*test) bool {
	return !slices.ContainsFunc(tests, func(t *test) bool { return t.o.FeelsWaiting(t.all) })
}

// blind reports whether a queue may grow unseen by the objectives.
func (h *hunt) blind() bool { return h.Variable == Rate && feelNoQueue(h.tests) }

// moments is how many requests follow one another in the time of the probe.
func (t *trial) moments(from int) float64 {
	e2e, ok := median(t.e2e)
	if !ok || !(e2e > 0) {
		return 0
	}
	return (t.due[len(t.due)-1] - t.due[from]) / e2e
}

// most is how many requests a second may pile up as far as was seen; +Inf where that
// can't be told.
func (f *flights) most() float64 {
	steps, took := f.steps()
	if steps == nil {
		return math.Inf(1)
	}
	mean, se := meanStep(steps)
	return (mean + errorsWide*se) / took
}

// idle is the time to the first token where requests hardly meet, in seconds: the
// least median of all loads that were tried. 0: answers come whole.
func (h *hunt) idle() float64 {
	least := 0.0
	for i := range h.found.Probes {
		if p := &h.found.Probes[i]; !p.spoilt && p.ttft > 0 && (least == 0 || p.ttft < least) {
			least = p.ttft
		}
	}
	return least
}

// overloaded reports whether the server did less than it was offered.
func (p *Probe) overloaded() bool {
	few := 3 / math.Sqrt(float64(p.didOf)) // three standard errors, where arrivals come at random
	return !p.spoilt && (p.Grows || p.decided == fails && p.didOf > 0 && p.didPerS < p.Load*(1-few))
}

// ceiling is what the server did when it fell behind, in requests a second, where most
// was seen of that: it can't do more for long. 0: not known, or streams are looked for.
func (h *hunt) ceiling() float64 {
	perS, _ := h.ceilingOf()
	return perS
}

// ceilingOf says of how many requests that was seen, too.
func (h *hunt) ceilingOf() (perS float64, of int) {
	if h.Variable != Rate {
		return 0, 0
	}
	for i := range h.found.Probes {
		if p := &h.found.Probes[i]; p.overloaded() && p.didOf > max(of, 4*parts) {
			perS, of = p.didPerS, p.didOf
		}
	}
	return perS, of
}

// did is how many requests a second ended, of so many, once the first quarter had: what
// the server does before its first answers are ready is not in it, and of requests that
// end together the first ones only begin the time.
func (f *flights) did() (perS float64, of int) {
	k := len(f.at)
	if k < 4*parts {
		return 0, 0
	}
	from, to := f.at[k/4], f.at[k-1]
	of = k - sort.Search(k, func(i int) bool { return f.at[i] > from })
	if !(to > from) {
		return 0, 0
	}
	return float64(of) / (to - from), of
}
