package report

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/report/view"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Each missed objective names its requests, when they were due, and whether they waited
// or decoded longer than the others.
func TestWhyMissed(t *testing.T) {
	made := func(slow func(i int) bool, change func(*gather.Request)) *gather.Gathered {
		c := &gather.Gathered{Last: 100e6}
		for i := range 100 {
			q := gather.Request{ID: int64(i), Due: int64(i) * 1e6, TTFT: 50, TPOT: 10, E2E: 1050, OK: true}
			if slow(i) {
				change(&q)
			}
			c.Requests = append(c.Requests, q)
			c.N++
		}
		return c
	}
	early := func(i int) bool { return i < 15 }
	for _, c := range []struct {
		name, metric string
		limit        float64
		c            *gather.Gathered
		text, detail string
	}{
		{"waiting", "ttft", 100, made(early, func(q *gather.Request) { q.TTFT, q.E2E = 800, 1800 }),
			"15 of 100 requests are beyond it, all of them at 0:00–0:14", "they were waiting, not decoding"},
		{"decoding", "e2e", 2000, made(func(i int) bool { return i%10 == 0 }, func(q *gather.Request) { q.TPOT, q.E2E = 40, 4050 }),
			"10 of 100 requests are beyond it, spread over the whole run", "they were decoding, not waiting"},
		{"failing", "ttft", 100, made(early, func(q *gather.Request) { q.OK, q.Classed, q.TTFT, q.E2E = false, true, math.NaN(), math.NaN() }),
			"15 of 100 requests failed", ""},
		{"shares", "error_rate", 0.01, made(early, func(q *gather.Request) { q.OK, q.Classed = false, true }), "15 of 100 requests failed", ""},
	} {
		f, ok := missedAt(&objective.ObjectiveResult{Text: "p95 x < 1", Metric: c.metric, Limit: c.limit}, c.c)
		if !ok || !strings.Contains(f.Text, c.text) || !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%s: %q, %q", c.name, f.Text, f.Detail)
		}
	}
}

// A failed objective is a failure whatever the measurement is worth, and what nothing
// decided is no success.
func TestOutcome(t *testing.T) {
	for _, c := range []struct{ verdict, state, class string }{
		{view.Valid, view.Held, "ok"}, {view.Valid, view.Missed, "bad"}, {view.Suspect, view.Missed, "bad"}, {view.Invalid, view.Held, "bad"},
		{view.Valid, view.Open, "none"}, {view.Valid, view.Voided, "none"}, {view.Suspect, view.Held, "suspect"}, {view.Valid, view.Limit, "ok"},
	} {
		if class, _ := outcome(&view.View{Verdict: c.verdict, Objectives: []view.ObjectiveLine{{State: c.state}}}); class != c.class {
			t.Errorf("%s and %s: %s, want %s", c.verdict, c.state, class, c.class)
		}
	}
}

// From the requests alone: which were furthest beyond, what failed, when, and what to do.
func TestWhySaysWhichRequests(t *testing.T) {
	message := "overloaded"
	r := &run.Run{}
	r.Requests.OK, r.Requests.Failed, r.Requests.FirstError = 57, 3, &message
	r.Requests.ByClass = map[timeline.Outcome]int64{timeline.HTTP429: 3}
	requests := func(yield func(*timeline.Timeline, error) bool) {
		for i := range int64(60) {
			tl := timeline.New()
			tl.Request, tl.Phase, tl.DueUS, tl.StartUS, tl.Outcome, tl.Streamed = i, timeline.Measure, i*1e6, i*1e6, timeline.OK, true
			if i >= 40 && i < 43 {
				tl.Outcome = timeline.HTTP429
			} else {
				first := int64(100_000)
				if i >= 10 && i < 14 {
					first = 1_000_000 * (i - 9)
				}
				for k := range int64(5) {
					tl.Events.Append(timeline.Event{AtUS: first + 10_000*k, Kind: timeline.Text, Tokens: timeline.Some[int64](1)})
				}
			}
			if !yield(tl, nil) {
				return
			}
		}
	}
	o, err := objective.Parse("p95 ttft < 500ms")
	if err != nil {
		t.Fatal(err)
	}
	beyond, failed := Why(r, requests, []objective.Objective{o})
	if len(beyond) != 1 || !strings.Contains(beyond[0], "7 of 60 requests are beyond it, 3 of them as they failed") ||
		!strings.Contains(beyond[0], "Furthest beyond: requests 13 (4 s), 12 (3 s), 11 (2 s).") || !strings.Contains(beyond[0], "waiting, not decoding") {
		t.Errorf("%q", beyond)
	}
	for _, part := range []string{"3 of 60 requests failed: 3 http_429, all of them at 0:40–0:4", "The first, request 40, due at 0:40: overloaded. "} {
		if !strings.Contains(failed, part) {
			t.Errorf("%q lacks %q", failed, part)
		}
	}
	if beyond, failed := Why(&run.Run{}, nil, nil); beyond != nil || failed != "" {
		t.Errorf("nothing missed: %q, %q", beyond, failed)
	}
}
