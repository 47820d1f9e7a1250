package bench

import (
	"testing"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// Pictures to look at: how many and how large they are, what they weigh, what the server
// counts for them, and that their tokens delay the first of the answer.
func TestPicturesToLookAt(t *testing.T) {
	objectives, err := objective.ParseAll([]string{"p95 ttft < 600s", "images per s > 0.0001"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "20", Output: "5",
		Images: &workload.ImagesSpec{Count: "2", Width: 256, Height: 130}, Video: &workload.VideoSpec{Seconds: 2, ImagesSpec: workload.ImagesSpec{Width: 8, Height: 8}}}}, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const perPicture = 4 * 3 // squares of 64 × 64
	done, records, known := benchSim(t, Plan{
		Load:       Load{Concurrency: 2, Requests: 10, Warmup: Warmup{Off: true}},
		Content:    Content{Workload: l},
		Conditions: Conditions{Objectives: objectives, AllowLowN: true},
		Client:     client.Config{API: api.OpenAIChat},
	}, sim.Config{DecodeBase: 20 * time.Millisecond, RoleEarly: true})
	if len(records) != 10 {
		t.Fatalf("%d records", len(records))
	}
	var bytes int64
	for _, m := range l.Item(0).Messages[0].Images {
		bytes += int64(len(m.Data))
	}
	for _, rec := range records {
		if rec.Outcome != timeline.OK {
			t.Fatalf("%s: %v", rec.Outcome, rec.Error)
		}
		if rec.Images.OK() || rec.InputImages.Or(0) != 2 || rec.InputVideos.Or(0) != 1 || rec.InputMediaBytes.Or(0) != bytes || rec.ImageSize == nil || *rec.ImageSize != "256x130" {
			t.Errorf("%v pictures of %v, %v videos, %v bytes, want %d", rec.InputImages, rec.ImageSize, rec.InputVideos, rec.InputMediaBytes, bytes)
		}
		if rec.MediaTokens.Or(0) != 2*perPicture || rec.InputTokens.Or(0) < 20+2*perPicture {
			t.Errorf("%v of %v tokens are of pictures", rec.MediaTokens, rec.InputTokens)
		}
		is := known[rec.ID]
		near(t, "TTFT", rec.TTFTMS.Or(-1), float64(is.WriteNS[0]-is.ReceivedNS)/1e6)
		near(t, "TTFT by the length of the prompt", rec.TTFTMS.Or(-1), 20+0.1*float64(rec.InputTokens.Or(0)))
	}
	if done.Draws() || done.Wordless() || done.Metrics["ttft_ms"].N != 10 || done.Metrics["input_images"].N != 10 {
		t.Error("figures of answers that are pictures")
	}
	if made := done.Throughput.ImagesPerS; made.OK() {
		t.Errorf("%v pictures/s are made of those that were looked at", made)
	}
}
