package view

import (
	"testing"

	"tokenmeter/record/objective"
)

// Where nothing was seen of what an objective counts, that is what is said.
func TestOpenValueOfNothing(t *testing.T) {
	for metric, want := range map[string]string{"session_e2e": "no whole session was seen", "ttft": "no request can settle it"} {
		var o objective.ObjectiveResult
		o.Metric = metric
		if got := openValue(&o, 0, false, nil); got != want {
			t.Errorf("%s: %q", metric, got)
		}
	}
}
