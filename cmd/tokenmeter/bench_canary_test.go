package main

import (
	"strings"
	"testing"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
)

// A canary that ends before it could tell says how many requests that takes,
// and one of doubtful runs says so first.
func TestCanarySaysWhatItLacks(t *testing.T) {
	c, err := compare.NewCanary(compare.CanaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &canaryResult{Baseline: "a", Canary: "b", Verdict: compare.Continue, Requests: [2]int64{64, 64}, Figures: c.Figures(),
		Validity: report.SeveralValidity{Verdict: "invalid", Says: "2 of 2 runs INVALID."}}
	var b strings.Builder
	if err := r.show(&b, ""); err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]canaryResult{
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
