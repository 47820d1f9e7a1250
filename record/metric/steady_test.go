package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// By Little's law as many as rate × E2E are in flight only once a rate has held for as long
// as an answer takes: 12 requests within 0.55 s of answers of 2.3 s never were 20/s.
func TestNeverSteady(t *testing.T) {
	for _, c := range []struct {
		n              int
		everyMS, e2eMS float64
		closed, ramp   bool
		want           bool
	}{
		{n: 12, everyMS: 50, e2eMS: 2300, want: true},
		{n: 120, everyMS: 50, e2eMS: 2300},
		{n: 12, everyMS: 500, e2eMS: 2300},
		{n: 1, everyMS: 50, e2eMS: 2300},
		{n: 12, everyMS: 50, e2eMS: 2300, closed: true},
		{n: 12, everyMS: 50, e2eMS: 2300, ramp: true}, // the load was there before
		{n: 12, everyMS: 0, e2eMS: 2300},              // all at once is what was asked for
	} {
		col := NewCollector(CollectorOpts{OpenLoop: !c.closed})
		for i := range c.n {
			due := float64(i) * c.everyMS
			if c.ramp {
				col.Add(made{request: int64(100 + i), due: due, ttft: c.e2eMS, events: 1, set: func(tl *timeline.Timeline) { tl.Phase = timeline.Warmup }}.timeline())
			}
			col.Add(made{request: int64(i), due: due, start: due, ttft: c.e2eMS, events: 1}.timeline())
		}
		if s := col.Summary(); warned(s, "never_steady") != c.want {
			t.Errorf("%+v: %v", c, s.Warnings)
		}
	}
}
