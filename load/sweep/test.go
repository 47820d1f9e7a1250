package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/record/objective"
)

// test weighs one objective over the requests of a probe, in the order in
// which they were due.
type test struct {
	o      *objective.Objective
	all    []objective.Objective // for goodput: good is what meets all of them
	target float64               // share that must be good; 0: the objective is on a mean

	value []float64 // 1 good, 0 bad; of a mean its distance to the limit, bad above 0
	at    []int     // place of each value among the probe's requests
	floor float64   // the autocorrelation time is no less, as other probes tell
	// wander is the autocorrelation time of what waits at this load, whatever this probe
	// shows of it; 0: not known, or not felt.
	wander float64
	// What probes at a little more load, and at a little less, have shown: what
	// holds under more load holds here, and what fails under less fails here.
	above, below pool
	near         []float64 // how near the limit: what a share hides of the correlation
	gaps         []float64 // of an objective on gaps: how many each request brings; 0: it failed
}

// tests makes one test an objective that single requests decide. The others are
// on a figure of the whole run and are only reported.
func newTests(objectives []objective.Objective) ([]*test, error) {
	var all []*test
	var errs []error
	criteria := false
	for i := range objectives {
		o := &objectives[i]
		t := &test{o: o, all: objectives}
		switch share, ok := o.Target(); {
		case o.Criterion:
			criteria = true
			continue
		case !o.OfRequests():
			continue
		case ok && share > 0 && share < 1:
			t.target = share
		case o.Stat == "mean":
		default:
			errs = append(errs, fmt.Errorf("%q allows no exception, which no number of requests can show: ask for a share, like \"p99 %s\" or \"goodput > 99%%\"",
				o.Text, strings.TrimPrefix(o.Text, o.Stat+" ")))
			continue
		}
		all = append(all, t)
	}
	if len(all) == 0 && len(errs) == 0 {
		if criteria {
			errs = append(errs, errors.New("the limits say which requests are good, but not how many must be: add \"goodput > 95%\""))
		} else {
			errs = append(errs, errors.New("a search needs an objective that requests can miss as the load grows, like \"p95 ttft < 500ms\""))
		}
	}
	return all, errors.Join(errs...)
}

// add takes the next request in the order of due times.
func (t *test) add(at int, e *entry, of *trial) {
	v, near, ok := t.o.Weigh(t.all, e.rec)
	if e.unfinished {
		v, near, ok = t.cut(e, of)
	}
	if !ok {
		return
	}
	t.value = append(t.value, v)
	t.at = append(t.at, at)
	t.near = append(t.near, math.Min(near, farthest))
	gaps := 0.0
	if !math.IsInf(near, 0) {
		gaps = float64(t.o.Gaps(e.rec))
	}
	t.gaps = append(t.gaps, gaps)
}

// cut weighs a request that the end of the probe cut off. A stream that had no token yet
// is bad: the server did not get round to it. Of the others what they show already
// counts, and one that shows nothing is bad if it took longer than the slowest that
// ended; else it had no fair chance and says nothing.
func (t *test) cut(e *entry, of *trial) (value, near float64, ok bool) {
	if whole := !of.streams && of.slowest > 0; whole || e.rec.TTFTMS.OK() {
		value, near, ok = t.o.WeighCut(t.all, e.rec, 1e3*e.waited, whole)
		if ok || e.waited < of.slowest {
			return value, near, ok
		}
	}
	if t.target == 0 {
		value = math.Inf(1)
	}
	return value, math.Inf(1), true
}

// farthest bounds the distance to a limit, so that a single failure does not
// drown the correlation of all others.
const farthest = 4

// halfway to the limit, in a measure where the limit is 1.
const halfway = 0.5

// pool is what a test saw.
type pool struct {
	n, sum float64 // independent requests: how many, and the sum of their values
	// Requests one by one: the sum of their values, and how near each came.
	one  float64
	near []float64 // only where a distance can decide
	// moments is n, but no more than one in the time of a request.
	moments float64
}

func (p pool) and(o pool) pool {
	return pool{p.n + o.n, p.sum + o.sum, p.one + o.one, slices.Concat(p.near, o.near), p.moments + o.moments}
}

// plenty is how many independent requests show a tail that is a quarter lighter
// or heavier than allowed.
func (t *test) plenty() float64 {
	if t.target == 0 {
		return 5000
	}
	return 250 / math.Min(t.target, 1-t.target)
}
