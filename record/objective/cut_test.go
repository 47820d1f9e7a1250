package objective

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// What a request that was cut off after a while tells of each objective.
func TestWeighCut(t *testing.T) {
	some := timeline.Some[float64]
	waiting := metric.Record{Outcome: timeline.CancelledRunEnd}
	answering := metric.Record{Outcome: timeline.CancelledRunEnd, TTFTMS: some(100), TTFOMS: some(100), TPOTMS: some(40), E2EMS: some(780), MaxGapMS: some(60), DecodeTPS: some(25), CloseMS: some(800)}
	thinking := metric.Record{Outcome: timeline.CancelledRunEnd, TTFTMS: some(100), Flags: timeline.NoAnswer}
	const open = -1
	for _, c := range []struct {
		objectives string
		r          metric.Record
		waitedMS   float64
		want       float64 // value; open: nothing is known
	}{
		{"p95 ttft < 500ms", answering, 800, 1},
		{"p95 ttft < 80ms", answering, 800, 0},
		{"p95 ttft < 500ms", waiting, 400, open},
		{"p95 ttft < 500ms", waiting, 600, 0},
		{"mean ttft < 500ms", answering, 800, -400},
		{"mean ttft < 500ms", waiting, 600, 100},
		{"mean ttft < 500ms", waiting, 400, open},
		{"p95 ttfo < 500ms", thinking, 400, open}, // it may answer yet
		{"p95 ttfo < 500ms", thinking, 600, 0},
		{"p95 tpot < 50ms", answering, 800, 1},
		{"p95 tpot < 30ms", answering, 800, 0},
		{"p95 tpot < 50ms", waiting, 60_000, open},
		{"p95 e2e < 1s", answering, 800, open},
		{"p95 e2e < 1s", answering, 1100, 0},
		{"p95 tpot < 50ms", answering, 3000, 0}, // it has stopped
		{"p5 decode_tps > 20", answering, 800, 1},
		{"p5 decode_tps > 20", answering, 3000, 0},
		{"p95 max_gap < 100ms", answering, 800, open},
		{"p95 max_gap < 100ms", answering, 900, 0},
		{"p95 close < 1s", answering, 900, open},
		{"error rate < 1%", answering, 800, open},
		{"goodput > 95%;ttft:500 tpot:50", answering, 800, open},
		{"goodput > 95%;ttft:500 tpot:30", answering, 800, 0},
		{"goodput > 95%;ttft:500 e2e:700", answering, 800, 0},
	} {
		all, err := ParseAll(strings.Split(c.objectives, ";"))
		if err != nil {
			t.Fatal(err)
		}
		value, near, known := all[0].WeighCut(all, &c.r, c.waitedMS, false)
		if known != (c.want != open) || known && (value != c.want || math.IsNaN(near)) {
			t.Errorf("%s after %g ms: %g, near %g, known %v, want %g", c.objectives, c.waitedMS, value, near, known, c.want)
		}
	}
}
