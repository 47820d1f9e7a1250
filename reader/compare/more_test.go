package compare

import (
	"math"
	"testing"
)

// What is proposed is a number that somebody can run, of what the row counts; else nothing.
func TestMoreIsAPlanOrNothing(t *testing.T) {
	request, session := measureNamed("e2e"), measureNamed("session_e2e")
	for _, c := range []struct {
		name     string
		m        *measure
		a, b     float64
		interval [2]float64
		unit     Unit
		runs     bool // repeats are proposed
		requests bool
	}{
		{"a wide interval around a clear difference", request, 100, 120, [2]float64{0.9, 1.6}, ByRequest, false, true},
		{"sessions are no requests", session, 100, 120, [2]float64{0.9, 1.6}, ByRequest, false, false},
		{"nor told in runs", session, 100, 120, [2]float64{0.9, 1.6}, ByRun, false, false},
		{"a difference within the noise of runs", request, 100, 102, [2]float64{0.98, 1.06}, ByRequest, true, false},
		{"a first look at how runs differ", request, 100, 101.5, [2]float64{0.2, 5}, ByRequest, true, false},
		{"an end at 0", request, 100, 120, [2]float64{0, 1.6}, ByRequest, false, false},
		{"no end", request, 100, 120, [2]float64{0.9, math.Inf(1)}, ByRequest, false, false},
		{"no number", request, 100, 120, [2]float64{math.NaN(), math.NaN()}, ByRequest, false, false},
		{"below 0", request, 100, 120, [2]float64{-1, 1.6}, ByRequest, false, false},
		{"no end, by run", request, 100, 120, [2]float64{0, math.Inf(1)}, ByRun, false, false},
		{"no number, by run", request, 100, 120, [2]float64{math.NaN(), math.NaN()}, ByRun, false, false},
	} {
		f := &finding{a: some(c.a), b: some(c.b), na: 1000, nb: 1000, interval: &c.interval, unit: c.unit, runs: [2]int{3, 3}}
		more := f.more(&Options{Within: 0.03, WithinShare: 0.01, RunNoise: 0.03}, c.m, 5)
		var got More
		if more != nil {
			got = *more
		}
		if got.Runs > 0 != c.runs || got.Requests > 0 != c.requests || got.Runs > 1000 || got.Requests > mostMore || got.Runs < 0 || got.Requests < 0 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
