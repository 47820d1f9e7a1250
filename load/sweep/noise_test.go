package sweep

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/engine"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// noisy is a small server on a machine that does something else now and then: all
// first tokens of such a second come later. The client is in order.
type noisy struct{ virtual }

// hiccup is by how much: in a tenth of all seconds up to 0.6 s.
func hiccup(at time.Duration) time.Duration {
	src := random.New(5, uint64(at/time.Second))
	if src.Float64() > 0.1 {
		return 0
	}
	return time.Duration(src.Float64() * float64(600*ms))
}

func (n *noisy) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	began := n.clock
	return n.virtual.Probe(ctx, load, limit, func(s Seen) bool {
		late := hiccup(began + time.Duration(s.DueS*1e9))
		rec := *s.Record
		rec.TTFTMS = timeline.Some(rec.TTFTMS.Or(0) + late.Seconds()*1e3)
		rec.E2EMS = timeline.Some(rec.E2EMS.Or(0) + late.Seconds()*1e3)
		s.Record = &rec
		return take(s)
	})
}

// noisyScenario is p90 TTFT < 1 s; its capacity is computed anew by -truth.
var noisyScenario = scenario{name: "noisy", capacity: 16.93, objectives: []string{"p90 ttft < 1s"}, target: 0.9,
	server: virtual{cfg: small, prompt: [2]int64{100, 160}, output: [2]int64{16, 16}},
	good:   func(r *engine.Request) bool { return r.TTFT()+hiccup(r.Arrival) < time.Second }}

// Within eight minutes a search says nothing wrong and leaves nothing unsaid.
func TestSearchOnNoisyMachine(t *testing.T) {
	if *truths {
		t.Logf("capacity %.5g", noisyScenario.truth())
	}
	o, err := objective.ParseAll(noisyScenario.objectives)
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 12
	right, bracketed := 0, 0
	for seed := range seeds {
		subject := &noisy{noisyScenario.server}
		subject.seed = uint64(seed + 1)
		s := Search{Objectives: o, Width: 0.2, MaxTime: 8 * time.Minute, Probe: Limit{Duration: 80 * time.Second},
			Now: func() time.Duration { return subject.clock }}
		found, err := s.Run(context.Background(), subject)
		if err != nil {
			t.Fatal(err)
		}
		ok := found.Holds <= noisyScenario.capacity && (found.Fails == 0 || noisyScenario.capacity <= found.Fails)
		if ok {
			right++
		}
		if found.Holds > 0 && found.Fails > 0 {
			bracketed++
		}
		t.Logf("%d: [%.4g, %.4g] %v, %d probes, %d requests, %v; %s", seed, found.Holds, found.Fails, ok, len(found.Probes), found.Requests, subject.clock.Round(time.Second), found.Why)
		for _, p := range found.Probes {
			t.Logf("     %.4g %s firm=%v %d share=%.3f %s", p.Load, p.Says, p.Firm, p.Requests, p.Share, p.Note)
			if p.Says == "unclear" && p.Note == "" {
				t.Errorf("search %d: %g stayed unclear and nothing says why", seed, p.Load)
			}
		}
		if subject.clock > 10*time.Minute {
			t.Errorf("search %d took %v", seed, subject.clock)
		}
	}
	if right < seeds-1 || bracketed < seeds-1 {
		t.Errorf("of %d searches %d have a bracket, and %d say nothing wrong", seeds, bracketed, right)
	}
}

// A share of ones alone is 1 whatever their number, and speaks for the load. As a
// sum of n times 1/n it came out a little above for half of all n, and then for nothing.
func TestAllGoodSpeaksForTheLoad(t *testing.T) {
	o, err := objective.ParseAll([]string{"p90 ttft < 1s"})
	if err != nil {
		t.Fatal(err)
	}
	tests, err := newTests(o)
	if err != nil {
		t.Fatal(err)
	}
	src := random.New(1, 1)
	tr := newTrial(tests, true)
	for i := range 700 {
		at := float64(i) / 20
		rec := &metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(50 + 100*src.Float64()), E2EMS: timeline.Some(200.0)}
		tr.take(Seen{Index: int64(i), DueS: at, EndS: at + 0.2, InFlight: 4, Record: rec})
		if i < 120 {
			continue
		}
		if l := tr.judge(aim{pass: 5, fail: 5}, 1); l.share != 1 || l.decision != holds {
			t.Fatalf("%d of %d good: share %.17g, %v", l.n, l.n, l.share, l.decision)
		}
	}
}

// A probe with the server still busy, and one with a client that was late but
// that held, are told from those that say something of the load.
func TestWhatAProbeCannotSay(t *testing.T) {
	for _, c := range []struct {
		probed  Probed
		decided decision
		says    decision
		spoilt  bool
	}{
		{Probed{}, fails, fails, false},
		{Probed{Late: "late", Harsh: true}, holds, holds, false},
		{Probed{Late: "late", Harsh: true}, fails, unclear, true},
		{Probed{Late: "late"}, holds, unclear, true},
		{Probed{Unsettled: "not at rest", Busy: true}, fails, unclear, true},
		{Probed{Unsettled: "not at rest", Busy: true}, holds, holds, false},
		{Probed{Unsettled: "slower at rest"}, fails, fails, false},
	} {
		p := Probe{Probed: c.probed, decided: c.decided}
		p.qualify(look{n: 100, worth: 100, counts: 100})
		if p.decided != c.says || p.spoilt != c.spoilt || p.spoilt && p.Note == "" {
			t.Errorf("%+v, %v: %v, spoilt %v, %q", c.probed, c.decided, p.decided, p.spoilt, p.Note)
		}
	}
}

// busyAfter is a server that is still at work on the last load for the probes
// after one that failed.
type busyAfter struct {
	virtual
	left int
}

func (b *busyAfter) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	busy := b.left > 0
	slow := 0.0
	if busy {
		b.left--
		slow = 5000 // nothing is quick then
	}
	late := false
	p, err := b.virtual.Probe(ctx, load, limit, func(s Seen) bool {
		rec := *s.Record
		rec.TTFTMS = timeline.Some(rec.TTFTMS.Or(0) + slow)
		late = late || rec.TTFTMS.Or(0) > 400
		s.Record = &rec
		return take(s)
	})
	if late && !busy {
		b.left = 2
	}
	if p.Busy = busy; busy {
		p.Unsettled = "the server was not at rest"
	}
	return p, err
}

// What an earlier load left behind makes no load fail.
func TestBusyServerMakesNothingFail(t *testing.T) {
	o, err := objective.ParseAll(scenarios[1].objectives)
	if err != nil {
		t.Fatal(err)
	}
	subject := &busyAfter{virtual: scenarios[1].server}
	subject.seed = 1
	found, err := Search{Objectives: o, Width: 0.4}.Run(context.Background(), subject)
	if err != nil || found.Holds > scenarios[1].capacity || found.Fails < scenarios[1].capacity {
		for _, p := range found.Probes {
			fmt.Printf("     %.4g %s firm=%v %d share=%.3f %s\n", p.Load, p.Says, p.Firm, p.Requests, p.Share, p.Note)
		}
		t.Errorf("%v, [%g, %g] %s", err, found.Holds, found.Fails, found.Why)
	}
	for _, p := range found.Probes {
		if p.Busy && p.Says == "fails" || math.IsNaN(p.Load) {
			t.Errorf("%g failed with a busy server", p.Load)
		}
	}
}
