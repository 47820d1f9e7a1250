package view

import (
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// A row without values says why: of reasoning that nobody tells the share of, two tokens
// may well have arrived apart.
func TestWhyNoTPOT(t *testing.T) {
	for flag, want := range map[string]string{"hidden_reasoning": "TPOT: how much of the reasoning", "burst": "TPOT: every answer came in one burst", "": "TPOT: no answer had two tokens"} {
		var r run.Run
		r.Requests.OK, r.Requests.Flags = 6, map[string]int64{flag: 6}
		if got := whyMissing(&r, "tpot_ms", "TPOT", metric.Dist{}); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", flag, got)
		}
	}
}
