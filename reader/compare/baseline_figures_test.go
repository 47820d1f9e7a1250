package compare

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// loaded is a made run with everything that a comparison can have a figure of:
// many streams or a rate, failures, checks, objectives, gaps, costs.
type loaded struct {
	streams int     // of a closed loop
	rate    float64 // of an open loop, where streams is 0
	n       int
	input   int64
}

func (l loaded) run(name string, rng *rand.Rand, i int) *Run {
	m := manifest(name, i)
	m.Objectives = []string{"ttft < 250ms"}
	m.Load = run.Load{Kind: "closed", Concurrency: timeline.Some(int64(l.streams)), Workers: 1}
	if l.streams == 0 {
		m.Load = run.Load{Kind: "open", RatePerS: timeline.Some(l.rate), Arrival: "poisson"}
	}
	free := make([]float64, max(l.streams, 1))
	var list []metric.Record
	for j := range l.n {
		due := free[j%len(free)]
		r := l.record(rng, j, due)
		list = append(list, r)
		if l.streams == 0 {
			free[0] += rng.ExpFloat64() / l.rate
		} else {
			free[j%len(free)] += r.E2EMS.Or(5) / 1000
		}
	}
	return fromRecords(m, list)
}

func (l loaded) record(rng *rand.Rand, j int, due float64) metric.Record {
	if rng.Float64() < 0.04 {
		return metric.Record{Request: int64(j), Phase: timeline.Measure, Outcome: timeline.HTTP5xx, DueS: due,
			CloseMS: timeline.Some(5.0), Evidence: timeline.Arrivals, Clock: timeline.Kernel}
	}
	some := timeline.Some[float64]
	r := record(j, due, 240*(1+0.3*rng.Float64()), 20*(1+0.2*rng.NormFloat64()*rng.Float64()), 20+rng.Int64N(60), l.input)
	check := "pass"
	if rng.Float64() < 0.1 {
		check = "fail"
	}
	session := strconv.Itoa(j / 2)
	r.Check, r.Session = &check, &session
	r.TTFOMS, r.MaxGapMS, r.CostUSD = some(r.TTFTMS.Or(0)+rng.Float64()), some(90*rng.Float64()), some(1e-6*rng.Float64())
	r.FirstByteMS, r.CloseMS, r.NetworkMS = some(rng.Float64()), some(r.E2EMS.Or(0)+1), some(0)
	r.ServiceTTFTMS, r.ServiceE2EMS, r.E2ETPS = r.TTFTMS, r.E2EMS, some(1/r.E2EMS.Or(1))
	r.TTFIMS = some(100 * rng.Float64())
	r.TTFAMS, r.StarvedMS, r.RTF = some(100*rng.Float64()), some(300*rng.Float64()), some(0.1+rng.Float64())
	r.NormDecodeTPS, r.NormE2ETPS = r.DecodeTPS, r.E2ETPS
	for range 5 {
		r.ITLMS = append(r.ITLMS, 20*rng.ExpFloat64())
		r.ICLMS = append(r.ICLMS, 25*rng.ExpFloat64())
	}
	return r
}

// everyGate has a gate on every figure that can have one, unusual percentiles
// among them.
func everyGate(t testing.TB) []Gate {
	t.Helper()
	var texts []string
	for i := range measures {
		m := &measures[i]
		sign := map[metric.Better]string{metric.Lower: "+", metric.Higher: "-"}[m.better]
		switch m.kind {
		case ofShare:
			texts = append(texts, m.name+" "+sign+"1pp")
		case ofRate:
			texts = append(texts, m.name+" "+sign+"3%")
		default:
			for _, stat := range []string{"mean", "p33.3", "p50", "p75", "p95", "p97.5", "p99"} {
				texts = append(texts, stat+" "+m.name+" "+sign+"3%")
			}
		}
	}
	return mustGates(t, texts...)
}

// Every figure that a baseline file keeps is the one of the runs it came from:
// of closed and open loops, single runs and repeats, one workload and several.
func TestBaselineKeepsEveryFigure(t *testing.T) {
	gates := everyGate(t)
	for _, c := range []struct {
		name    string
		repeats int
		works   []loaded
	}{
		{"one stream", 1, []loaded{{streams: 1, n: 150, input: 256}}},
		{"8 streams", 1, []loaded{{streams: 8, n: 150, input: 256}}},
		{"few requests", 1, []loaded{{streams: 4, n: 12, input: 256}}},
		{"open loop", 1, []loaded{{rate: 20, n: 150, input: 256}}},
		{"two runs", 2, []loaded{{streams: 8, n: 120, input: 256}}},
		{"six runs", 6, []loaded{{streams: 8, n: 60, input: 256}}},
		{"six runs, open loop", 6, []loaded{{rate: 50, n: 60, input: 256}}},
		{"two workloads", 1, []loaded{{streams: 8, n: 80, input: 256}, {streams: 8, n: 80, input: 2048}}},
		{"repeats of two workloads", 3, []loaded{{streams: 8, n: 60, input: 256}, {streams: 16, n: 60, input: 2048}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, uint64(c.repeats)))
			a := Group{Name: "A"}
			for i := range c.repeats {
				for k, work := range c.works {
					a.Runs = append(a.Runs, work.run("A", rng, 10*i+k))
				}
			}
			_, file := saved(t, a, gates...)
			for _, sides := range [][2]Group{{file, a}, {a, file}} {
				sameFigures(t, a, sides, gates)
			}
			axes, err := ParseAxes("p75 tpot,p99 ttft,throughput,check")
			if err != nil {
				t.Fatal(err)
			}
			points := NewPareto([]Group{a, file}, axes).Points
			for i := range axes {
				if x, y := points[0].Values[i].Or(-1), points[1].Values[i].Or(-1); !near(x, y, 1e-8*x) {
					t.Errorf("Pareto %s: %v, from the file %v", axes[i].Title, x, y)
				}
			}
		})
	}
}

// sameFigures holds every figure of a comparison of two sides, and what stands
// against it, to those of the runs with themselves.
func sameFigures(t *testing.T, runs Group, sides [2]Group, gates []Gate) {
	t.Helper()
	want, wantReasons := match(runs, runs, &Options{})
	got, gotReasons := match(sides[0], sides[1], &Options{})
	if fmt.Sprint(gotReasons) != fmt.Sprint(wantReasons) || len(got) != len(want) {
		t.Fatalf("%d workloads, %v; of the runs themselves %d, %v", len(got), gotReasons, len(want), wantReasons)
	}
	same := func(m *measure, stat string, want, got []*Run) {
		t.Helper()
		x, nx := figureOf(want, m, stat)
		y, ny := figureOf(got, m, stat)
		if nx == 0 {
			t.Errorf("%s: no run has it", m.key)
		}
		if x.OK() != y.OK() || nx != ny || !near(x.Or(0), y.Or(0), 1e-8*x.Or(0)) {
			t.Errorf("%s %s: %v of %d, from the file %v of %d", m.key, stat, x, nx, y, ny)
		}
	}
	for i := range want {
		for _, g := range gates {
			same(g.measure, g.Stat, want[i].a, got[i].a)
			same(g.measure, g.Stat, want[i].b, got[i].b)
		}
	}
}

// A percentile that no gate named is read from the histogram.
func TestBaselineOtherPercentiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a := Group{Name: "A", Runs: []*Run{loaded{streams: 8, n: 400, input: 256}.run("A", rng, 0)}}
	_, file := saved(t, a)
	at := func(g Group, stat string) float64 {
		v, _ := figureOf(g.Runs, measureNamed("tpot"), stat)
		return v.Or(0)
	}
	if v := at(file, "p97.5"); v < at(a, "p97") || v > at(a, "p98") {
		t.Errorf("p97.5 from the file is %v; p97 of the run is %v, p98 %v", v, at(a, "p97"), at(a, "p98"))
	}
}

// What a file keeps of one of many repeats tells nothing of how it varied
// inside, so it alone is no side of a test.
func TestBaselineRunOfRepeatsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	one := func(i int) Group { return Group{Name: "B", Runs: []*Run{made.group("B", rng, 1, 100, i).Runs[0]}} }
	_, file := saved(t, made.group("A", rng, 4, 100, 0))
	r := mustCompare(t, Group{Name: "A", Runs: file.Runs[:1]}, one(1), Options{})
	for i := range r.Rows {
		if row := &r.Rows[i]; !strings.Contains(row.Why, "as a whole") {
			t.Errorf("%s %s: %q, %s", row.Metric, row.Stat, row.Why, row.Verdict)
		}
	}
	// Four runs against one are a test of runs.
	if row := findRow(t, mustCompare(t, file, one(3), Options{}), "tpot_ms", "p50"); row.Why != "" {
		t.Errorf("four against one: %s", row.Why)
	}
}

// A server at half the speed breaks the gate on a saved baseline of many
// streams as it breaks the one on the run itself.
func TestBaselineHalfThroughputBreaksGate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	gates := mustGates(t, "throughput -3%")
	group := func(name string, tpot float64, i int) Group {
		list := server{tpot: tpot, cv: 0.05}.records(rng, 200)
		due := 0.0
		for j := range list { // eight at a time
			list[j].DueS = due
			if j%8 == 7 {
				due += list[j].E2EMS.Or(0) / 1000
			}
		}
		m := manifest(name, i)
		m.Load.Concurrency = timeline.Some(int64(8))
		return Group{Name: name, Runs: []*Run{fromRecords(m, list)}}
	}
	a, b := group("A", 20, 0), group("B", 40, 1)
	_, file := saved(t, a)
	for name, side := range map[string]Group{"run": a, "file": file} {
		r := mustCompare(t, side, b, Options{Gates: gates})
		if g := r.Gates[0]; g.State != Broken || !near(g.Value.Or(0), -50, 3) {
			t.Errorf("%s: %s", name, g.Words())
		}
	}
}
