package bench

import (
	"errors"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// errPrecise ends a run that is precise enough; it is no failure.
var errPrecise = errors.New("precise enough")

const (
	precisionEvery = time.Second
	// precisionLeast is how many requests a run has at least: early intervals
	// are narrow by luck too often.
	precisionLeast = 30
)

// untilPrecise stops the phase once the medians of TTFT and TPOT, where there
// are any, are known to within ±P at 95 % confidence.
func (r *runner) untilPrecise(ph *phase) (stop func()) {
	p := r.plan.UntilPrecision
	if p <= 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(precisionEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if r.rec.precise(p) {
					ph.stop(errPrecise)
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// precise reports whether every median is known within ±p.
func (r *recorder) precise(p float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts[timeline.Measure].ok < precisionLeast {
		return false
	}
	known := false
	for _, s := range []*stat.Sketch{&r.ttft, &r.tpot, &r.e2e} {
		if s.Len() == 0 {
			continue
		}
		rel, ok := stat.Precision(s, 0.5, 0.95)
		if !ok || rel > p {
			return false
		}
		known = true
	}
	return known
}
