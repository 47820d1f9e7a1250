package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// B18: 100 answers without usage that re-tokenise to 128 tokens each, within
// 10 s. A BOS a request would make 12,900 of them.
func TestB18TokenizerCountsNoMarkers(t *testing.T) {
	var requests []made
	for i := range 100 {
		requests = append(requests, made{due: float64(i) * 100, ttft: 25, gap: 5, events: 16,
			set: func(tl *timeline.Timeline) {
				tl.Usage, tl.Tokenized = timeline.Usage{}, timeline.Some[int64](128)
			}})
	}
	s := collect(CollectorOpts{}, requests...).Summary()
	tokens := s.Metrics["output_tokens"]
	is(t, "all tokens", timeline.Some(tokens.Mean.Or(0)*float64(tokens.N)), 12_800)
	is(t, "tokens/s", s.Throughput.SystemOutputTPS, 1280)
	if len(s.Requests.TokenSources) != 1 || s.Requests.TokenSources[string(FromTokenizer)] != 100 {
		t.Errorf("sources %v", s.Requests.TokenSources)
	}
	if s.Requests.Flags["estimated"] != 100 {
		t.Errorf("flags %v", s.Requests.Flags)
	}
}
