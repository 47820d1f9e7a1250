package compare

import (
	"testing"

	"tokenmeter/physics/laws"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// lawRecord is a request of a law as a record.
func lawRecord(i int, q laws.Request) metric.Record {
	r := metric.Record{Request: int64(i), Phase: timeline.Measure, Evidence: timeline.Arrivals, Outcome: timeline.OK, Clock: timeline.Kernel,
		DueS: q.DueS, TTFTMS: timeline.Some(1000 * q.TTFTS), E2EMS: timeline.Some(1000 * q.LatencyS),
		OutputTokens: timeline.Some(int64(100)), InputTokens: timeline.Some(int64(256)), TokenSource: &usage}
	if q.Failed {
		r = metric.Record{Request: int64(i), Phase: timeline.Measure, Evidence: timeline.Arrivals, Outcome: timeline.HTTP429, Clock: timeline.Kernel,
			DueS: q.DueS, CloseMS: timeline.Some(1.0)}
	}
	return r
}

// lawRun is a run of n requests against a law at the load it is named for.
func lawRun(name string, l *laws.Law, seed uint64, n int) Group {
	m := manifest(name, int(seed))
	m.Load = run.Load{Kind: "open"}
	var list []metric.Record
	for q := range l.Poisson(seed, l.Rate) {
		if list = append(list, lawRecord(len(list), q)); len(list) == n {
			break
		}
	}
	return Group{Name: name, Runs: []*Run{fromRecords(m, list)}}
}

// Two runs of one server, whatever queue it has, raise an alarm in no more than
// one comparison of twenty; so do gates and canaries. With -full 300 pairs a law.
func TestEqualServersRaiseNoAlarm(t *testing.T) {
	pairs, n := times(4, 300), 3000
	gates := mustGates(t, "p95 ttft +5%", "error rate +0.5pp")
	for _, l := range laws.All() {
		t.Run(l.Name, func(t *testing.T) {
			alarms, broken, canaries, settled := 0, 0, 0, 0
			for i := range pairs {
				a, b := lawRun("a", l, uint64(2*i+1), n), lawRun("b", l, uint64(2*i+2), n)
				r := mustCompare(t, a, b, Options{Gates: gates})
				any := false
				for j := range r.Rows {
					any = any || r.Rows[j].Real()
					if r.Rows[j].Metric == "ttft_ms" && r.Rows[j].Stat == "p50" && r.Rows[j].Why == "" {
						settled++
					}
				}
				alarms += truth(any)
				broken += truth(r.Broken())
				canaries += truth(lawCanary(t, l, uint64(i), n) != Continue)
			}
			t.Logf("%d pairs: %d alarms, %d broken gates, %d canaries that decide; p50 TTFT has an interval in %d", pairs, alarms, broken, canaries, settled)
			for name, got := range map[string]int{"comparisons": alarms, "gates": broken} {
				if got > allowedOf(pairs, 0.05) {
					t.Errorf("%d of %d %s of a server with itself raise an alarm", got, pairs, name)
				}
			}
		})
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lawCanary runs a canary on two servers of one law until it says better or
// worse; same is no alarm.
func lawCanary(t *testing.T, l *laws.Law, seed uint64, n int) CanaryState {
	c, err := NewCanary(CanaryOptions{Metrics: []string{"ttft"}})
	if err != nil {
		t.Fatal(err)
	}
	var lists [2][]metric.Record
	for side := range lists {
		for q := range l.Poisson(1_000_000+2*seed+uint64(side), l.Rate) {
			if lists[side] = append(lists[side], lawRecord(len(lists[side]), q)); len(lists[side]) == n {
				break
			}
		}
	}
	for i := range n {
		c.Add(SideA, &lists[SideA][i])
		c.Add(SideB, &lists[SideB][i])
		if s := c.State(); s == CanaryBetter || s == CanaryWorse {
			return s
		}
	}
	return Continue
}
