package report

import (
	"testing"

	"tokenmeter/reader/report/view"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Pauses have a line of their own; a run without any has none.
func TestStalls(t *testing.T) {
	r := &run.Run{}
	if got := view.Stalls(r); got != "" {
		t.Errorf("nothing was measured: %q", got)
	}
	r.Metrics = map[string]metric.Dist{
		"stalls":     {N: 20, Mean: timeline.Some(0.2)},
		"max_gap_ms": {N: 20, Max: timeline.Some(2015.0)},
	}
	if got, want := view.Stalls(r), "4 pauses in 20 requests, the longest of 2.02 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Metrics["stalls"] = metric.Dist{N: 20, Mean: timeline.Some(0.0)}
	if got := view.Stalls(r); got != "" {
		t.Errorf("no pause: %q", got)
	}
}
