package metric

import (
	"math"
	"testing"

	"tokenmeter/record/timeline"
)

// Two streams, or a request each 100 ms, are answered within 50 ms for a second; the
// last ones are as the case has them. What no load waited for is no silence.
func TestSilence(t *testing.T) {
	const end = timeline.CancelledRunEnd
	for name, c := range map[string]struct {
		opts    CollectorOpts
		last    []made
		seconds float64
		share   float64
	}{
		"all hang":                      {CollectorOpts{Concurrency: 2}, []made{{due: 1000, outcome: end, close: 1000}, {due: 1000, outcome: end, close: 1000}}, 1, 0.5},
		"all hang, and time out":        {CollectorOpts{Concurrency: 2}, []made{{due: 1000, outcome: timeline.TimeoutIdle, close: 3000}, {due: 1000, outcome: timeline.TimeoutIdle, close: 3000}}, 3, 0.75},
		"all stall behind a token":      {CollectorOpts{Concurrency: 2}, []made{{due: 980, ttft: 20, events: 1, outcome: end, close: 1020}, {due: 980, ttft: 20, events: 1, outcome: end, close: 1020}}, 1, 0.5},
		"nobody knows how many streams": {CollectorOpts{}, []made{{due: 1000, outcome: end, close: 1000}, {due: 1000, outcome: end, close: 1000}}, 1, 0.5},
		"one hangs on in the grace":     {CollectorOpts{Concurrency: 2}, []made{{due: 900, outcome: end, close: 30_000}, {due: 950, ttft: 50, events: 1}}, 0, 0},
		"one of them, for long":         {CollectorOpts{Concurrency: 2}, []made{{due: 100, outcome: end, close: 1000}}, 0, 0},
		"the end cuts them off":         {CollectorOpts{Concurrency: 2}, []made{{due: 980, ttft: 20, events: 1, outcome: end, close: 25}, {due: 980, ttft: 20, events: 1, outcome: end, close: 25}}, 0, 0},
		"as long as one was answered":   {CollectorOpts{Concurrency: 2}, []made{{due: 0, ttft: 990, events: 1}, {due: 1000, outcome: end, close: 900}, {due: 1000, outcome: end, close: 900}}, 0, 0},
		"longer than any":               {CollectorOpts{Concurrency: 2}, []made{{due: 0, ttft: 890, events: 1}, {due: 1000, outcome: end, close: 900}, {due: 1000, outcome: end, close: 900}}, 0.9, 0.9 / 1.9},
		"bodies that end late":          {CollectorOpts{Concurrency: 2}, []made{{due: 980, ttft: 20, events: 1, close: 60_000}, {due: 980, ttft: 20, events: 1, close: 60_000}}, 0, 0},
		"an open loop goes on":          {CollectorOpts{OpenLoop: true}, []made{{due: 1100, outcome: end, close: 9000}, {due: 1500, outcome: end, close: 9000}, {due: 2000, outcome: end, close: 9000}}, 0.9, 0.45},
		"and is capped":                 {CollectorOpts{OpenLoop: true, Concurrency: 1}, []made{{due: 1100, outcome: end, close: 9000}, {due: 2000, outcome: end, close: 9000, set: func(tl *timeline.Timeline) { tl.Attempts = 0 }}}, 0.9, 0.45},
		"its last one hangs":            {CollectorOpts{OpenLoop: true}, []made{{due: 1100, outcome: end, close: 30_000}}, 0, 0},
		"its only one of a rare few":    {CollectorOpts{OpenLoop: true}, []made{{due: 9000, outcome: end, close: 30_000}}, 0, 0},
	} {
		col := NewCollector(c.opts)
		for i := range 10 {
			col.Add(made{request: int64(2 * i), due: float64(i) * 100, ttft: 50, events: 1}.timeline())
			if !c.opts.OpenLoop {
				col.Add(made{request: int64(2*i + 1), due: float64(i) * 100, ttft: 50, events: 1}.timeline())
			}
		}
		col.Add(made{request: 90, due: 950, ttft: 50, events: 1}.timeline()) // the last token comes after 1 s
		for i, m := range c.last {
			m.request = int64(100 + i)
			col.Add(m.timeline())
		}
		f := col.Facts()
		if math.Abs(f.SilentS-c.seconds) > 1e-6 || math.Abs(f.SilentShare.Or(0)-c.share) > 1e-6 {
			t.Errorf("%s: %v s, %v of the time under load, want %v s, %v", name, f.SilentS, f.SilentShare.Or(0), c.seconds, c.share)
		}
	}
}

// A run without a token has no time to be silent after.
func TestNothingButSilence(t *testing.T) {
	c := NewCollector(CollectorOpts{Concurrency: 1})
	c.Add(made{outcome: timeline.CancelledRunEnd, close: 5000}.timeline())
	if f := c.Facts(); f.SilentS != 0 || f.SilentShare.OK() {
		t.Errorf("%v s", f.SilentS)
	}
}
