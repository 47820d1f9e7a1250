package prometheus

import (
	"strings"
	"testing"

	"tokenmeter/service/telemetry/telemetrytest"
)

// docs/telemetry.md tells how many series a set of labels has.
func TestSeriesOfASetOfLabels(t *testing.T) {
	e, _, sinks := daemon(t, Options{}, "p99 tpot < 33ms")
	sinks.Done(telemetrytest.Streamed(100, 130, 190))
	n := strings.Count(page(t, e), `route="chat"`)
	if n < 250 || n > 400 {
		t.Errorf("%d series", n)
	}
	t.Log(n)
}
