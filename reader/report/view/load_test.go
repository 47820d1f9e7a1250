package view

import (
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// The line of a run names all that shaped its load.
func TestLoadWords(t *testing.T) {
	n, s := timeline.Some[int64], timeline.Some[float64]
	for want, l := range map[string]run.Load{
		"closed loop of 8 streams":                                             {Kind: "closed", Concurrency: n(8)},
		"closed loop of 1 stream, at most 2 before the first token":            {Kind: "closed", Concurrency: n(1), PrefillConcurrency: n(2)},
		"closed loop of 8 streams, at least 2 s between a user's requests":     {Kind: "closed", Concurrency: n(8), PaceS: s(2)},
		"closed loop, stages 4s@2,4s@4 streams":                                {Kind: "closed", Concurrency: n(4), Stages: "4s@2,4s@4"},
		"open loop, stages 4s@2 requests/s, at most 3 at once":                 {Kind: "open", Concurrency: n(3), Stages: "4s@2"},
		"open loop, 5.00 requests/s poisson, at most 1 before the first token": {Kind: "open", RatePerS: s(5), Arrival: "poisson", PrefillConcurrency: n(1)},
		"open loop, stages 4s@2 requests/s":                                    {Kind: "open", Stages: "4s@2"},
	} {
		if got := LoadWords(&run.Run{Load: l}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
