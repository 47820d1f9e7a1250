package objective

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func TestFigure(t *testing.T) {
	s := metric.Summary{Metrics: map[string]metric.Dist{
		"ttft_ms": {P50: timeline.Some(1.0), P95: timeline.Some(2.0), P999: timeline.Some(3.0), Mean: timeline.Some(4.0), CI95: map[string][2]float64{"p999": {2, 5}}},
		"itl_ms":  {P50: timeline.Some(5.0)},
	}}
	s.Requests.OK, s.Requests.Failed = 3, 1
	s.Throughput.SystemOutputTPS = timeline.Some(6.0)
	for text, want := range map[string]struct {
		normal string
		value  float64
		higher bool
	}{
		"ttft": {"p50 ttft", 1, false}, "TTFT p95": {"p95 ttft", 2, false}, "p99.9 ttft_ms": {"p99.9 ttft", 3, false}, "p999 ttft": {"p99.9 ttft", 3, false},
		"average ttft": {"mean ttft", 4, false}, "median itl": {"p50 itl", 5, false},
		"output tps": {"system_output_tps", 6, true}, "throughput": {"system_output_tps", 6, true}, "error rate": {"error_rate", 0.25, false},
	} {
		f, err := ParseFigure(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, ci := f.Of(&s)
		if x, ok := v.Get(); f.Text != want.normal || !ok || x != want.value || f.Higher != want.higher || (ci != nil) != (want.value == 3) {
			t.Errorf("%s is %q: %v, %v, more is better: %v", text, f.Text, v, ci, f.Higher)
		}
		if v, ci := f.Of(&metric.Summary{}); v.Or(-1) != -1 || ci != nil {
			t.Errorf("%s of nothing is %v", text, v)
		}
	}
	for _, text := range []string{"", "p97 ttft", "goodput", "goodput_per_s", "check pass", "ttft < 5ms", "nonsense", "p95", "ttft; tpot"} {
		if f, err := ParseFigure(text); err == nil {
			t.Errorf("%q is the figure %q", text, f.Text)
		}
	}
}
