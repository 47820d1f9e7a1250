package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// runsOfMeans are runs whose requests all have the mean's TPOT.
func runsOfMeans(name string, offset int, means ...float64) Group {
	g := Group{Name: name}
	for i, m := range means {
		g.Runs = append(g.Runs, constant(name, 2*i+offset, 200, 240, m, 101, 256))
	}
	return g
}

// B88: the same server, five runs a side: no difference, t = 0.5, with the run
// as the unit of analysis.
func TestB88(t *testing.T) {
	a := runsOfMeans("A", 0, 20.0, 20.4, 19.8, 20.6, 20.2)
	b := runsOfMeans("B", 1, 20.3, 19.9, 20.5, 20.1, 20.7)
	r := mustCompare(t, a, b, Options{Gates: mustGates(t, "mean tpot +0.1%")})
	row := findRow(t, r, "tpot_ms", "mean")
	if !near(row.A.Or(0), 20.2, 1e-9) || !near(row.B.Or(0), 20.3, 1e-9) || !near(row.DiffPct.Or(0), 0.495, 0.0005) {
		t.Errorf("means %v and %v, difference %v %%", row.A, row.B, row.DiffPct)
	}
	if row.UnitOfAnalysis != ByRun {
		t.Errorf("unit of analysis %s", row.UnitOfAnalysis)
	}
	// scipy.stats.ttest_ind: t = 0.5, p = 0.6305 (of the values; the test is of
	// their logarithms).
	if !near(row.P.Or(0), 0.6305, 0.005) || row.Real() || r.Gates[0].State != Held {
		t.Errorf("p = %v, real %v, gate %+v", row.P, row.Real(), r.Gates[0])
	}
	for i := range r.Rows {
		if v := r.Rows[i].Verdict; v == Better || v == Worse {
			t.Errorf("%s %s is %s", r.Rows[i].Metric, r.Rows[i].Stat, v)
		}
	}
	if r.Verdict == Better || r.Verdict == Worse || r.Verdict == Mixed {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// B88, the harness: of 200 pairs of the same server at most 16 raise an alarm.
// Requests inside a run are correlated and runs differ.
func TestB88Pairs(t *testing.T) {
	n, limit := 200, 16
	if testing.Short() {
		n, limit = 20, 4
	}
	s := server{tpot: 20, cv: 0.1, phi: 0.3, noise: 0.0157}
	alarms := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 88))
		if flagged(mustCompare(t, s.group("A", rng, 5, 60, 0), s.group("B", rng, 5, 60, 1), Options{Seed: uint64(i)})) {
			alarms++
		}
	}
	t.Logf("%d alarms of %d", alarms, n)
	if alarms > limit {
		t.Errorf("%d alarms of %d pairs of the same server, at most %d", alarms, n, limit)
	}
}

// B89: X measured with short prompts and Y with long ones can't be compared;
// with both lengths each has its own winner and there is no overall one.
func TestB89(t *testing.T) {
	runOf := func(name string, i int, ttft, tpot float64, input int64) *Run {
		return constant(name, i, 100, ttft, tpot, 100, input)
	}
	x1, x64 := runOf("X", 0, 200, 10, 1000), runOf("X", 1, 9000, 40, 64000)
	y1, y64 := runOf("Y", 2, 300, 15, 1000), runOf("Y", 3, 5000, 25, 64000)

	r := mustCompare(t, Group{Name: "X", Runs: []*Run{x1}}, Group{Name: "Y", Runs: []*Run{y64}}, Options{Gates: mustGates(t, "p50 e2e +5%")})
	if r.Verdict != NotComparable || r.Comparable.Verdict != NotComparableRuns || r.Comparable.Why[0].Name != "input_tokens" {
		t.Errorf("verdict %s, comparable %+v", r.Verdict, r.Comparable)
	}
	if r.Gates[0].State != GateIncomparable || r.Gates[0].Held.OK() {
		t.Errorf("gate %+v", r.Gates[0])
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Verdict != Unclear || row.P.OK() {
			t.Errorf("%s %s: %s, p %v", row.Metric, row.Stat, row.Verdict, row.P)
		}
	}

	r = mustCompare(t, Group{Name: "X", Runs: []*Run{x1, x64}}, Group{Name: "Y", Runs: []*Run{y64, y1}}, Options{})
	want := map[string][3]any{
		"1000 in, 100 out, 1 stream":  {1190.0, 1785.0, Worse},
		"64000 in, 100 out, 1 stream": {12960.0, 7475.0, Better},
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Metric != "e2e_ms" || row.Stat != "p50" {
			continue
		}
		w, ok := want[*row.Group]
		if !ok {
			t.Fatalf("group %q", *row.Group)
		}
		delete(want, *row.Group)
		if row.A.Or(0) != w[0] || row.B.Or(0) != w[1] || row.Verdict != w[2] {
			t.Errorf("%s: %v and %v, %s; want %v", *row.Group, row.A, row.B, row.Verdict, w)
		}
	}
	if len(want) > 0 || r.Verdict != Mixed {
		t.Errorf("missing %v, verdict %s", want, r.Verdict)
	}
}

// B81: a side's percentile is that of all its values, never a mean of the
// runs' percentiles.
func TestB81(t *testing.T) {
	side := func(name string) Group {
		var fast, slow []metric.Record
		for i := range 1000 {
			fast = append(fast, record(i, float64(i), 10, 10, 101, 256))
		}
		for i := range 10 {
			slow = append(slow, record(i, float64(i), 1000, 10, 101, 256))
		}
		return Group{Name: name, Runs: []*Run{fromRecords(manifest(name, 0), fast), fromRecords(manifest(name, 1), slow)}}
	}
	r := mustCompare(t, side("A"), side("B"), Options{Gates: mustGates(t, "p99.5 ttft +5%"), Metrics: []string{"ttft"}})
	if row := findRow(t, r, "ttft_ms", "p99"); row.A.Or(0) != 10 || row.B.Or(0) != 10 || row.NA != 1010 {
		t.Errorf("p99 %v and %v of %d", row.A, row.B, row.NA)
	}
	if row := findRow(t, r, "ttft_ms", "p99.5"); row.A.Or(0) != 1000 {
		t.Errorf("p99.5 %v", row.A)
	}
}

// B82: the p95 of a run is that of all its requests, not the worst window's.
func TestB82(t *testing.T) {
	var list []metric.Record
	for i := range 300 {
		ttft := 100.0
		if i < 6 {
			ttft = 900
		}
		list = append(list, record(i, float64(i)/10, ttft, 10, 101, 256))
	}
	g := Group{Name: "A", Runs: []*Run{fromRecords(manifest("A", 0), list)}}
	r := mustCompare(t, g, Group{Name: "B", Runs: g.Runs}, Options{})
	if row := findRow(t, r, "ttft_ms", "p95"); row.A.Or(0) != 100 || row.NA != 300 || row.Real() {
		t.Errorf("p95 %v of %d: %s", row.A, row.NA, row.Verdict)
	}
}

// B83: ten requests have no p99; a gate on it gets no answer unless that is
// allowed.
func TestB83(t *testing.T) {
	side := func(name string, factor float64) Group {
		g := Group{Name: name}
		for k := range 4 {
			var list []metric.Record
			for i, ttft := range []float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 900} {
				list = append(list, record(i, float64(i), ttft*factor*(1+0.001*float64(k)), 10, 101, 256))
			}
			if k == 0 {
				g.Runs = append(g.Runs, fromRecords(manifest(name, k), list))
			}
		}
		return g
	}
	gates := mustGates(t, "p99 ttft +5%")
	r := mustCompare(t, side("A", 1), side("B", 2), Options{Gates: gates, Metrics: []string{"ttft"}})
	row := findRow(t, r, "ttft_ms", "p99")
	if !near(row.A.Or(0), 835.2, 1e-9) || row.NA != 10 || row.Verdict != Unclear || !strings.Contains(row.Why, "100 requests") {
		t.Errorf("p99 %v of %d: %s, %q", row.A, row.NA, row.Verdict, row.Why)
	}
	if g := r.Gates[0]; g.State != GateRefused || g.Held.OK() || r.Broken() {
		t.Errorf("gate %+v", g)
	}
}

// B84: TPOT is a figure of requests, ITL one of tokens; each keeps its n.
func TestB84(t *testing.T) {
	two := record(0, 0, 100, 100, 2, 256)
	two.ITLMS = []float64{100}
	long := record(1, 1, 100, 10, 101, 256)
	for range 100 {
		long.ITLMS = append(long.ITLMS, 10)
	}
	g := Group{Name: "A", Runs: []*Run{fromRecords(manifest("A", 0), []metric.Record{two, long})}}
	r := mustCompare(t, g, Group{Name: "B", Runs: g.Runs}, Options{Gates: mustGates(t, "mean tpot +5%", "mean itl +5%", "p50 itl +5%")})
	if row := findRow(t, r, "tpot_ms", "mean"); !near(row.A.Or(0), 55, 1e-9) || row.NA != 2 {
		t.Errorf("mean TPOT %v of %d", row.A, row.NA)
	}
	if row := findRow(t, r, "itl_ms", "mean"); !near(row.A.Or(0), 10.891, 0.0005) || row.NA != 101 {
		t.Errorf("mean ITL %v of %d", row.A, row.NA)
	}
	if row := findRow(t, r, "itl_ms", "p50"); row.A.Or(0) != 10 {
		t.Errorf("p50 ITL %v", row.A)
	}
}

// B85: failed requests are in the error rate and not in the latencies.
func TestB85(t *testing.T) {
	var list []metric.Record
	for i := range 10 {
		r := record(i, float64(i)*0.4, 200, 20, 50, 256)
		if i >= 8 {
			r = metric.Record{Request: int64(i), Phase: timeline.Measure, Outcome: timeline.HTTP5xx, DueS: float64(i) * 0.4, CloseMS: timeline.Some(5.0)}
		}
		list = append(list, r)
	}
	g := Group{Name: "A", Runs: []*Run{fromRecords(manifest("A", 0), list)}}
	r := mustCompare(t, g, Group{Name: "B", Runs: g.Runs}, Options{Gates: mustGates(t, "mean ttft +1%")})
	if row := findRow(t, r, "ttft_ms", "mean"); row.A.Or(0) != 200 || row.NA != 8 {
		t.Errorf("mean TTFT %v of %d", row.A, row.NA)
	}
	if row := findRow(t, r, "error_rate", "share"); row.A.Or(0) != 0.2 || row.NA != 10 {
		t.Errorf("error rate %v of %d", row.A, row.NA)
	}
}

// B45: behind a proxy that holds tokens back TPOT looks better by 24 %. That
// is no improvement; TPOT adj. shows that the pace is the same.
func TestB45(t *testing.T) {
	direct, held := Group{Name: "direct"}, Group{Name: "proxy"}
	for i := range 4 {
		var a, b []metric.Record
		for j := range 100 {
			// A little apart, so that there is something to test.
			f := 1 + 0.002*float64((7*j+3*i)%11-5)
			q := record(j, float64(j)*2, 20*f, 10*f, 100, 10)
			a = append(a, q)
			p := record(j, float64(j)*2, 260*f, 7.576*f, 100, 10)
			p.TPOTAdjMS, p.E2EMS = timeline.Some(10*f), timeline.Some(1010*f)
			p.Flags = timeline.CoalescedBursts
			b = append(b, p)
		}
		direct.Runs = append(direct.Runs, fromRecords(manifest("direct", 2*i), a))
		held.Runs = append(held.Runs, fromRecords(manifest("proxy", 2*i+1), b))
	}
	r := mustCompare(t, direct, held, Options{Gates: mustGates(t, "p50 tpot +5%")})
	for _, stat := range percentiles {
		if row := findRow(t, r, "tpot_ms", stat); row.Verdict != Unclear || row.P.OK() || row.Why == "" {
			t.Errorf("TPOT %s: %s, %q", stat, row.Verdict, row.Why)
		}
		row := findRow(t, r, "tpot_adj_ms", stat)
		if row.Verdict != Same {
			t.Errorf("TPOT adj. %s: %s, %v to %v", stat, row.Verdict, row.A, row.B)
		}
	}
	if row := findRow(t, r, "ttft_ms", "p50"); row.Verdict != Worse {
		t.Errorf("TTFT: %s", row.Verdict)
	}
	if r.Verdict != Worse || strings.Contains(r.Says, "faster") {
		t.Errorf("%s: %s", r.Verdict, r.Says)
	}
	if g := r.Gates[0]; g.State != GateRefused {
		t.Errorf("a gate on a figure that can't be compared: %+v", g)
	}
}

// B21: the same request gives 30.0 tokens/s over its whole time and 49.8 while
// it streams. Two results that each tell one of them have nothing in common.
func TestB21(t *testing.T) {
	var whole, streamed []metric.Record
	for i := range 100 {
		r := metric.Record{Request: int64(i), Phase: timeline.Measure, Evidence: timeline.RequestOnly, Outcome: timeline.OK, DueS: float64(i) * 10}
		a, b := r, r
		a.E2ETPS = timeline.Some(30.0)
		b.DecodeTPS = timeline.Some(49.833)
		whole, streamed = append(whole, a), append(streamed, b)
	}
	g := Group{Name: "ranking", Runs: []*Run{fromRecords(manifest("ranking", 0), whole)}}
	r := mustCompare(t, g, Group{Name: "vendor", Runs: []*Run{fromRecords(manifest("vendor", 1), streamed)}},
		Options{Metrics: []string{"e2e_tps", "decode_tps"}})
	for _, m := range []string{"e2e_tps", "decode_tps"} {
		row := findRow(t, r, m, "p50")
		if row.Verdict != Unclear || row.A.OK() == row.B.OK() || row.DiffPct.OK() || !strings.Contains(row.Why, "did not measure") {
			t.Errorf("%s: %+v", m, row)
		}
	}
	if r.Verdict == Better || r.Verdict == Worse {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// B7: E2E over tokens is no TPOT: what calls itself TPOT here never holds it.
func TestB7(t *testing.T) {
	r := record(0, 0, 1000, 20, 5, 2000)
	g := Group{Name: "A", Runs: []*Run{fromRecords(manifest("A", 0), []metric.Record{r})}}
	out := mustCompare(t, g, Group{Name: "B", Runs: g.Runs}, Options{})
	if row := findRow(t, out, "tpot_ms", "p50"); row.A.Or(0) != 20 || row.B.Or(0) == 216 {
		t.Errorf("TPOT %v", row.A)
	}
	if row := findRow(t, out, "e2e_ms", "p50"); row.A.Or(0) != 1080 {
		t.Errorf("E2E %v", row.A)
	}
}

// B110: nothing in the result is NaN or infinite, whatever the runs are.
func TestB110(t *testing.T) {
	empty := fromRecords(run.Run{}, nil)
	failed := fromRecords(manifest("F", 1), []metric.Record{{Outcome: timeline.HTTP5xx, Phase: timeline.Measure}})
	for _, a := range []*Run{empty, failed, constant("A", 0, 1, 0, 0, 1, 0), constant("A", 0, 50, 0, 0, 1, 0)} {
		for _, b := range []*Run{empty, failed, constant("B", 1, 30, 1, 1, 2, 1)} {
			r := mustCompare(t, Group{Name: "A", Runs: []*Run{a}}, Group{Name: "B", Runs: []*Run{b}}, Options{Gates: mustGates(t, "p99 tpot +5%", "error rate +1pp", "mean e2e +1s", "throughput -5%")})
			if _, err := r.JSON(); err != nil {
				t.Error(err)
			}
		}
	}
}
