package bench

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/load/workload"
)

const recordedSession = "../workload/sessions/testdata/weka.json"

func recordedWork(t *testing.T, k workload.Content) *workload.Loaded {
	t.Helper()
	k.File = recordedSession
	work, err := workload.FromSpec("x", workload.Spec{Content: k}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(work.Close)
	return work
}

// A recorded session is played by what its requests wait for: the server takes 1 s
// for each, whatever was recorded, and the gaps are those of the recording. The
// fifth request waits for the sub-agent, which ends after the second.
func TestRecordedSessionIsPlayed(t *testing.T) {
	for _, c := range []struct {
		gap   time.Duration
		speed float64
		due   map[int64]float64 // by the recorded lengths of the answers
	}{
		{0, 1, map[int64]float64{70: 0, 90: 2.5, 40: 3.7, 30: 5.1, 120: 6.7}},
		{500 * time.Millisecond, 1, map[int64]float64{70: 0, 90: 1.5, 40: 2.7, 30: 4.1, 120: 5.6}},
		{0, 2, map[int64]float64{70: 0, 90: 1.75, 40: 2.85, 30: 4.05, 120: 5.35}},
	} {
		work := recordedWork(t, workload.Content{MaxGap: c.gap})
		work.Speed(c.speed)
		f := &fake{chat: said(time.Second, func(int, body) string { return "so" })}
		res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 5, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
		if res.err != nil || len(res.records) != 5 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		for _, rec := range res.records {
			near(t, "due", rec.DueS, c.due[rec.RequestedTokens.Or(0)])
			sub := rec.RequestedTokens.Or(0) < 50
			if *rec.Session != "0" || *rec.Task != "0" || sub != (rec.Agent != nil && *rec.Agent == "sub_001") {
				t.Errorf("%+v", rec)
			}
		}
		if tasks := res.run.Tasks; tasks == nil || tasks.OK != 1 || tasks.Steps.P50.Or(0) != 5 {
			t.Errorf("%+v", tasks)
		}
	}
}

// Prompts share exactly what the ids say: 4 of 7 blocks, 3 of 4, and 7 of 10; all
// others are new. With live history the answers of the run stand in them.
func TestRecordedSessionSharesPrefixes(t *testing.T) {
	for _, history := range []string{"recorded", "live"} {
		work := recordedWork(t, workload.Content{History: history})
		var mu sync.Mutex
		sent := map[int64][]string{} // words of the prompts, by the asked length
		roles := map[int64]string{}
		f := &fake{chat: said(time.Second, func(_ int, b body) string {
			mu.Lock()
			defer mu.Unlock()
			n := max(valueOf(b.MaxTokens), valueOf(b.MaxNewer))
			for _, m := range b.Messages {
				sent[n] = append(sent[n], strings.Fields(m.Content)...)
				roles[n] += m.Role[:1]
			}
			return "answer of the run"
		})}
		res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 5, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, ReadsAnswers: work.ReadsAnswers()}}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		live := strings.Contains(strings.Join(sent[90], " "), "answer of the run")
		if live != (history == "live") {
			t.Errorf("%s: the second turn holds the run's answer: %v", history, live)
		}
		if roles[70] != "u" || roles[90] != "uau" || roles[120] != "uauau" || roles[30] != map[string]string{"recorded": "u", "live": "uau"}[history] {
			t.Errorf("%s: roles %v", history, roles)
		}
		if history == "live" {
			continue
		}
		for _, c := range []struct{ a, b, blocks, of int64 }{{70, 90, 4, 7}, {40, 30, 3, 4}, {90, 120, 7, 10}, {70, 40, 0, 3}, {90, 30, 0, 4}} {
			n := int64(0)
			for n < int64(min(len(sent[c.a]), len(sent[c.b]))) && sent[c.a][n] == sent[c.b][n] {
				n++
			}
			if n != 64*c.blocks || int64(len(sent[c.b])) != 64*c.of {
				t.Errorf("%d and %d share %d of %d words, want %d blocks of %d", c.a, c.b, n, len(sent[c.b]), c.blocks, c.of)
			}
		}
	}
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Sessions that begin in the middle: first the server is told, all at once, what came
// before; then each goes on as it was recorded, 120 ms after its beginning and, when the
// sub-agent's 1 s and a gap of 600 ms are over, with the last turn. The sessions after
// them are whole.
func TestSessionsFromTheMiddle(t *testing.T) {
	work, err := recordedWork(t, workload.Content{}).Midway(workload.Midway{Sessions: 2, From: 0.8, To: 0.8, PrimeTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	var primes atomic.Int64
	f := &fake{chat: said(time.Second, func(_ int, b body) string {
		if max(valueOf(b.MaxTokens), valueOf(b.MaxNewer)) == 1 {
			primes.Add(1)
		}
		return "so"
	})}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 6, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	measured := map[string]int{}
	for _, rec := range res.records {
		if measured[*rec.Session]++; *rec.Session < "2" { // the primes took the first second
			near(t, "due", rec.DueS, map[int64]float64{30: 1.12, 120: 2.72}[rec.RequestedTokens.Or(0)])
		}
	}
	if primes.Load() != 4 || measured["0"] != 2 || measured["1"] != 2 || measured["2"] != 5 {
		t.Errorf("%d primes, %v", primes.Load(), measured)
	}
}

// Where a session can't be brought to its beginning nothing is measured.
func TestFailedPrime(t *testing.T) {
	work, err := recordedWork(t, workload.Content{}).Midway(workload.Midway{Sessions: 1, From: 0.8, To: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: func(s *stream, _ body) { http.Error(s.w, "no", http.StatusInternalServerError) }}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 6, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}, Conditions: Conditions{KeepGoing: true}}, nil)
	if res.err == nil || !strings.Contains(res.err.Error(), "requests failed that bring sessions to where they begin: 2") || res.run.Requests.Total != 0 {
		t.Errorf("%v, %+v", res.err, res.run.Requests)
	}
}
