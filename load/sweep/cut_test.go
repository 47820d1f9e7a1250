package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// Answers that take longer than the rest of a probe are no failures where only the
// first token is judged.
func TestCutAnswersCountAsFarAsTheyCame(t *testing.T) {
	subject := &slow{virtual: slowServer(), grace: time.Second}
	found, err := Search{Objectives: objectivetest.Parse(t, "p95 ttft < 2s"), From: 4, Most: 4, MaxTime: time.Hour,
		Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
	if err != nil || found.Holds != 4 || found.Fails != 0 {
		t.Errorf("%v, [%g, %g] %s", err, found.Holds, found.Fails, found.Why)
		told(t, &found)
	}
}

// A stream of which nothing came is bad, as the server did not get round to it. One
// that goes on says what it can.
func TestCutRequests(t *testing.T) {
	tests, err := newTests(objectivetest.Parse(t, "p95 ttft < 2s", "error rate < 5%", "mean e2e < 9s", "p95 tpot < 50ms"))
	if err != nil {
		t.Fatal(err)
	}
	const none = -1
	inf := math.Inf(1)
	some := timeline.Some[float64]
	waiting := metric.Record{Outcome: timeline.CancelledRunEnd}
	going := metric.Record{Outcome: timeline.CancelledRunEnd, TTFTMS: some(100), E2EMS: some(900), TPOTMS: some(40)}
	for _, c := range []struct {
		rec    metric.Record
		waited float64
		want   [4]float64 // values
	}{
		{waiting, 1, [4]float64{0, 0, inf, 0}},
		{going, 1, [4]float64{1, none, none, 1}},
		{going, 2, [4]float64{1, none, none, 0}}, // it has stopped
		{going, 4, [4]float64{1, 0, inf, 0}},     // longer than the slowest that ended
		{going, 10, [4]float64{1, 0, 1000, 0}},   // the limit has passed
		{metric.Record{Outcome: timeline.CancelledUser}, 1, [4]float64{none, none, none, none}},
	} {
		tr := newTrial(tests, true, 100)
		tr.take(Seen{Index: 0, DueS: 0, EndS: 3, Record: &metric.Record{Outcome: timeline.OK, TTFTMS: some(100), E2EMS: some(3000), TPOTMS: some(45)}})
		tr.take(Seen{Index: 1, DueS: 1, EndS: 1 + c.waited, Record: &c.rec})
		for i, want := range c.want {
			got := -1.0
			if v := tr.tests[i].value; len(v) == 2 {
				got = v[1]
			}
			if got != want {
				t.Errorf("%s after %g s: %g, want %g", tests[i].o.Text, c.waited, got, want)
			}
		}
	}
}

// A user who hangs up, and one who thinks for long, hold nobody up and say nothing.
func TestUsersWhoLeave(t *testing.T) {
	tests, err := newTests(objectivetest.Parse(t, "p95 ttft < 2s"))
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrial(tests, true, 100)
	ok := metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(100.0), E2EMS: timeline.Some(200.0)}
	for i := range 20 {
		rec := ok
		switch {
		case i%5 == 4:
			rec = metric.Record{Outcome: timeline.CancelledUser}
		case i == 18:
			continue // was never sent
		}
		tr.take(Seen{Index: int64(i), DueS: float64(i), EndS: float64(i) + 0.2, Record: &rec})
	}
	if n := len(tr.tests[0].value); n != 15 {
		t.Errorf("%d judged before the one that is still to come, want 15", n)
	}
	tr.close()
	if v := tr.tests[0].value; len(v) != 15 || slices.Contains(v, 0) {
		t.Errorf("%d judged: %v", len(v), v)
	}
}

// Streams are whole.
func TestWholeStreams(t *testing.T) {
	for _, s := range []Search{{From: 2.5}, {Most: 2.5}} {
		s.Objectives, s.Variable = objectivetest.Parse(t, "p90 ttft < 500ms"), Concurrency
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "whole numbers") {
			t.Errorf("%v", err)
		}
	}
}
