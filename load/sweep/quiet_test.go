package sweep

import (
	"strings"
	"testing"
	"time"
)

// An engine that stops in the middle, and still takes requests (vllm-project/vllm#1492, #2752):
// more time would show nothing else.
func TestAdviceOnAServerThatFellSilent(t *testing.T) {
	silent := Probe{Probed: Probed{Silent: true}}
	for want, probes := range map[string][]Probe{
		"answered nothing of the last 2 probes": {{Load: 1}, silent, silent},
		"Give more --max-time.":                 {{Load: 1}, silent, {Load: 2}},
	} {
		h := &hunt{Search: Search{MaxTime: time.Minute}, found: Found{Probes: probes, Why: "the time was up (1m0s)"}}
		if got := h.advice(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
