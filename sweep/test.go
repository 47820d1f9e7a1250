package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/objective"
	"tokenmeter/stat"
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

// weight is what a test has seen from a place on.
type weight struct {
	n, effective float64
	mean         float64 // share of good ones, or the mean distance to the limit
	time         float64 // autocorrelation time, in requests
	known        float64 // the part of the effective ones that counts for a load to hold
	holds, fails float64 // logarithms of evidence
	far          bool    // every request was good, and came no nearer than halfway to the limit
	// score is 0 at the limit and positive where the objective holds; slack is
	// the information that it rests on.
	score, slack float64
	own          pool
}

// weigh judges the values from the request at the given place on.
func (t *test) weigh(from int) (w weight) {
	first := len(t.at)
	for i, at := range t.at {
		if at >= from {
			first = i
			break
		}
	}
	v := t.value[first:]
	if len(v) == 0 {
		return weight{time: 1}
	}
	w.n = float64(len(v))
	for _, x := range v {
		w.mean += x
	}
	w.mean /= w.n // of ones alone it is 1, not a little beside it
	w.far = slices.Max(t.near[first:]) <= halfway
	w.time = t.correlation(v, t.near[first:])
	w.effective = w.n / w.time
	w.known = t.known(w)
	if t.target > 0 {
		t.share(&w, t.near[first:])
	} else {
		t.distance(&w, v)
	}
	return w
}

func (t *test) share(w *weight, near []float64) {
	w.own = pool{n: w.effective, sum: w.mean * w.effective, one: w.mean * w.n}
	if t.o.OfPace() {
		w.own.near = near
	}
	w.holds, _ = stat.ShareEvidence((w.own.sum+t.above.sum)*w.known, (w.own.n+t.above.n)*w.known, t.target)
	_, w.fails = stat.ShareEvidence(w.own.sum+t.below.sum, w.own.n+t.below.n, t.target)
	p := (w.mean*w.effective + 0.5) / (w.effective + 1)
	w.score = math.Log(p/(1-p)) - math.Log(t.target/(1-t.target))
	w.slack = w.effective * p * (1 - p)
}

// known is the part of the independent requests that counts for a load to hold. A probe
// that lasts many times as long as what waits wanders has seen how it does.
func (t *test) known(w weight) float64 {
	if t.wander <= w.time || w.n >= lasting*t.wander {
		return 1
	}
	return w.time / t.wander
}

// lasting is how many times the correlation of what waits a probe lasts that is believed
// what it shows of it.
const lasting = 50

// shareOf is the share of good requests; NaN for a mean, which has none.
func (t *test) shareOf(w weight) float64 {
	if t.target == 0 {
		return math.NaN()
	}
	return w.mean
}

// distance judges a mean: an infinite one has failed requests in it.
func (t *test) distance(w *weight, v []float64) {
	if math.IsInf(w.mean, 0) || math.IsNaN(w.mean) {
		w.fails, w.score, w.slack = math.Inf(1), -10, 1
		return
	}
	squares := 0.0
	for _, x := range v {
		squares += (x - w.mean) * (x - w.mean)
	}
	sd := math.Sqrt(squares/math.Max(w.n-1, 1)) + 1e-9
	w.own = pool{n: w.effective, sum: w.mean / sd * w.effective} // in units of sd
	if h := w.own.and(t.above); h.sum < 0 {
		// However far from the limit, a request speaks for no more than one standard
		// deviation: a queue that has just begun to grow is far from any limit on waiting,
		// and the spread of a few independent requests is hardly known.
		w.holds = normalEvidence(math.Max(h.sum, -h.n)*w.known, h.n*w.known)
	}
	if f := w.own.and(t.below); f.sum > 0 {
		w.fails = normalEvidence(f.sum, f.n)
	}
	w.score, w.slack = -w.mean/sd, w.effective
}

// normalEvidence is Robbins' mixture: ln of the e-value of a sum of n values of
// variance 1 against a mean of 0, from one side.
func normalEvidence(sum, n float64) float64 {
	const kappa = 100 // tightest about where a mean of a tenth of sd shows
	return sum*sum/(2*(n+kappa)) - 0.5*math.Log((n+kappa)/kappa)
}

// plenty is how many independent requests show a tail that is a quarter lighter
// or heavier than allowed.
func (t *test) plenty() float64 {
	if t.target == 0 {
		return 5000
	}
	return 250 / math.Min(t.target, 1-t.target)
}
