package view

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

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
