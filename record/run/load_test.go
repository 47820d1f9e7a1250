package run

import (
	"testing"

	"tokenmeter/record/timeline"
)

// A load is told with all that makes it another, each with its unit: the levels of stages
// are rates, or in a closed loop streams.
func TestLoadWords(t *testing.T) {
	n, x := timeline.Some[int64], timeline.Some[float64]
	for want, l := range map[string]Load{
		"":          {},
		"open":      {Kind: "open"},
		"2 streams": {Kind: "closed", Concurrency: n(2), Arrival: "closed"},
		"2 streams, at most 1 before the first token":        {Kind: "closed", Concurrency: n(2), PrefillConcurrency: n(1)},
		"1 stream, at least 0.5 s between a user's requests": {Kind: "closed", Concurrency: n(1), PaceS: x(0.5)},
		"5 requests/s, poisson":                              {Kind: "open", RatePerS: x(5), Arrival: "poisson"},
		"5 requests/s, constant, at most 3 at once":          {Kind: "open", RatePerS: x(5), Arrival: "constant", Concurrency: n(3)},
		"stages 1s@5 requests/s, poisson":                    {Kind: "open", Stages: "1s@5", Arrival: "poisson"},
		"stages 1s@5 streams":                                {Kind: "closed", Stages: "1s@5", Arrival: "closed"},
		"5 requests/s, gamma, burstiness 0.5":                {Kind: "open", RatePerS: x(5), Arrival: "gamma", Burstiness: x(0.5)},
		"trace, at its own speed, from 60 s to 120 s":        {Kind: "open", Arrival: "trace", Speed: x(1), FromS: x(60), ToS: x(120)},
		"trace, 2 times as fast, at most 3 at once":          {Kind: "open", Arrival: "trace", Speed: x(2), Concurrency: n(3)},
		"trace, at its own speed":                            {Kind: "open", Arrival: "trace", Speed: x(1)},
		"stages 1s@2,1s@4 streams":                           {Kind: "closed", Stages: "1s@2,1s@4", Concurrency: n(4)}, // its most
	} {
		if got := l.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run's own line says which loop it is, and is empty where nobody knows.
func TestLoadLine(t *testing.T) {
	n, x := timeline.Some[int64], timeline.Some[float64]
	for want, l := range map[string]Load{
		"":                        {},
		"closed":                  {Kind: "closed"},
		"closed loop of 1 stream": {Kind: "closed", Concurrency: n(1)},
		"closed loop of 8 streams, at most 2 before the first token":       {Kind: "closed", Concurrency: n(8), PrefillConcurrency: n(2)},
		"closed loop of 8 streams, at least 2 s between a user's requests": {Kind: "closed", Concurrency: n(8), PaceS: x(2)},
		"closed loop, stages 4s@2,4s@4 streams":                            {Kind: "closed", Concurrency: n(4), Stages: "4s@2,4s@4"},
		"open loop, stages 4s@2 requests/s, at most 3 at once":             {Kind: "open", Concurrency: n(3), Stages: "4s@2"},
		"open loop, 5 requests/s, poisson":                                 {Kind: "open", RatePerS: x(5), Arrival: "poisson"},
		"open loop, 5 requests/s, constant + 5 requests/s, poisson":        {Kind: "open", Together: []string{"5 requests/s, constant", "5 requests/s, poisson"}},
	} {
		if got := l.Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Further tries are told with their budget, and not at all where nobody knows.
func TestFurtherTries(t *testing.T) {
	n, x := timeline.Some[int64], timeline.Some[float64]
	for want, l := range map[string]Load{
		"":                                {},
		"no further attempt":              {Retries: n(0)},
		"at most 1 further attempt":       {Retries: n(1)},
		"at most 3 further attempts each": {Retries: n(3)},
		"at most 3 further attempts each, all together for 20 % of the requests": {Retries: n(3), RetryBudget: x(0.2)},
	} {
		if got := l.FurtherTries(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
