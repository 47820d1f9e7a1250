package sweep

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
)

// test holds one objective against the requests of a probe, in the order in which they
// were due.
type test struct {
	o       *objective.Objective
	all     []objective.Objective // for goodput: good is what meets all of them
	allowed float64               // share that may be bad; 0: the objective is on a mean

	at    []int     // place of each value among the probe's requests
	value []float64 // 1 good, 0 bad, or between for gaps; of a mean its distance to the limit, bad above 0
	near  []float64 // how near the limit: 1 at it, more beyond it, +Inf a failure
	gaps  []float64 // of an objective on gaps: how many each request brings; 0: it failed
}

// entry is a request whose fate is known.
type entry struct {
	rec        *metric.Record
	due        float64 // seconds since the probe began
	waited     float64 // seconds until it ended or was cut off
	unfinished bool    // cut off by the end of the probe
}

// newTests makes one test an objective that single requests decide. The others are
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
			t.allowed = 1 - share
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
	gaps := 0.0
	if !math.IsInf(near, 0) {
		gaps = float64(t.o.Gaps(e.rec))
	}
	t.at, t.value, t.near, t.gaps = append(t.at, at), append(t.value, v), append(t.near, near), append(t.gaps, gaps)
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
	if t.allowed == 0 {
		value = math.Inf(1)
	}
	return value, math.Inf(1), true
}
