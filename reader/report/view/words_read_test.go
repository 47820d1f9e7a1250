package view

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func TestWordsRead(t *testing.T) {
	r := &run.Run{}
	if got := wordsRead(r); got != "" {
		t.Errorf("without texts it says %q", got)
	}
	r.Metrics = map[string]metric.Dist{
		"words_per_s":   {N: 20, P50: timeline.Some(48.0)},
		"output_words":  {N: 24, Mean: timeline.Some(75.0)},
		"output_tokens": {N: 24, Mean: timeline.Some(100.0)},
	}
	if got, want := wordsRead(r), "48.0 words/s for one reader (p50 of 20 answers), 0.750 words a token"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Metrics["output_tokens"] = metric.Dist{N: 23, Mean: timeline.Some(100.0)}
	if got, want := wordsRead(r), "48.0 words/s for one reader (p50 of 20 answers)"; got != want {
		t.Errorf("of other requests: %q, want %q", got, want)
	}
}
