package report

import (
	"strings"
	"testing"

	"tokenmeter/reader/report/view"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// The numbers under the verdict are those of what is answered with.
func TestTilesAreOfWhatIsAnswered(t *testing.T) {
	dist := func(n int64) metric.Dist {
		return metric.Dist{N: n, P50: timeline.Some(1.0), P95: timeline.Some(2.0), P99: timeline.Some(3.0)}
	}
	for want, keys := range map[string][]string{
		"TTFT TPOT Server Succeeded": {"ttft_ms", "tpot_ms", "e2e_ms"},
		"TTFA RTF Server Succeeded":  {"ttfa_ms", "rtf", "starved_ms", "e2e_ms"},
		"TTFT RTF Server Succeeded":  {"ttft_ms", "tpot_ms", "rtf", "e2e_ms"},
		"E2E Server Succeeded":       {"inputs", "e2e_ms"},
	} {
		r := &run.Run{}
		r.Metrics = map[string]metric.Dist{}
		r.Requests.OK, r.Requests.Total = 9, 9
		for _, key := range keys {
			r.Metrics[key] = dist(9)
		}
		var labels []string
		for _, one := range tiles(r, view.New(r)) {
			labels = append(labels, one.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%v: %s, want %s", keys, got, want)
		}
	}
}
