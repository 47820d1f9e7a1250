package bench

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// errPrecise ends a run that is precise enough; it is no failure.
var errPrecise = errors.New("precise enough")

const (
	precisionEvery = time.Second
	// precisionGrowth is how much longer the run has become before it is looked at
	// again: whoever looks all the time stops at the narrowest interval by luck.
	precisionGrowth = 1.25
	// precisionSure is the level of each interval. Three medians are promised at
	// once, at 95 % together (Bonferroni).
	precisionSure = 1 - 0.05/3
)

// medians are the figures that --until-precision watches.
var medians = [...]string{"TTFT", "TPOT", "E2E"}

// precision keeps the measured requests in their order for --until-precision.
// Requests that share a queue are alike, so only their order tells how many
// independent ones they are worth.
type precision struct {
	within float64 // of each median, to either side

	mu     sync.Mutex
	order  metric.Order
	values [len(medians)]metric.Ordered

	seen   int64         // requests at the last look
	passed bool          // the last look found all precise
	after  time.Duration // how long it took until all were
}

func newPrecision(p *Plan) *precision {
	if p.UntilPrecision <= 0 {
		return nil
	}
	return &precision{within: p.UntilPrecision, order: metric.Order{OpenLoop: p.open()}}
}

// add takes a request that has ended.
func (p *precision) add(tl *timeline.Timeline, v *metric.Values) {
	if p == nil || tl.Phase != timeline.Measure || tl.Outcome != timeline.OK {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.order.Add(tl.DueUS, tl.DueUS+tl.CloseUS.Or(0), tl.Request)
	for i, ms := range []timeline.Opt[float64]{v.TTFTMS, v.TPOTMS, v.E2EMS} {
		if x, ok := ms.Get(); ok {
			p.values[i].Add(now, x)
		}
	}
}

// reached reports whether every median is known well enough, twice in a row: the
// second look is at a quarter more requests.
func (p *precision) reached() bool {
	p.mu.Lock()
	order, values, n := p.order.Snapshot(), p.values, int64(0)
	for i := range values {
		values[i] = p.values[i].Snapshot()
		n = max(n, values[i].Len())
	}
	p.mu.Unlock()
	if float64(n) < precisionGrowth*float64(p.seen) || n == 0 {
		return false
	}
	p.seen = n
	order.Prepare()
	before := p.passed
	p.passed, _ = p.judge(&order, &values)
	return p.passed && before
}

// judge says whether all medians are known, or which one is not.
func (p *precision) judge(order *metric.Order, values *[len(medians)]metric.Ordered) (ok bool, why string) {
	for i := range values {
		if values[i].Len() == 0 {
			continue
		}
		iv := order.Series(&values[i]).Quantile(0.5, precisionSure)
		off := math.Max(iv.Hi-iv.Value, iv.Value-iv.Lo) / iv.Value
		factor := iv.NeedFactor
		if iv.Given {
			factor = math.Pow(off/p.within, 2)
		}
		switch {
		case !iv.Given:
			why = fmt.Sprintf("the median of %s has no interval yet: %s, worth %.0f independent ones", medians[i], metric.Plural(int64(iv.N), "request"), iv.Moments)
		case off > p.within || math.IsNaN(off):
			why = fmt.Sprintf("the median of %s is known to within %.3g %%", medians[i], 100*off)
		default:
			ok = true
			continue
		}
		if factor < 1000 {
			why += fmt.Sprintf("; about %.2g times as long a run would do", math.Max(factor, precisionGrowth))
		}
		return false, why
	}
	return ok, why
}

// untilPrecise stops the phase once the medians of TTFT, TPOT and E2E, where there
// are any, are known to within ±P, all of them at 95 % confidence.
func (r *runner) untilPrecise(ph *phase) (stop func()) {
	p := r.rec.precision
	if p == nil {
		return func() {}
	}
	began := time.Now()
	return every(precisionEvery, func() bool {
		if !p.reached() {
			return true
		}
		p.after = time.Since(began)
		ph.stop(errPrecise)
		return false
	})
}

// precise says what the medians are known for, or that the run ended before they were.
func (r *runner) precise(cause error) {
	p := r.rec.precision
	switch {
	case p == nil:
		return
	case errors.Is(cause, errPrecise):
		// Of what comes three times in a while on average, nothing is seen in that while
		// with probability e⁻³ = 5 %.
		r.log.notice("precision_reached", timeline.Some(p.after.Seconds()),
			"The medians were known to within %.3g %% after %v; what happens less often than once in %v is not excluded.",
			100*p.within, p.after.Round(time.Second), (p.after / 3).Round(time.Second/10))
		return
	}
	p.order.Prepare()
	ok, why := p.judge(&p.order, &p.values)
	switch {
	case ok: // one look has found it so; the promise is two
		why = "the last look only found the medians so precise"
	case why == "":
		why = "no request told a time"
	}
	r.log.notice("precision_missed", timeline.Some(p.within),
		"The run ended before its medians were known to within %.3g %%: %s.", 100*p.within, why)
}
