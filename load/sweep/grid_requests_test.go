package sweep

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// A point of a sweep sends at least one request a stream: a row that is called 32
// has 32 in flight.
func TestPointsKeepTheirStreamsBusy(t *testing.T) {
	for _, c := range []struct {
		plan bench.Plan
		want int
		told bool
	}{
		{bench.Plan{Load: bench.Load{Concurrency: 32, Requests: 10}}, 32, true},
		{bench.Plan{Load: bench.Load{Concurrency: 128, Requests: 127}}, 128, true},
		{bench.Plan{Load: bench.Load{Concurrency: 8, Requests: 8}}, 8, false},
		{bench.Plan{Load: bench.Load{Concurrency: 8, Requests: 10}}, 10, false},
		{bench.Plan{Load: bench.Load{Concurrency: 8, Duration: time.Second}}, 0, false},
		{bench.Plan{Load: bench.Load{Rate: 5, Concurrency: 32, Requests: 10}}, 10, false}, // a cap, no streams
		{bench.Plan{Load: bench.Load{Stages: schedule.Flat(3), Concurrency: 32, Requests: 10}}, 10, false},
	} {
		var log bytes.Buffer
		c.plan.Name, c.plan.Log = "concurrency 32", &log
		busyStreams(&c.plan)
		if closed := c.plan.Rate == 0 && len(c.plan.Stages) == 0; c.plan.EveryStream != closed {
			t.Errorf("%+v: every stream %t", c.plan.Load, c.plan.EveryStream)
		}
		if c.plan.Requests != c.want || strings.Contains(log.String(), "can't keep") != c.told {
			t.Errorf("%d streams: %d requests, %q", c.plan.Concurrency, c.plan.Requests, log.String())
		}
	}
}

// A sweep names the points whose load was never there, each once.
func TestPointsThatWereNeverSteady(t *testing.T) {
	var s result.Sweep
	never := &run.Run{}
	never.Warnings = []metric.Warning{{Name: "never_steady"}}
	neverSteady(&s, &run.Run{}, "rate 2")
	neverSteady(&s, never, "rate 20")
	neverSteady(&s, never, "rate 200")
	neverSteady(&s, never, "rate 20")
	if len(s.Warnings) != 1 || !strings.HasSuffix(s.Warnings[0].Says, ": rate 20; rate 200.") {
		t.Errorf("%+v", s.Warnings)
	}
}
