package compare

import (
	"fmt"
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
	return slowedRun(name, l, seed, n, 1)
}

// slowedRun is such a run in which all takes so many times as long.
func slowedRun(name string, l *laws.Law, seed uint64, n int, times float64) Group {
	m := manifest(name, int(seed))
	m.Load = run.Load{Kind: "open"}
	var list []metric.Record
	for q := range l.Poisson(seed, l.Rate) {
		q.TTFTS, q.LatencyS = times*q.TTFTS, times*q.LatencyS
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
			for name, got := range map[string]int{"comparisons": alarms, "gates": broken, "canaries": canaries} {
				if got > allowedOf(pairs, 0.05) {
					t.Errorf("%d of %d %s of a server with itself raise an alarm", got, pairs, name)
				}
			}
		})
	}
}

// Nor do six rounds in which they take turns. With -full 300 comparisons a law.
func TestEqualServersInTurnsRaiseNoAlarm(t *testing.T) {
	pairs := times(8, 300)
	for _, l := range laws.All() {
		alarms := 0
		for i := range pairs {
			a, b := Group{Name: "a"}, Group{Name: "b"}
			for round := range 6 {
				for side, g := range []*Group{&a, &b} {
					one := lawRun(g.Name, l, uint64(5_000_000+12*i+2*round+side), 300).Runs[0]
					one.Facts.Tags = map[string]string{"side": g.Name, "round": fmt.Sprint(round + 1)}
					g.Runs = append(g.Runs, one)
				}
			}
			r := mustCompare(t, a, b, Options{})
			for j := range r.Rows {
				if r.Rows[j].Real() {
					alarms++
					break
				}
			}
		}
		t.Logf("%s: %d of %d", l.Name, alarms, pairs)
		if alarms > allowedOf(pairs, 0.05) {
			t.Errorf("%s: %d of %d comparisons of a server with itself raise an alarm", l.Name, alarms, pairs)
		}
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

// A median that is 5 % longer is found in nine of ten pairs of single runs, where these have as
// many requests as the comparison asks for: a pair that settles nothing is measured anew, longer.
// With -full 20 pairs a law.
func TestAskedLengthFindsShift(t *testing.T) {
	pairs := times(3, 20)
	for _, name := range []string{"free", "refusing", "slots"} {
		if name != "free" && !*full {
			continue
		}
		l := laws.ByName(name)
		found, most := 0, 0
		for i := range pairs {
			seed, runs := uint64(1+1000*i), 1
			for n := 3000; n > 0; {
				a, b := Group{Name: "a"}, Group{Name: "b"}
				for range runs {
					a.Runs = append(a.Runs, lawRun("a", l, seed, n).Runs...)
					b.Runs = append(b.Runs, slowedRun("b", l, seed+1, n, 1.05).Runs...)
					seed += 2
				}
				r := mustCompare(t, a, b, Options{Gates: mustGates(t, "p50 e2e +1%")})
				row := findRow(t, r, "e2e_ms", "p50")
				most = max(most, n*runs)
				switch more := row.More; {
				case row.Verdict == Worse:
					found, n = found+1, 0
				case row.Needed() > 0:
					n = int(row.Needed())
				case more != nil && more.Runs > 0:
					runs += int(more.Runs)
				case more != nil:
					n += int(more.Requests)
				default:
					t.Logf("%s %d: %s with %d runs of %d: %s", name, i, row.Verdict, runs, n, row.Unsettled)
					n = 0
				}
			}
		}
		t.Logf("%s: found in %d of %d, with up to %d requests", name, found, pairs, most)
		if found < pairs-allowedOf(pairs, 0.1) {
			t.Errorf("%s: found in %d of %d", name, found, pairs)
		}
	}
}
