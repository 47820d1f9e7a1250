package sweep

import (
	"context"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// A bound that four digits don't hold is reached all the same, once.
func TestBoundsWithManyDigits(t *testing.T) {
	for _, most := range []float64{12.344, 12.346, 12.34} {
		v := scenarios[1].server
		v.seed = 3
		found, err := Search{Objectives: objectivetest.Parse(t, "p95 ttft < 400ms"), Width: 0.2, Most: most}.Run(context.Background(), &v)
		if err != nil || found.Holds != most || !found.Settled || len(found.Probes) > 15 {
			t.Errorf("up to %v: [%v, %v] after %d probes; %v %s", most, found.Holds, found.Fails, len(found.Probes), err, found.Why)
		}
	}
}

// broken fails all it is asked.
type broken struct{}

func (broken) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	for i := int64(0); limit.Requests == 0 || i < limit.Requests; i++ {
		at := float64(i) / load
		if !take(Seen{Index: i, DueS: at, EndS: at, Record: &metric.Record{Outcome: timeline.HTTP5xx}}) {
			break
		}
	}
	return Probed{}, nil
}

// The way down ends at the least load, whatever its digits.
func TestNothingHoldsAnywhere(t *testing.T) {
	for _, from := range []float64{1, 1.2345, 100, 7e4} {
		found, err := Search{Objectives: objectivetest.Parse(t, "p95 ttft < 400ms"), From: from}.Run(context.Background(), broken{})
		if err != nil || found.Holds != 0 || !(found.Fails > 0) || found.Fails > from/1000 || !found.Settled || len(found.Probes) > 15 {
			t.Errorf("from %v: [%v, %v] after %d probes; %v %s", from, found.Holds, found.Fails, len(found.Probes), err, found.Why)
		}
	}
}

// Ends that four digits can't tell apart are never found.
func TestBracketOfNothing(t *testing.T) {
	for width, ok := range map[float64]bool{0.0005: false, 0.002: true} {
		s := Search{Objectives: objectivetest.Parse(t, "p95 ttft < 400ms"), Width: width}
		if err := s.Check(); (err == nil) != ok {
			t.Errorf("%v: %v", width, err)
		}
		s.Variable = Concurrency
		if err := s.Check(); err != nil {
			t.Errorf("%v of streams: %v", width, err)
		}
	}
}
