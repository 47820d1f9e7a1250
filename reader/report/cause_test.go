package report

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/reader/report/gather"
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
		got := causeOf(&run.Run{Summary: metric.Summary{Decomposition: c.d}}, &gather.Gathered{}, c.metric, 80)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Slow answers that stood still are told from those that were slow throughout.
func TestCauseOfTPOT(t *testing.T) {
	made := func(slow, stood, others int) *gather.Gathered {
		c := &gather.Gathered{}
		for i := range slow {
			c.Requests = append(c.Requests, gather.Request{OK: true, TPOT: 30, Stalled: i < stood})
		}
		for range others {
			c.Requests = append(c.Requests, gather.Request{OK: true, TPOT: 10}, gather.Request{OK: false, TPOT: 90}, gather.Request{OK: true, TPOT: math.NaN()})
		}
		return c
	}
	for want, c := range map[string]*gather.Gathered{
		"9 of these 18 answers stood still for over 200 ms in the middle, of the others 0 of 102:": made(18, 9, 102),
		"8 of these 18 stood still in the middle, so it is the pace as a whole":                    made(18, 8, 102),
	} {
		if got := causeOf(&run.Run{}, c, "tpot", 12); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := causeOf(&run.Run{}, made(0, 0, 5), "tpot", 12); got != "" {
		t.Error(got)
	}
}
