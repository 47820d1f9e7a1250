package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// server is a made server: what its runs look like.
type server struct {
	tpot   float64 // ms, the mean
	cv     float64 // of TPOT between requests
	phi    float64 // AR(1) between consecutive requests
	noise  float64 // SD of the runs' own level, as a share
	ttft   float64 // ms; 0: ten times TPOT
	tokens int64   // of an answer; 0: 101
	input  int64   // 0: 256
	failed float64 // share
}

var usage = "usage"

// manifest of a made run.
func manifest(name string, i int) run.Run {
	m := run.Run{ID: fmt.Sprintf("%s-%d", name, i), Name: name}
	m.Target = run.Target{API: "openai-chat", Model: "m"}
	m.Load = run.Load{Kind: "closed", Concurrency: timeline.Some(int64(1))}
	m.Workload = run.Workload{Kind: "synthetic", InputTokens: "256", OutputTokens: "101", NoStream: timeline.Some(false)}
	m.Validity.Verdict = "valid"
	m.Started = time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Hour)
	return m
}

// record is one made request that was answered.
func record(i int, due, ttft, tpot float64, tokens, input int64) metric.Record {
	return metric.Record{
		Request: int64(i), Phase: timeline.Measure, Evidence: timeline.Arrivals, Outcome: timeline.OK, Clock: timeline.Kernel,
		DueS: due, TTFTMS: timeline.Some(ttft), TPOTMS: timeline.Some(tpot), E2EMS: timeline.Some(ttft + float64(tokens-1)*tpot),
		TPOTAdjMS: timeline.Some(tpot), DecodeTPS: timeline.Some(1000 / tpot),
		OutputTokens: timeline.Some(tokens), InputTokens: timeline.Some(input), TokenSource: &usage,
	}
}

// records makes the requests of one run.
func (s server) records(rng *rand.Rand, n int) []metric.Record {
	sigma := math.Sqrt(math.Log1p(s.cv * s.cv))
	level := math.Exp(s.noise * rng.NormFloat64())
	z := rng.NormFloat64()
	due := 0.0
	var list []metric.Record
	for i := range n {
		if i > 0 {
			z = s.phi*z + math.Sqrt(1-s.phi*s.phi)*rng.NormFloat64()
		}
		tpot := s.tpot * level * math.Exp(sigma*z-sigma*sigma/2)
		ttft := s.ttft
		if ttft == 0 {
			ttft = 10 * s.tpot
		}
		ttft *= level * math.Exp(0.3*rng.NormFloat64())
		r := record(i, due, ttft, tpot, max(s.tokens, 101), max(s.input, 256))
		if s.failed > 0 && rng.Float64() < s.failed {
			r = metric.Record{Request: int64(i), Phase: timeline.Measure, Outcome: timeline.HTTP5xx, DueS: due,
				CloseMS: timeline.Some(5.0), Evidence: timeline.Arrivals, Clock: timeline.Kernel}
		}
		due += r.E2EMS.Or(5) / 1000
		list = append(list, r)
	}
	return list
}

func fromRecords(m run.Run, list []metric.Record, gates ...Gate) *Run {
	c := NewCollector(m, gates...)
	for i := range list {
		c.AddRecord(&list[i])
	}
	return c.Run()
}

// group makes repeats of a server, one every other hour.
func (s server) group(name string, rng *rand.Rand, repeats, n, offset int, gates ...Gate) Group {
	g := Group{Name: name}
	for i := range repeats {
		g.Runs = append(g.Runs, fromRecords(manifest(name, 2*i+offset), s.records(rng, n), gates...))
	}
	return g
}

// constant makes a run whose requests are all alike.
func constant(name string, i, n int, ttft, tpot float64, tokens, input int64) *Run {
	var list []metric.Record
	due := 0.0
	for j := range n {
		r := record(j, due, ttft, tpot, tokens, input)
		due += r.E2EMS.Or(0) / 1000
		list = append(list, r)
	}
	return fromRecords(manifest(name, i), list)
}

func mustCompare(t testing.TB, a, b Group, o Options) *Result {
	t.Helper()
	r, err := Compare(a, []Group{b}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustGates(t testing.TB, texts ...string) []Gate {
	t.Helper()
	g, err := ParseGates(texts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func findRow(t testing.TB, r *Result, metric, stat string) *Row {
	t.Helper()
	for i := range r.Rows {
		if r.Rows[i].Metric == metric && r.Rows[i].Stat == stat {
			return &r.Rows[i]
		}
	}
	t.Fatalf("no row %s %s", metric, stat)
	return nil
}
