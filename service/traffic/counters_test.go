package traffic

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

func finished(outcome timeline.Outcome, ttftUS int64) *Request {
	tl := timeline.New()
	tl.Streamed, tl.Asked, tl.Evidence = true, true, timeline.Arrivals
	if ttftUS > 0 {
		tl.Events.Append(timeline.Event{AtUS: ttftUS, Kind: timeline.Text})
	}
	tl.Outcome = outcome
	if outcome.Failed() {
		tl.Fail(outcome, "")
	}
	return &Request{Timeline: tl, Record: metric.ScalarsOf(tl), Labels: Labels{Source: Live, Route: "chat"}}
}

func TestCountersAreExact(t *testing.T) {
	objectives, err := objective.ParseAll([]string{"p99 ttft < 200ms", "error rate < 1%"})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCounters(objectives)
	for _, r := range []*Request{
		finished(timeline.OK, 100_000),
		finished(timeline.OK, 300_000),
		finished(timeline.HTTP5xx, 0),
		finished(timeline.CancelledUser, 100_000),
	} {
		c.Done(r)
	}
	all := c.Snapshot()
	for _, want := range []struct {
		o           int
		good, valid int64
	}{{0, 1, 3}, {1, 2, 3}} {
		got := total(all, Key(&objectives[want.o]))
		if got.Good != want.good || got.Valid != want.valid || got.Excluded != 1 {
			t.Errorf("%s: %d good of %d, %d excluded; want %d of %d, 1", objectives[want.o].Text, got.Good, got.Valid, got.Excluded, want.good, want.valid)
		}
	}
}

func TestCountsOutliveAChangeOfObjectives(t *testing.T) {
	one, _ := objective.ParseAll([]string{"p99 ttft < 200ms"})
	two, _ := objective.ParseAll([]string{"p99 ttft < 0.2s", "p99 ttft < 300ms"})
	c := NewCounters(one)
	c.Done(finished(timeline.OK, 100_000))
	c.Set(two)
	c.Done(finished(timeline.OK, 100_000))
	if got := total(c.Snapshot(), Key(&one[0])); got.Good != 2 {
		t.Errorf("the same objective in other words has %d good requests, want 2", got.Good)
	}
	if got := total(c.Snapshot(), Key(&two[1])); got.Good != 1 {
		t.Errorf("the new objective has %d good requests, want 1", got.Good)
	}
}

// What was not measured is judged by its outcome, whichever it was, and by
// nothing else.
func TestUnmeasuredRequests(t *testing.T) {
	for _, tc := range []struct {
		text                  string
		good, valid, excluded int64
	}{
		{"error rate < 1%", 3, 4, 1},
		{"goodput > 99%", 3, 4, 1},
		{"p99 ttft < 200ms", 0, 0, 5},
		{"p99 itl < 200ms", 0, 0, 5},
		{"goodput > 99% and ttft:200", 0, 0, 5},
	} {
		objectives, err := objective.ParseAll([]string{tc.text})
		if err != nil {
			t.Fatal(err)
		}
		for _, why := range Reasons {
			c := NewCounters(objectives)
			for _, outcome := range []timeline.Outcome{timeline.OK, timeline.OK, timeline.HTTP5xx, timeline.OK, timeline.CancelledUser} {
				r := finished(outcome, 0)
				r.Unmeasured = why
				c.Done(r)
			}
			got := total(c.Snapshot(), Key(&objectives[0]))
			if got.Good != tc.good || got.Valid != tc.valid || got.Excluded != tc.excluded {
				t.Errorf("%s, %s: %d good of %d, %d excluded", tc.text, why, got.Good, got.Valid, got.Excluded)
			}
		}
	}
}

// total sums the counts of one objective over all labels.
func total(counts []Count, key string) (sum Count) {
	for _, n := range counts {
		if n.Key == key {
			sum.Good, sum.Valid, sum.Excluded = sum.Good+n.Good, sum.Valid+n.Valid, sum.Excluded+n.Excluded
			if sum.Key == "" || n.Since.Before(sum.Since) {
				sum.Key, sum.Text, sum.Since = n.Key, n.Text, n.Since
			}
		}
	}
	return sum
}
