package report

import (
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// What breaks an objective on the first token is the largest part of it, or prefill
// where that alone is beyond the limit; nothing is said of what the server did not tell.
func TestCause(t *testing.T) {
	parts := func(queue, prefill, network float64) *metric.Decomposition {
		return &metric.Decomposition{Source: "replies", QueueMS: timeline.Some(queue), PrefillMS: timeline.Some(prefill), NetworkMS: timeline.Some(network)}
	}
	uncounted := parts(20, 70, 2)
	uncounted.ServerRestMS = timeline.Some(180.0)
	for name, c := range map[string]struct {
		metric string
		d      *metric.Decomposition
		want   string
	}{
		"queue":            {"ttft", parts(433, 70, 2), "most is the queue"},
		"prefill too long": {"ttft", parts(433, 190, 2), "prefill alone is beyond the limit"},
		"prefill":          {"ttft", parts(1, 70, 2), "most is prefill"},
		"network":          {"ttft", parts(1, 7, 60), "60.0 ms went on the way between"},
		"uncounted":        {"ttft", uncounted, "0.180 s more went in the server"},
		"nobody told":      {"ttft", &metric.Decomposition{}, ""},
		"half told":        {"ttft", &metric.Decomposition{Source: "replies", QueueMS: timeline.Some(1.0)}, ""},
		"other metric":     {"tpot", parts(433, 70, 2), ""},
		"none":             {"ttft", nil, ""},
	} {
		got := causeOf(&run.Run{Summary: metric.Summary{Decomposition: c.d}}, c.metric, 80)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
