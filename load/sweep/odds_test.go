package sweep

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Evidence that is beyond all numbers leans to its side, and is not none at all.
func TestOddsOfManyRequests(t *testing.T) {
	for ttft, sign := range map[float64]float64{100: 1, 1000: -1} {
		tests, err := newTests(parsed(t, "p95 ttft < 400ms"))
		if err != nil {
			t.Fatal(err)
		}
		tr := newTrial(tests, true)
		for i := range 20_000 {
			at := float64(i) / 10
			tr.take(Seen{Index: int64(i), DueS: at, EndS: at + 1, InFlight: 10, Record: &metric.Record{Outcome: timeline.OK,
				TTFTMS: timeline.Some(ttft + float64(i%7)), E2EMS: timeline.Some(1000.0)}})
		}
		if l := tr.judge(aim{pass: 5, fail: 5}, 1); (l.holds-l.fails)*sign < 100 {
			t.Errorf("%v ms: odds %v, for holding %v, for failing %v", ttft, l.holds-l.fails, l.holds, l.fails)
		}
	}
}
