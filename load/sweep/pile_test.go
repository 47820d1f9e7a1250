package sweep

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/laws"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// The chance that a random walk seems to grow is what theory and its simulation say.
func TestWalks(t *testing.T) {
	// |X| > √2·|Y| is an angle of the plane.
	if got, want := walks(0), 2/math.Pi*math.Atan(1/math.Sqrt2); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
	const runs, steps = 1500, 800
	for _, z := range []float64{0.5, 1, 1.5} {
		far := 0
		for seed := range uint64(runs) {
			src := random.New(seed, 9)
			walk := make([]float64, steps)
			for i := 1; i < steps; i++ {
				walk[i] = walk[i-1] + src.Normal()
			}
			if slices.Min(walk[steps/2:])-slices.Min(walk[steps/4:steps/2]) > z*math.Sqrt(steps/4) {
				far++
			}
		}
		// Five standard errors, and what steps of a walk lack to a continuous one.
		want := walks(z)
		if got := float64(far) / runs; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/runs)+0.02 {
			t.Errorf("z = %v: %v of the walks, want %v", z, got, want)
		}
	}
}

// A load far beyond what the server can do fails long before the end of its probe.
func TestOverloadFailsEarly(t *testing.T) {
	for _, name := range []string{"mm1", "mm8", "slots", "prefix"} {
		l := laws.ByName(name)
		truth, _ := l.Truth()
		for seed := range uint64(5) {
			h := &hunt{Search: Search{Objectives: objectivetest.Parse(t, l.Objective), ProbeTime: 150 * time.Second}, subject: newLawSubject(l, seed+1)}
			if err := h.settle(); err != nil {
				t.Fatal(err)
			}
			h.tests, _ = newTests(h.Objectives)
			load := 2 * truth.Capacity
			p, err := h.probe(context.Background(), load, aim{firm: true})
			if all := load * h.ProbeTime.Seconds(); err != nil || p.Says != "fails" || float64(p.Requests) > all/2 {
				t.Errorf("%s, twice its capacity: %s after %d of %.0f requests; %v", name, p.Says, p.Requests, all, err)
			}
		}
	}
}

// A server that stops for a while makes no load fail within that while: it may be rare.
func TestStallFailsNothingEarly(t *testing.T) {
	tests, err := newTests(objectivetest.Parse(t, "p95 ttft < 500ms"))
	if err != nil {
		t.Fatal(err)
	}
	const rate, timeS, stops = 50.0, 150.0, 7.0
	tr, looked := newTrial(tests, true, timeS), false
	src := random.New(1, 1)
	for i, at := int64(0), 0.0; at < 20; i++ {
		at += src.Exp() / rate
		end := at + 0.01
		if at > stops {
			end = 30 + 0.01*float64(i) // all that came since then
		}
		tr.take(Seen{Index: i, DueS: at, EndS: end, Record: &metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(1e3 * (end - at))}})
		if tr.dueLook() {
			looked = true
			if !pileOf(tr.inFlight(), 0).grows(0.05 / 18) {
				t.Errorf("after %.0f s requests don't pile up: the test says nothing", at)
			}
			if tr.judge(0.05/18, false).decision == fails {
				t.Errorf("after %.0f s it fails", at)
			}
		}
	}
	if !looked {
		t.Error("nobody looked")
	}
}
