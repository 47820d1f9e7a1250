package compare

import (
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// told is a side of which another tool told figures and no request.
func told(name string, ok, failed int64, metrics map[string]metric.Dist) Group {
	m := manifest(name, 0)
	m.Load = run.Load{}
	m.Told = &run.Told{OK: timeline.Some(ok), Failed: timeline.Some(failed), Metrics: metrics,
		Throughput: metric.Throughput{RequestsPerS: timeline.Some(4.0), SuccessOutputTPS: timeline.Some(float64(ok))}}
	m.Metrics = metrics
	m.Requests = metric.Requests{Total: ok + failed, OK: ok, Failed: failed}
	m.Validity.SummaryOnly()
	return Group{Name: name, Runs: []*Run{newTold(&m)}}
}

// Figures of summaries stand beside each other and beside a run's own, for the
// statistics that both sides have; none of them is tested, and no gate is answered.
func TestSummariesAreComparedAndNotTested(t *testing.T) {
	dist := func(mean, p99 float64) metric.Dist {
		return metric.Dist{N: 100, Mean: timeline.Some(mean), P99: timeline.Some(p99)}
	}
	ours := func() Group {
		c := NewCollector(manifest("ours", 0))
		for i := range 120 {
			tl := timeline.New()
			tl.Request, tl.DueUS, tl.StartUS = int64(i), int64(i)*1_000_000, int64(i)*1_000_000
			tl.Outcome, tl.Streamed, tl.Evidence, tl.Clock = timeline.OK, true, timeline.Arrivals, timeline.User
			tl.Usage.Output = timeline.Some[int64](3)
			for k := range 3 {
				tl.Events.Append(timeline.Event{AtUS: int64(200+10*k) * 1000, Kind: timeline.Text, Bytes: 4, Read: int64(k)})
			}
			c.Add(tl)
		}
		return Group{Name: "ours", Runs: []*Run{c.Run()}}
	}
	theirs := told("theirs", 90, 10, map[string]metric.Dist{"ttft_ms": dist(100, 300), "tpot_ms": dist(8, 9)})
	others := told("others", 100, 0, map[string]metric.Dist{"ttft_ms": {Mean: timeline.Some(150.0)}, "e2e_ms": dist(400, 900)})
	nothing := told("nothing", 0, 10, nil)
	for _, c := range []struct {
		a, b Group
		want map[string][2]float64 // metric and statistic → both figures
	}{
		{theirs, others, map[string][2]float64{"ttft_ms mean": {100, 150}, "error_rate share": {0.1, 0}, "requests_per_s rate": {4, 4},
			"success_output_tps rate": {90, 100}}},
		{theirs, ours(), map[string][2]float64{"ttft_ms mean": {100, 200}, "ttft_ms p99": {300, 200}, "tpot_ms mean": {8, 10},
			"tpot_ms p99": {9, 10}, "error_rate share": {0.1, 0}}},
		{ours(), others, map[string][2]float64{"ttft_ms mean": {200, 150}, "e2e_ms mean": {220, 400}, "e2e_ms p99": {220, 900},
			"error_rate share": {0, 0}}},
	} {
		gates, err := ParseGates([]string{"p99 ttft +5%", "p99 ttft < 10s", "error rate < 50%", "goodput > 1%"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(c.a, []Group{c.b}, Options{Gates: gates, Allow: Refusals})
		if err != nil {
			t.Fatal(err)
		}
		name := c.a.Name + " and " + c.b.Name
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Why == "" || row.CI95 != nil || row.CI95Pct != nil || row.PAdjusted.OK() || row.Verdict != Unclear || row.LeftOut != "" {
				t.Errorf("%s: %s %s is tested: %+v", name, row.Metric, row.Stat, row)
			}
			want, ok := c.want[row.Metric+" "+row.Stat]
			if !ok {
				continue
			}
			if d := row.A.Or(-1) - want[0]; d > 1e-9 || d < -1e-9 || row.B.Or(-1)-want[1] > 1e-9 || row.B.Or(-1)-want[1] < -1e-9 {
				t.Errorf("%s: %s %s is %v and %v, want %v", name, row.Metric, row.Stat, row.A, row.B, want)
			}
			delete(c.want, row.Metric+" "+row.Stat)
		}
		if len(c.want) > 0 {
			t.Errorf("%s: no row of %v", name, c.want)
		}
		for _, g := range r.Gates[:1] {
			if g.State != GateRefused || g.Held.OK() {
				t.Errorf("%s: the gate %s is %s", name, g.Text, g.State)
			}
		}
		if c.b.Runs[0].told != nil {
			for _, g := range r.Gates {
				if g.State != GateRefused {
					t.Errorf("%s: the gate %s is %s, of a summary", name, g.Text, g.State)
				}
			}
		}
		if r.Verdict != Unclear {
			t.Errorf("%s: the verdict is %s", name, r.Verdict)
		}
	}
	// A server that answered nothing breaks a gate, whoever counted.
	gates, _ := ParseGates([]string{"error rate < 50%"})
	r, err := Compare(theirs, []Group{nothing}, Options{Gates: gates})
	if err != nil || !r.Broken() {
		t.Errorf("%v, %+v", err, r.Gates)
	}
	if Keepable(theirs) == nil || Keepable(ours()) != nil {
		t.Error("a summary can be kept as a baseline, or a run can't")
	}
	// Several summaries have no common figure.
	r, err = Compare(Group{Name: "two", Runs: append(theirs.Runs[:1:1], others.Runs...)}, []Group{ours()}, Options{Allow: Refusals})
	if err != nil || !strings.Contains(r.Says, "no figure that the baseline has too") {
		t.Errorf("%v: %s", err, r.Says)
	}
}
