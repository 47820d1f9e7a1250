package compare

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// folder writes a run whose requests have 30 tokens each, some of them two to
// an event.
func folder(t *testing.T, dir string, seed uint64, gapUS int64) string {
	t.Helper()
	m := manifest(filepath.Base(dir), int(seed))
	m.ID, m.Objectives = "", []string{"tpot < 11ms", "goodput > 50%"}
	w, err := run.Create(dir, m, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	due := int64(0)
	for i := range int64(60) {
		tl := timeline.New()
		tl.Request, tl.Clock, tl.DueUS, tl.StartUS, tl.Outcome, tl.Attempts = i, timeline.Kernel, due, due, timeline.OK, 1
		tl.API, tl.Model, tl.Streamed, tl.Asked = "openai-chat", "m", true, true
		if i < 5 {
			tl.Phase = timeline.Warmup
		}
		if i == 20 {
			tl.Fail(timeline.HTTP5xx, "no")
			tl.CloseUS = timeline.Some(int64(3000))
			if err := w.Append(tl); err != nil {
				t.Fatal(err)
			}
			continue
		}
		at := int64(100_000)
		tokens := int64(0)
		for k := range int64(20) {
			n := 1 + k%2
			tokens += n
			tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Tokens: timeline.Some(n), Bytes: 4 * n, Read: k})
			at += gapUS + rng.Int64N(gapUS/10)
		}
		tl.Usage.Input, tl.Usage.Output = timeline.Some(int64(256)), timeline.Some(tokens)
		tl.CloseUS = timeline.Some(at)
		due += at
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(m); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What is read from a folder is what its summary says.
func TestLoad(t *testing.T) {
	dir := folder(t, filepath.Join(t.TempDir(), "a"), 1, 15_000)
	gates := mustGates(t, "p90 tpot < 100ms", "p90 itl < 100ms", "goodput > 10%")
	r, err := Load(dir, gates...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := run.Summarise(f)
	if err != nil {
		t.Fatal(err)
	}
	if r.Facts.Requests != (Counts{Total: 55, OK: 54, Failed: 1}) || r.Facts.Clock != timeline.Kernel || r.Facts.TokenSource != "usage" {
		t.Errorf("%+v", r.Facts)
	}
	g := Group{Name: "a", Runs: []*Run{r}}
	res := mustCompare(t, g, Group{Name: "b", Runs: []*Run{r}}, Options{AllowLowN: true, Gates: append(gates, mustGates(t, "p95 icl +5%", "mean tpot +5%")...)})
	for key, stats := range map[string]map[string]timeline.Opt[float64]{
		"ttft_ms": {"p50": sum.Metrics["ttft_ms"].P50, "p95": sum.Metrics["ttft_ms"].P95, "p99": sum.Metrics["ttft_ms"].P99},
		"tpot_ms": {"p50": sum.Metrics["tpot_ms"].P50, "p99": sum.Metrics["tpot_ms"].P99, "mean": sum.Metrics["tpot_ms"].Mean},
		"itl_ms":  {"p99": sum.Metrics["itl_ms"].P99},
		"icl_ms":  {"p95": sum.Metrics["icl_ms"].P95},
		"e2e_ms":  {"p95": sum.Metrics["e2e_ms"].P95},
	} {
		for stat, want := range stats {
			if row := findRow(t, res, key, stat); !row.A.OK() || !near(row.A.Or(0), want.Or(-1), 1e-9*want.Or(1)) {
				t.Errorf("%s %s: %v, the summary says %v", key, stat, row.A, want)
			}
		}
	}
	if row := findRow(t, res, "itl_ms", "p99"); row.NA != sum.Metrics["itl_ms"].N {
		t.Errorf("ITL of %d gaps, the summary says %d", row.NA, sum.Metrics["itl_ms"].N)
	}
	if row := findRow(t, res, "system_output_tps", "rate"); !near(row.A.Or(0), sum.Throughput.SystemOutputTPS.Or(0), 1e-6*row.A.Or(0)) {
		t.Errorf("throughput %v, the summary says %v", row.A, sum.Throughput.SystemOutputTPS)
	}
	if row := findRow(t, res, "goodput", "share"); row.NA != 55 {
		t.Errorf("goodput of %d", row.NA)
	}
	for i, g := range res.Gates[:3] {
		if g.State != Held {
			t.Errorf("gate %d: %s", i, g.Words())
		}
	}
	if res.Verdict != Same && res.Verdict != Unclear {
		t.Errorf("a run against itself: %s", res.Verdict)
	}
}

func TestOpen(t *testing.T) {
	root := t.TempDir()
	folder(t, filepath.Join(root, "a"), 1, 15_000)
	g, err := Open(filepath.Join(root, "a", "run.json"))
	if err != nil || g.Name != "a" || len(g.Runs) != 1 {
		t.Errorf("%+v %v", g, err)
	}
	if _, err := Open(filepath.Join(root, "b")); err == nil {
		t.Error("a folder that is not there")
	}
	if _, err := Open(root); err == nil {
		t.Error("a folder that is no run")
	}
}

// Gaps of very many tokens are thinned, never all kept.
func TestGapsAreBounded(t *testing.T) {
	c := NewCollector(manifest("A", 0))
	list := make([]float64, 50_000)
	for i := range list {
		list[i] = float64(i % 100)
	}
	for i := range 200 {
		r := record(i, float64(i), 100, 10, 101, 256)
		r.ITLMS, r.ICLMS = list, list
		c.AddRecord(&r)
	}
	kept := 0
	for _, g := range c.gaps {
		kept += len(g.lists[0]) + len(g.lists[1])
	}
	if kept > maxGaps || kept < maxGaps/4 {
		t.Errorf("%d gaps kept", kept)
	}
	r := c.Run()
	if p, _ := value([]series{r.series["itl_ms"]}, measureNamed("itl"), "p50"); !near(p.Or(0), 49.5, 1) {
		t.Errorf("p50 of the kept ones %v", p)
	}
}

// What is kept of very many gaps is a fair part of all, whatever number the first
// request has and whichever requests are slow: a stretch of the run, or those in
// step with their number, as of one stream of a closed loop or one turn in two.
func TestThinnedGapsAreAFairPart(t *testing.T) {
	const requests, gapsEach = 2400, 12_000
	fast, slow := make([]float64, gapsEach), make([]float64, gapsEach)
	for i := range fast {
		fast[i], slow[i] = 10, 50
	}
	for name, c := range map[string]struct {
		first int
		slow  func(i int) bool
		share float64
	}{
		"the middle third after a warm-up of five": {5, func(i int) bool { return i >= 800 && i < 1600 }, 1. / 3},
		"the middle third":                         {0, func(i int) bool { return i >= 800 && i < 1600 }, 1. / 3},
		"every second turn":                        {1, func(i int) bool { return i%2 == 1 }, 1. / 2},
		"one stream of eight":                      {4, func(i int) bool { return i%8 == 3 }, 1. / 8},
		"one of three":                             {0, func(i int) bool { return i%3 == 0 }, 1. / 3},
	} {
		collector := NewCollector(manifest("A", 0))
		for i := range requests {
			r := record(i, float64(i), 100, 10, 101, 256)
			r.Request = int64(c.first + i)
			r.ICLMS = nil
			if r.ITLMS = fast; c.slow(i) {
				r.ITLMS = slow
			}
			collector.AddRecord(&r)
		}
		kept, slowKept := 0, 0
		for _, g := range collector.gaps {
			kept++
			if c.slow(int(g.at)) {
				slowKept++
			}
		}
		// Five standard deviations of a share drawn at random.
		share, sd := float64(slowKept)/float64(kept), math.Sqrt(c.share*(1-c.share)/float64(kept))
		if kept > maxGaps/gapsEach || kept < maxGaps/gapsEach/4 || math.Abs(share-c.share) > 5*sd {
			t.Errorf("%s: %d requests kept, %.3f of them slow; want %.3f", name, kept, share, c.share)
		}
	}
}

// A request with more gaps than may be kept at all ends the halving all the same.
func TestOneRequestBeyondTheBound(t *testing.T) {
	c := NewCollector(manifest("A", 0))
	r := record(0, 0, 100, 10, 101, 256)
	r.ITLMS, r.ICLMS = make([]float64, maxGaps+1), nil
	c.AddRecord(&r)
	if len(c.gaps) != 0 {
		t.Error("kept")
	}
}
