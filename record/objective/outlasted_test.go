package objective

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// What the run's end cut off is bad where it had waited longer than the limit,
// and not judged where it could still have come in time.
func TestCutOffAfterTheLimit(t *testing.T) {
	waited := func(ms float64, ttft timeline.Opt[float64]) *metric.Record {
		return &metric.Record{Phase: timeline.Measure, Outcome: timeline.CancelledRunEnd, Attempts: 1,
			SentMS: timeline.Some(1.0), CloseMS: timeline.Some(ms), TTFTMS: ttft}
	}
	none, some := timeline.Opt[float64]{}, timeline.Some(100.0)
	for _, c := range []struct {
		text string
		r    *metric.Record
		want Verdict
	}{
		{"p50 ttft < 1s", waited(5000, none), Bad},
		{"p50 ttft < 1s", waited(900, none), NotEvaluable},
		{"p50 ttft < 1s", waited(5000, some), NotEvaluable},
		{"p95 ttfo < 1s", waited(5000, none), Bad},
		{"p95 e2e < 2s", waited(5000, some), Bad},
		{"p95 e2e < 10s", waited(5000, some), NotEvaluable},
		{"p99 tpot < 10ms", waited(5000, none), NotEvaluable},
		{"error rate < 1%", waited(5000, none), NotEvaluable},
		{"p50 decode_tps > 10", waited(5000, none), NotEvaluable},
	} {
		o, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Check(c.r); got != c.want {
			t.Errorf("%s, cut off after %v ms, TTFT %v: %v, want %v", c.text, c.r.CloseMS, c.r.TTFTMS, got, c.want)
		}
	}
	judge := NewJudge(mustParse(t, "p50 ttft < 1s"), false)
	judge.AddRecord(waited(5000, none))
	judge.AddRecord(waited(10, none))
	if judge.bad != 1 || judge.excludedBy[string(timeline.CancelledRunEnd)] != 1 {
		t.Errorf("%d bad, excluded %v", judge.bad, judge.excludedBy)
	}
}

func mustParse(t *testing.T, texts ...string) []Objective {
	t.Helper()
	list, err := ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
