package objective

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// inSession puts a timeline into a session, due so many ms after the run's start.
func inSession(tl *timeline.Timeline, session string, due float64) *timeline.Timeline {
	tl.Session, tl.DueUS = session, int64(due*1000)
	tl.StartUS = tl.DueUS
	return tl
}

// A session takes from its first due time to its last end; one with a failure for
// ever; one that was cut off counts when it is late already.
func TestSessions(t *testing.T) {
	cut := func(i int, after float64) *timeline.Timeline { return failed(i, timeline.CancelledRunEnd, after) }
	tls := []*timeline.Timeline{
		inSession(whole(0, 500), "two turns", 0), inSession(whole(1, 1000), "two turns", 2000), // 3 s
		inSession(whole(2, 2500), "side by side", 100), inSession(whole(3, 4000), "side by side", 600), // 4.5 s
		inSession(failed(4, timeline.HTTP5xx, 10), "failed", 200),
		inSession(whole(5, 100), "cut early", 300), inSession(cut(6, 500), "cut early", 1000),
		inSession(whole(7, 100), "cut late", 400), inSession(cut(8, 500), "cut late", 9000),
		whole(9, 60_000), // of no session
	}
	for _, c := range []struct {
		text     string
		n        int64
		attained float64
		value    any
		state    string
	}{
		// 3, 4.5, +Inf (failed), and +Inf (cut after 9.1 s, beyond the limit): shown is the
		// second of four.
		{"p50 session e2e < 5s", 4, 0.5, 4500.0, Met},
		{"p50 session_e2e < 3s", 4, 0, 4500.0, Missed},
		{"mean session e2e < 5s", 4, 0.5, nil, Missed},
		{"session e2e < 5s", 4, 0.5, nil, Missed},
		{"max session e2e < 5s valid: success", 3, 2.0 / 3, nil, Missed},
		{"max session e2e < 10s valid: success", 2, 1, 4500.0, Met},
		{"min session e2e > 2s", 3, 2.0 / 3, nil, Missed},
		{"session e2e p50 <= 4.5s", 4, 0.5, 4500.0, Met},
	} {
		g := judged(t, []string{c.text}, tls, true)
		o := g.Objectives[0]
		value := any(nil)
		if v, ok := o.Value.Get(); ok {
			value = v
		}
		if o.N != c.n || o.Attained.Or(-1) != c.attained || o.State != c.state || value != c.value {
			t.Errorf("%s: n %d, attained %v, value %v, %s; want %d, %v, %v, %s", c.text, o.N, o.Attained, value, o.State, c.n, c.attained, c.value, c.state)
		}
	}
}

// Sessions of one request are those requests: the same verdict, interval and worth, in
// closed and open loops, alike and dependent.
func TestSessionsOfOneRequest(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 22))
		level := 0.0
		var tls []*timeline.Timeline
		for i := range 300 {
			level = 0.9*level + rng.Float64() // neighbours are alike
			tls = append(tls, inSession(whole(i, 100+50*level+float64(rng.IntN(20))), fmt.Sprint("s", i), 10*float64(i)))
		}
		for _, text := range []string{"p90 %s < 450ms", "p50 %s < 300ms", "mean %s <= 400ms", "p10 %s > 200ms"} {
			for _, open := range []bool{false, true} {
				var results [2]ObjectiveResult
				for k, name := range []string{"e2e", "session_e2e"} {
					objectives, err := ParseAll([]string{fmt.Sprintf(text, name)})
					if err != nil {
						t.Fatal(err)
					}
					j := NewJudge(objectives, false)
					j.OpenLoop(open)
					for _, at := range rng.Perm(len(tls)) {
						j.Add(tls[at])
					}
					results[k] = j.Goodput(&metric.Summary{}, nil).Objectives[0]
				}
				results[1].Text, results[1].Metric = results[0].Text, results[0].Metric
				a, _ := json.Marshal(results[0])
				b, _ := json.Marshal(results[1])
				if string(a) != string(b) {
					t.Errorf("seed %d, %s, open %v:\nrequests %s\nsessions %s", seed, text, open, a, b)
				}
			}
		}
	}
}

// The first token of a turn is that of a request which belongs to a session; others,
// failed or not, are none.
func TestTurns(t *testing.T) {
	tls := []*timeline.Timeline{
		inSession(reply(0, 100, 10, 3), "a", 0), inSession(reply(1, 300, 10, 3), "a", 500),
		reply(2, 9000, 10, 3), failed(3, timeline.HTTP5xx, 10), inSession(failed(4, timeline.HTTP5xx, 10), "b", 100),
	}
	o := judged(t, []string{"p50 turn ttft <= 300ms"}, tls, true).Objectives[0]
	if o.N != 3 || o.Value.Or(0) != 300 || o.Attained.Or(0) != 2.0/3 || o.State != Met {
		t.Errorf("%+v", o)
	}
}

// Runs one after the other keep their sessions apart, whatever these are called.
func TestSessionsOfSeveralRuns(t *testing.T) {
	objectives, err := ParseAll([]string{"max session e2e < 5s", "task success < 5s >= 90%"})
	if err != nil {
		t.Fatal(err)
	}
	all := NewJudge(objectives, true)
	for range 3 {
		j := NewJudge(objectives, true)
		for i := range 4 {
			tl := inSession(whole(i, 1000), "s", 1000*float64(i))
			tl.Task = "s"
			j.Add(tl)
		}
		all.Follow(j)
	}
	for _, o := range all.Goodput(&metric.Summary{}, nil).Objectives {
		if o.N != 3 || o.State != Met {
			t.Errorf("%+v", o)
		}
	}
}

func TestSessionsAreNoFigureOfRequests(t *testing.T) {
	for text, want := range map[string]string{"session_e2e:500": "no figure of a request", "p99 session < 10 tokens": "no unit here"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"p95 session e2e < 10min", "session_duration p95 < 10min", "p95 session < 600s", "p95(session_e2e) < 600000"} {
		if o, err := Parse(text); err != nil || o.Text != "p95 session_e2e < 600s" || o.OfRequests() {
			t.Errorf("%s: %+v, %v", text, o, err)
		}
	}
}
