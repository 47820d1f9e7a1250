package report

import (
	"strings"
	"testing"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// The first sentence names the load that keeps the objectives, and what breaks at the
// next one and by how much.
func TestSweepSaysWhatKeepsObjectives(t *testing.T) {
	point := func(load, ttft float64, state string) result.Point {
		return result.Point{Value: load, Place: 1, Run: "r", Goodput: &objective.Goodput{Objectives: []objective.ObjectiveResult{
			{Text: "p95 ttft < 500ms", Metric: "ttft", Limit: 500, Value: timeline.Some(ttft), State: state}}}}
	}
	for want, points := range map[string][]result.Point{
		"16 streams is the most that keeps p95 ttft < 500ms; at 32 p95 ttft is 1,560 ms (limit 500ms).": {
			point(8, 100, objective.Met), point(16, 300, objective.Met), point(32, 1560, objective.Missed)},
		"16 streams keeps p95 ttft < 500ms; it is the most that was tried.": {
			point(8, 100, objective.Met), point(16, 300, objective.Met)},
		"No load keeps p95 ttft < 500ms: even at 8 streams p95 ttft is 900 ms (limit 500ms).": {
			point(8, 900, objective.Missed), point(16, 1300, objective.Missed)},
		"No load is decided yet for p95 ttft < 500ms.": {point(8, 490, objective.Open)},
	} {
		s := result.Sweep{Variable: "concurrency", Objectives: []string{"p95 ttft < 500ms"}, Points: points}
		s.Conclude()
		if v := newSweepView(&s); !strings.HasPrefix(v.says, want) {
			t.Errorf("%q, want %q", v.says, want)
		}
	}
}

// A sweep in which nothing is decided says how many requests would, from the binomial
// law: 0.99^368 < 0.025 < 0.99^367, and five times 367.04 that are alike in fives.
func TestSweepSaysHowManyRequestsWouldSettle(t *testing.T) {
	point := func(n int64, worth float64) result.Point {
		return result.Point{Value: 8, Place: 1, Run: "r", Goodput: &objective.Goodput{Objectives: []objective.ObjectiveResult{
			{Text: "p99 ttft < 500ms", Metric: "ttft", Percentile: timeline.Some(0.99), Limit: 500, N: n, Worth: timeline.Some(worth), State: objective.Open}}}}
	}
	for _, c := range []struct {
		n     int64
		worth float64
		want  string
	}{
		{12, 12, "Not settled at 8: too few requests; about 368 at each load would do, if all are good (--requests 368)."},
		{100, 20, "Not settled at 8: too few requests; about 1,836 at each load would do, if all are good (--requests 1836)."},
		{400, 400, "Not settled at 8: too few requests, more would tell (--requests, --duration)."},
	} {
		s := result.Sweep{Variable: "concurrency", Objectives: []string{"p99 ttft < 500ms"}, Points: []result.Point{point(c.n, c.worth)}}
		s.Conclude()
		if more := strings.Join(newSweepView(&s).more, " "); !strings.Contains(more, c.want) {
			t.Errorf("%d worth %g: %q, want %q", c.n, c.worth, more, c.want)
		}
	}
}
