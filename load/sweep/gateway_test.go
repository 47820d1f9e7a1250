package sweep

import (
	"context"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// gateway answers in ten milliseconds or refuses at once: so many requests a second
// (a bucket of some), every request above a load, or all once a quota is used up.
type gateway struct {
	rate, most float64 // 0: no bound
	burst      float64
	quota      int // requests, refused ones too; 0: no bound
	probes     uint64
	asked      int
	clock      time.Duration
}

func (g *gateway) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	g.probes++
	src := random.New(7, g.probes)
	at, tokens := 0.0, g.burst
	for i := int64(0); limit.Requests == 0 || i < limit.Requests; i++ {
		step := src.Exp() / load
		if at += step; limit.Duration > 0 && at > limit.Duration.Seconds() {
			break
		}
		g.asked++
		tokens = min(tokens+step*g.rate, g.burst)
		rec, end := &metric.Record{Outcome: timeline.HTTP429}, at+0.001
		if (g.rate == 0 || tokens >= 1) && (g.most == 0 || load <= g.most) && (g.quota == 0 || g.asked <= g.quota) {
			rec, end = &metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(10.0), E2EMS: timeline.Some(10.0)}, at+0.01
			tokens--
		}
		if !take(Seen{Index: i, DueS: at, EndS: end, Record: rec}) {
			break
		}
	}
	g.clock += time.Duration(at * 1e9)
	return Probed{}, nil
}

// What is refused leaves no time behind, and is no sign that requests hardly meet:
// the limit is found from below and from far above.
func TestLimitOfAGateway(t *testing.T) {
	for _, c := range []struct {
		name     string
		subject  gateway
		from     float64
		low, top float64 // the truth is between
	}{
		// 9 of 10 are answered at 10 / 0.9 = 11.1/s, or a little less, as the bucket runs over now and then.
		{"from below", gateway{rate: 10, burst: 10}, 1, 10.5, 11.2},
		// A small bucket runs over more often.
		{"from above", gateway{rate: 10, burst: 3}, 20, 8, 11.2},
		{"all refused", gateway{most: 40}, 100, 40, 40},
		{"all refused, from far above", gateway{most: 40}, 5000, 40, 40},
	} {
		found, err := Search{Objectives: objectivetest.Parse(t, "p90 ttft < 500ms"), From: c.from, Width: 0.2,
			MaxTime: 30 * time.Minute, Now: func() time.Duration { return c.subject.clock }}.Run(context.Background(), &c.subject)
		if err != nil || found.Holds == 0 || found.Holds > c.top || found.Fails < c.low || found.Fails > 1.5*found.Holds {
			t.Errorf("%s: %v, [%g, %g], %d probes, settled %v %s", c.name, err, found.Holds, found.Fails, len(found.Probes), found.Settled, found.Why)
			for _, p := range found.Probes {
				t.Logf("   %.4g %s firm=%v n=%d share=%.3f", p.Load, p.Says, p.Firm, p.Requests, p.Share)
			}
		}
	}
}

// Once a quota is used up nothing holds any more. No load is tried over and over.
func TestQuotaUsedUp(t *testing.T) {
	subject := &gateway{quota: 150}
	found, err := Search{Objectives: objectivetest.Parse(t, "p90 ttft < 500ms")}.Run(context.Background(), subject)
	tried := map[float64]int{}
	most := 0
	for _, p := range found.Probes {
		tried[p.Load]++
		most = max(most, tried[p.Load])
	}
	if err != nil || most > 3 || found.Holds > 0 {
		t.Errorf("%v: a load was tried %d times; [%g, %g] %s", err, most, found.Holds, found.Fails, found.Why)
	}
}

// Requests that meet no other and miss the limit would miss it under any load: half the load
// is not worth a try. What is refused says nothing of that.
func TestNoLoadHolds(t *testing.T) {
	for _, c := range []struct {
		texts []string
		from  float64
	}{{[]string{"p90 ttft < 5ms"}, 1}, {[]string{"p99 ttft < 5ms"}, 16}, {[]string{"mean e2e < 9ms"}, 2}} {
		subject := &gateway{}
		found, err := Search{Objectives: objectivetest.Parse(t, c.texts...), From: c.from, MaxTime: 15 * time.Minute,
			Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
		if err != nil || found.Holds > 0 || found.Fails != c.from || !found.Result(nil).NoneHolds() || subject.clock > 5*time.Minute {
			t.Errorf("%q: %v, [%g, %g] after %d probes and %v; %s", c.texts, err, found.Holds, found.Fails, len(found.Probes), subject.clock, found.Why)
		}
	}
}
