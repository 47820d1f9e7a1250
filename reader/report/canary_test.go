package report

import (
	"io"
	"strings"
	"testing"

	"tokenmeter/reader/compare"
	"tokenmeter/record/timeline"
)

// A canary that ends before it could tell says how many requests that takes,
// and one of doubtful runs says so first.
func TestCanarySaysWhatItLacks(t *testing.T) {
	c, err := compare.NewCanary(compare.CanaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Canary{Baseline: "a", Canary: "b", Verdict: compare.Continue, Requests: [2]int64{64, 64}, Figures: c.Figures(),
		Validity: SeveralValidity{Verdict: "invalid", Says: "2 of 2 runs INVALID."}}
	var b strings.Builder
	if err := r.Terminal(&b); err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]Canary{
		"The canary b is WORSE than a, after 90 and 6 requests, 60 s: it answered nothing in the last 59 s.":        {Verdict: compare.CanaryWorse},
		"The canary b is better than a, after 90 and 6 requests, 60 s: that one answered nothing in the last 59 s.": {Verdict: compare.CanaryBetter},
	} {
		r.Baseline, r.Canary, r.Requests, r.TookS, r.SilentS = "a", "b", [2]int64{90, 6}, 60, 59
		if got := r.sentence(); got != want {
			t.Error(got)
		}
	}
	for _, want := range []string{"2 of 2 runs INVALID.\n\nNot settled: ", "Before 960 answered requests a side nothing can be said of ttft_ms and tpot_ms."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// A share and its interval are in points of one, and shown in percentage points, both; of
// latencies both are in percent.
func TestCanaryFiguresAndTheirIntervals(t *testing.T) {
	r := &Canary{Baseline: "a", Canary: "b", Verdict: compare.CanaryWorse, Figures: []compare.CanaryFigure{
		{Metric: "good", State: compare.CanaryWorse, Diff: timeline.Some(-0.12), CI: &[2]float64{-0.2, -0.05}, N: [2]int64{900, 901}},
		{Metric: "ttft_ms", State: compare.Continue, Diff: timeline.Some(4.0), CI: &[2]float64{-1, 9}, N: [2]int64{900, 901}},
		{Metric: "tpot_ms", State: compare.Continue},
	}}
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  []string
	}{
		"terminal": {r.Terminal, []string{"-12.0 pp  [-20.0, -5.0]", "+4.0 %  [-1.0, +9.0]"}},
		"markdown": {r.Markdown, []string{"| good | -12.0 pp | [-20.0, -5.0] | worse | 900 + 901 |", "| tpot_ms | – | – | not settled | 0 + 0 |"}},
		"csv":      {r.CSV, []string{"metric,diff,lo,hi,verdict,n_a,n_b\ngood,-12.0,-20.0,-5.0,worse,900,901\nttft_ms,+4.0,-1.0,+9.0,continue,900,901\ntpot_ms,,,,continue,0,0\n"}},
		"json":     {r.JSON, []string{`"diff": -0.12`}},
	} {
		var b strings.Builder
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q:\n%s", name, want, b.String())
			}
		}
	}
}
