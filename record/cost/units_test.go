package cost

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// What is billed by pictures, minutes and characters. The prices are those that OpenAI
// published for dall-e-3 (1024×1024, standard), whisper-1 and tts-1.
func TestUnits(t *testing.T) {
	p, err := Read(strings.NewReader(`models:
  dall-e-3: {image: 0.04}
  whisper-1: {audio_minute: 0.006}
  tts-1: {million_characters: 15}
  both: {image: 0.01, input: 5, output: 40}
`), "prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := func(v int64) timeline.Opt[int64] { return timeline.Some(v) }
	for _, c := range []struct {
		name, api, model string
		change           func(*timeline.Timeline)
		usd              float64 // −1: not known
		lacks            string
	}{
		{"3 pictures", "images", "dall-e-3", func(tl *timeline.Timeline) { tl.Images = n(3) }, 0.12, ""},
		{"30 s written down", "transcription", "whisper-1", func(tl *timeline.Timeline) { tl.AudioUS = n(30e6) }, 0.003, ""},
		{"2,000 characters", "speech", "tts-1", func(tl *timeline.Timeline) { tl.Chars = n(2000) }, 0.03, ""},
		{"a picture and tokens", "images", "both", func(tl *timeline.Timeline) {
			tl.Images, tl.Usage.Input, tl.Usage.Output = n(1), n(100), n(272)
		}, 0.01 + 5e-4 + 272*40e-6, ""},
		{"a picture without the tokens", "images", "both", func(tl *timeline.Timeline) { tl.Images = n(1) }, -1, lacksUsage},
		{"sound of unknown length", "transcription", "whisper-1", func(*timeline.Timeline) {}, -1, lacksSound},
		{"a proxy does not count characters", "speech", "tts-1", func(*timeline.Timeline) {}, -1, lacksCharacters},
		{"words of a model that draws", "openai-chat", "dall-e-3", func(tl *timeline.Timeline) { tl.Usage.Input, tl.Usage.Output = n(1), n(1) }, -1, "input"},
		{"a failure", "images", "dall-e-3", func(tl *timeline.Timeline) { tl.Images = n(1); tl.Fail(timeline.StreamError, "x") }, -1, lacksImages},
		{"refused", "images", "dall-e-3", func(tl *timeline.Timeline) { tl.Images = n(1); tl.Fail(timeline.HTTP4xx, "x") }, 0, ""},
	} {
		tl := timeline.New()
		tl.API, tl.Model, tl.Outcome = c.api, c.model, timeline.OK
		c.change(tl)
		usd, lacks := p.price(tl)
		if math.Abs(usd.Or(-1)-c.usd) > 1e-12 || lacks != c.lacks {
			t.Errorf("%s: $%v, lacks %q; want $%v, %q", c.name, usd, lacks, c.usd, c.lacks)
		}
		tally := NewTally(p)
		tally.Add(tl)
		if cost := tally.Cost(&metric.Summary{}); math.Abs(cost.USDTotal.Or(-1)-c.usd) > 1e-12 || c.usd > 0 && strings.Contains(cost.Basis, "token") {
			t.Errorf("%s: %+v", c.name, cost)
		}
	}
	for text, want := range map[string]string{
		"models: {m: {image: -1}}":                                        "no price",
		"per_million: {input: 1, long: [{above: 5, input: 2, image: 3}]}": "no price by the length of a prompt",
		"models: {m: {cached_read: 1}}":                                   "nor one of pictures",
	} {
		if _, err := Read(strings.NewReader(text), "p.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", text, err, want)
		}
	}
}
