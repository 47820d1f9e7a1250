package bench

import (
	"testing"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// Pictures, from the request to the summary: when the first was seen, when the last was
// finished, how many and how large they are, as a whole and in steps.
func TestPictures(t *testing.T) {
	objectives, err := objective.ParseAll([]string{"p95 ttfi < 600s", "p95 e2e < 600s", "images per s > 0.0001", "p50 ttft < 1ms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		extra   map[string]any
		n       int64 // pictures
		patches int   // of one: tokens
		first   int   // token with which the first picture is seen; −1: none is before the end
		chunks  int64
		size    string
	}{
		{"whole", map[string]any{"size": "256x128"}, 1, 8, -1, 1, "256x128"},
		{"three of medium quality, whole", map[string]any{"size": "128x128", "n": 3, "quality": "medium"}, 3, 16, -1, 3, "128x128"},
		{"stream", map[string]any{"size": "512x512", "partial_images": 0}, 1, 64, 63, 1, "512x512"},
		{"stream with two on the way", map[string]any{"size": "192x192", "partial_images": 2}, 1, 9, 2, 3, "192x192"},
		{"two with one on the way each", map[string]any{"size": "128x128", "partial_images": 1, "n": 2.0}, 2, 4, 1, 4, "128x128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, records, known := benchSim(t, Plan{
				Load:       Load{Concurrency: 2, Requests: 10, Warmup: Warmup{Off: true}},
				Content:    Content{InputTokens: "20", Extra: c.extra},
				Conditions: Conditions{Objectives: objectives, AllowLowN: true},
				Client:     client.Config{API: api.Images},
			}, sim.Config{DecodeBase: 20 * time.Millisecond, RoleEarly: true})
			if len(records) != 10 {
				t.Fatalf("%d records", len(records))
			}
			var pictures, window float64
			for _, rec := range records {
				if rec.Outcome != timeline.OK {
					t.Fatalf("%s: %v", rec.Outcome, rec.Error)
				}
				is := known[rec.ID]
				at := func(token int) float64 { return float64(is.WriteNS[token]-is.ReceivedNS) / 1e6 }
				if len(is.WriteNS) != int(c.n)*c.patches {
					t.Fatalf("%d tokens, want %d", len(is.WriteNS), int(c.n)*c.patches)
				}
				near(t, "E2E", rec.E2EMS.Or(-1), at(len(is.WriteNS)-1))
				if c.first >= 0 {
					near(t, "TTFI", rec.TTFIMS.Or(-1), at(c.first))
				} else if rec.TTFIMS.OK() {
					t.Errorf("TTFI %v of a whole reply", rec.TTFIMS)
				}
				if rec.Images.Or(0) != c.n || rec.Chunks.Or(0) != c.chunks || rec.ImageSize == nil || *rec.ImageSize != c.size {
					t.Errorf("%v pictures in %v events, of %v", rec.Images, rec.Chunks, rec.ImageSize)
				}
				if rec.OutputTokens.Or(0) != c.n*int64(c.patches) || rec.TTFTMS.OK() || rec.TPOTMS.OK() || rec.ICLMS != nil || rec.Flags != 0 {
					t.Errorf("tokens %v, flags %v, TTFT %v, gaps %v", rec.OutputTokens, rec.Flags.Names(), rec.TTFTMS, rec.ICLMS)
				}
				pictures += float64(rec.Images.Or(0))
				window = max(window, 1000*rec.DueS+rec.E2EMS.Or(0))
			}
			near(t, "pictures/s", done.Throughput.ImagesPerS.Or(-1), pictures/window*1000)
			if !done.Draws() || !done.Wordless() || done.Speaks() || done.Metrics["ttft_ms"].N > 0 {
				t.Errorf("figures of words")
			}
			for i, o := range done.Goodput.Objectives {
				want := []string{objective.Met, objective.Met, objective.Met, objective.Open}[i]
				if i == 0 && c.first < 0 {
					want = objective.Open
				}
				if o.State != want && o.Met.Or(want == objective.Met) != (want == objective.Met) {
					t.Errorf("%s: %s, want %s", o.Text, o.State, want)
				}
			}
			for _, c := range done.Validity.Checks {
				if c.Verdict == "invalid" && c.Name != "cpu_busy" && c.Name != "steal" {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}
