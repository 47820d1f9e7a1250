package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// B66: streams keep their connections.
func TestB66ConnectionsAreReused(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(100 * time.Millisecond)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 100, Requests: 2000}}, nil)
	if res.err != nil || len(res.records) != 2000 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	if n := res.run.Client.ConnectionsOpened; n > 110 || warned(res.run, "connections_opened") {
		t.Errorf("%d connections for 100 streams: %+v", n, res.run.Warnings)
	}
	for _, rec := range res.records {
		if rec.TTFTMS.Or(0) != 100 {
			t.Fatalf("request %d: %v", rec.Request, rec.TTFTMS)
		}
	}
}

// B73: what was produced counts, not what was asked for.
func TestB73EarlyStop(t *testing.T) {
	got := []int{512, 512, 37, 210}
	f := &fake{chat: func(s *stream, b body) {
		for range got[s.n] {
			s.token(time.Millisecond)
		}
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}, Content: Content{OutputTokens: "512", IgnoreEOS: true}}, nil)
	if res.err != nil || len(res.records) != 4 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	if n := res.run.Metrics["output_tokens"].Mean.Or(0); n != 317.75 || !warned(res.run, "osl_mismatch") {
		t.Errorf("mean %v, %+v", n, res.run.Warnings)
	}
	near(t, "tokens", res.run.Throughput.SystemOutputTPS.Or(0)*res.run.Throughput.WindowS.Or(0), 1271)
}

func TestPoissonOverWorkersIsOneSchedule(t *testing.T) {
	due := func(workers int) (out []float64) {
		f := &fake{chat: echo}
		res := virtual(t, f, Plan{Load: Load{Rate: 20, Arrival: "poisson", Duration: 20 * time.Second, Workers: workers}, Content: Content{Seed: 7}}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		for _, rec := range res.records {
			out = append(out, rec.DueS)
		}
		slices.Sort(out)
		near(t, "offered", res.run.Client.OfferedPerS.Or(0), float64(len(out)-1)/(out[len(out)-1]-out[0]))
		return out
	}
	if one, four := due(1), due(4); !slices.Equal(one, four) {
		t.Errorf("%d and %d requests", len(one), len(four))
	}
}

// A client that sends every request in time keeps the rate, however few there are.
func TestRandomArrivalsSentInTimeKeepTheRate(t *testing.T) {
	for name, p := range map[string]Plan{
		"by number":      {Load: Load{Arrival: "poisson", Requests: 12}},
		"by time":        {Load: Load{Arrival: "poisson", Duration: 2 * time.Second}},
		"gamma":          {Load: Load{Arrival: "gamma", Burstiness: 0.5, Requests: 12}},
		"with a ramp":    {Load: Load{Arrival: "poisson", Requests: 12, Ramp: 2 * time.Second}},
		"over 4 workers": {Load: Load{Arrival: "poisson", Requests: 12, Workers: 4}},
	} {
		for seed := range uint64(5) {
			p.Rate, p.Seed = 6, seed
			res := virtual(t, &fake{chat: echo}, p, nil)
			if res.err != nil {
				t.Fatal(name, res.err)
			}
			through := res.run.Throughput
			if through.OfferedPerS != through.AchievedPerS || !through.OfferedPerS.OK() {
				t.Errorf("%s, seed %d: offered %v, achieved %v", name, seed, through.OfferedPerS, through.AchievedPerS)
			}
		}
	}
}

func TestCaptures(t *testing.T) {
	f := &fake{chat: echo}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 3, Warmup: Warmup{Off: true}}, Output: Output{Capture: true}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	files, _ := filepath.Glob(res.dir + "/captures/*.capture.jsonl")
	if len(files) != 3 {
		t.Fatalf("%d captures", len(files))
	}
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil || !hasText(string(data), `"capture":"tokenmeter/v1"`) || !hasText(string(data), `"end":"eof"`) ||
			filepath.Base(name) != fmt.Sprintf("%06d.capture.jsonl", i) {
			t.Errorf("%s: %v, %s", name, err, data)
		}
	}
}

func TestSnapshots(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(100 * time.Millisecond)
		for range 9 {
			s.token(100 * time.Millisecond)
		}
		s.end(wordsIn(b), 0)
	}}
	objectives, err := objective.ParseAll([]string{"p95 ttft < 150ms", "p99 itl < 90ms", "goodput > 90%", "mean tpot < 1s"})
	if err != nil {
		t.Fatal(err)
	}
	var seen []Snapshot
	res := virtual(t, f, Plan{
		Load:       Load{Concurrency: 2, Duration: 10 * time.Second, Warmup: Warmup{Requests: 2}},
		Conditions: Conditions{Objectives: objectives},
		Output:     Output{Progress: func(s Snapshot) { seen = append(seen, s) }},
	}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	var warm, measured []Snapshot
	for _, s := range seen {
		if s.Phase == timeline.Warmup {
			warm = append(warm, s)
		} else {
			measured = append(measured, s)
		}
	}
	if len(warm) < 3 || len(warm) > 6 || len(measured) < 38 || len(measured) > 42 {
		t.Errorf("%d and %d snapshots in 1 s and 10 s", len(warm), len(measured))
	}
	first, last := measured[0], measured[len(measured)-1]
	if first.InFlight != 2 || first.Done != 0 || first.TTFT.P50.OK() || first.Left.Or(0) < 9*time.Second {
		t.Errorf("first: %+v", first)
	}
	if last.Done != 20 || last.Failed != 0 || last.Left.Or(1) != 0 || !closeTo(last.TTFT.P50.Or(0), 100) || !closeTo(last.TPOT.P99.Or(0), 100) || !closeTo(last.OutputTPS.Or(0), 20) || !closeTo(last.RequestsPerS.Or(0), 2) {
		t.Errorf("last: %+v", last)
	}
	want := []Standing{{"p95 ttft < 150ms", 0.95, 20, 20}, {"p99 itl < 90ms", 0.99, 0, 20}, {"goodput > 90%", 0.9, 0, 20}} // a mean has no share
	if !slices.Equal(last.Objectives, want) {
		t.Errorf("objectives stand at %+v", last.Objectives)
	}
	if _, ok := first.Objectives[0].Kept(); ok {
		t.Error("an objective is kept or not before a request has ended")
	}
}

// The rates on the way are of the part that is measured: neither a ramp nor a cool-down
// makes them fall, as they don't in the run's own figures.
func TestSnapshotsLeaveRampAndCooldownOut(t *testing.T) {
	for name, load := range map[string]Load{
		"open":   {Rate: 10, Ramp: 8 * time.Second, Duration: 6 * time.Second, Warmup: Warmup{Off: true}},
		"closed": {Concurrency: 10, Ramp: 8 * time.Second, Duration: 6 * time.Second, Cooldown: 4 * time.Second, Warmup: Warmup{Off: true}},
		"stages": {Stages: schedule.Curve{{For: 6 * time.Second, From: 10, To: 10}}, Ramp: 8 * time.Second, Cooldown: 4 * time.Second, Warmup: Warmup{Off: true}},
	} {
		f := &fake{chat: func(s *stream, b body) {
			for range 10 {
				s.token(100 * time.Millisecond)
			}
			s.end(wordsIn(b), 0)
		}}
		var seen []Snapshot
		if res := virtual(t, f, Plan{Load: load, Output: Output{Progress: func(s Snapshot) { seen = append(seen, s) }}}, nil); res.err != nil {
			t.Fatal(res.err)
		}
		for _, s := range seen {
			if ramp := s.Elapsed < 8*time.Second; ramp != (s.Phase == timeline.Warmup) || ramp && s.RequestsPerS.Or(0) != 0 {
				t.Errorf("%s after %v: %s, %v a second", name, s.Elapsed, s.Phase, s.RequestsPerS)
			}
		}
		last := seen[len(seen)-1]
		if rate, tps := last.RequestsPerS.Or(0), last.OutputTPS.Or(0); rate < 8 || rate > 11 || tps < 80 || tps > 110 {
			t.Errorf("%s: %v requests and %v tokens a second at the end, 10 and 100 were served", name, rate, tps)
		}
	}
}

func closeTo(x, want float64) bool { return x > want*0.98 && x < want*1.02 }

// A run whose records can't be written stops and says so.
func TestFullDiskStopsTheRun(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	rec := newRecorder(failing{}, false)
	ph := &phase{name: timeline.Measure}
	stopped := false
	ph.cancel = func(error) { stopped = true }
	tl := rec.timeline()
	tl.Phase, tl.Outcome = timeline.Measure, timeline.OK
	rec.ended(ph, job{tl: tl, step: &workload.Step{}})
	if !stopped || ph.stopped() != errWriting || rec.failure() == nil {
		t.Errorf("%v, %v", ph.stopped(), rec.failure())
	}
}

type failing struct{}

func (failing) Append(*timeline.Timeline) error { return os.ErrInvalid }

func TestRequestID(t *testing.T) {
	for n, want := range map[int64]string{0: "r-000000", 7: "r-000007", 99999: "r-099999", 100000: "r-100000", 1234567: "r-1234567"} {
		if got := requestID("r", n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// Requests of the first seconds after the warm-up find open connections.
func TestConnectionsAreOpenedAhead(t *testing.T) {
	for _, plan := range []Plan{
		{Load: Load{Concurrency: 16, Requests: 16}},
		{Load: Load{Rate: 20, Concurrency: 8, Requests: 16}},
	} {
		f := &fake{chat: echo}
		res := virtual(t, f, plan, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		for _, rec := range res.records {
			if rec.ConnectMS.OK() {
				t.Errorf("request %d paid for connecting", rec.Request)
			}
		}
	}
	f := &fake{chat: echo}
	res := virtual(t, f, Plan{Model: "m", Load: Load{Concurrency: 16, Requests: 16, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "none"}}, nil)
	paid := 0
	for _, rec := range res.records {
		if rec.ConnectMS.OK() {
			paid++
		}
	}
	if paid != 16 {
		t.Errorf("without a warm-up %d of 16 requests paid for connecting", paid)
	}
}

func TestUntilPrecision(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Duration(90+s.n%21) * time.Millisecond) // 90 … 110 ms
		s.token(10 * time.Millisecond)
		s.end(256, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Duration: time.Hour, UntilPrecision: 0.05}}, nil)
	if res.err != nil || res.run.Partial || res.wall > 30*time.Second || res.run.Requests.OK < 50 {
		t.Errorf("%v after %v, %+v", res.err, res.wall, res.run.Requests)
	}
	ttft := res.run.Metrics["ttft_ms"]
	if ci, ok := ttft.CI95["p50"]; !ok || ci[1]-ci[0] > 0.11*ttft.P50.Or(0) {
		t.Errorf("median %v, interval %v", ttft.P50, ci)
	}
	if says := fmt.Sprint(res.run.Warnings); !strings.Contains(says, "precision_reached") || !strings.Contains(says, "less often than once in") {
		t.Errorf("nothing says how long a run the medians are of: %s", says)
	}
	// What it can't keep it says.
	res = virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 60, UntilPrecision: 0.001}}, nil)
	if res.err != nil || !strings.Contains(fmt.Sprint(res.run.Warnings), "precision_missed") {
		t.Errorf("%v, %+v", res.err, res.run.Warnings)
	}
	var usage *UsageError
	if res = virtual(t, f, Plan{Load: Load{UntilPrecision: 5}}, nil); !asError(res.err, &usage) {
		t.Errorf("%v", res.err)
	}
}

// A server that never heard of the model list can still be measured when the
// model is named.
func TestServerWithoutLookups(t *testing.T) {
	f := &fake{chat: echo, models: func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }}
	res := virtual(t, f, Plan{Model: "m", Load: Load{Requests: 2, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 2 {
		t.Errorf("%d records, %v", len(res.records), res.err)
	}
	var target *TargetError
	if res = virtual(t, f, Plan{Load: Load{Requests: 2}}, nil); !asError(res.err, &target) {
		t.Errorf("%v", res.err)
	}
}
