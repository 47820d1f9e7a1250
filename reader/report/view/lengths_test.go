package view

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Where no single distribution was asked for, as of tasks and mixes, the mean is told;
// of answers only where each had one.
func TestLengthsThatWereAsked(t *testing.T) {
	of := func(n int64, v float64) metric.Dist { return metric.Dist{N: n, Mean: timeline.Some(v)} }
	for _, c := range []struct {
		asked metric.Dist
		w     run.Workload
		want  string
	}{
		{of(4, 128), run.Workload{}, "20.0 tokens in, 32.0 tokens out (asked: 128), on average"},
		{of(4, 127.5), run.Workload{AskedInput: timeline.Some(19.25)}, "20.0 tokens in (asked: 19.2), 32.0 tokens out (asked: 128), on average"},
		{of(4, 128), run.Workload{InputTokens: "uniform:1,40", OutputTokens: "128"}, "20.0 tokens in (asked: uniform:1,40), 32.0 tokens out (asked: 128), on average"},
		{of(3, 128), run.Workload{}, "20.0 tokens in, 32.0 tokens out, on average"},
		{metric.Dist{}, run.Workload{}, "20.0 tokens in, 32.0 tokens out, on average"},
	} {
		r := &run.Run{Workload: c.w, Summary: metric.Summary{Metrics: map[string]metric.Dist{"input_tokens": of(4, 20), "output_tokens": of(4, 32), "requested_tokens": c.asked}}}
		if got := lengths(r); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What was asked for is asked of each choice of an answer, and an answer has them all.
func TestLengthsOfChoices(t *testing.T) {
	r := &run.Run{Workload: run.Workload{OutputTokens: "32"}, Summary: metric.Summary{
		Metrics:  map[string]metric.Dist{"output_tokens": {N: 4, Mean: timeline.Some(96.0)}},
		Requests: metric.Requests{ITLLeftOut: map[string]int64{"several_choices": 4}}}}
	if got, want := lengths(r), "96.0 tokens out (asked: 32 a choice), on average"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run.json may come from anybody: what is sent to be looked at may have a size and no
// count.
func TestLengthsOfMedia(t *testing.T) {
	mean := func(v float64) metric.Dist { return metric.Dist{N: 1, Mean: timeline.Some(v)} }
	for _, c := range []struct {
		metrics map[string]metric.Dist
		want    string
	}{
		{map[string]metric.Dist{"input_images": mean(2), "input_media_bytes": mean(3e6)}, "2.00 pictures (3.00 MB), on average"},
		{map[string]metric.Dist{"input_media_bytes": mean(3e6), "media_tokens": mean(500)}, "3.00 MB and 500 tokens of media, on average"},
		{map[string]metric.Dist{"input_media_bytes": mean(3e6), "input_chars": mean(400)}, "400 characters in, 3.00 MB of media, on average"},
	} {
		if got := lengths(&run.Run{Summary: metric.Summary{Metrics: c.metrics}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
