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

// Sound that is written down, from the file to the summary: how much faster than it
// plays, and when the first text came; streamed and whole, counted in tokens and in
// seconds.
func TestTranscription(t *testing.T) {
	objectives, err := objective.ParseAll([]string{"p95 ttft < 10s", "rtf < 0.9", "audio s per s > 0.01"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		whole bool
		usage sim.UsageMode
	}{{"streamed", false, ""}, {"whole", true, ""}, {"streamed, by seconds", false, sim.UsageNone}} {
		t.Run(c.name, func(t *testing.T) {
			sounds, err := workload.NewSounds("uniform:1,4", 3, "s")
			if err != nil {
				t.Fatal(err)
			}
			done, records, known := benchSim(t, Plan{
				Load:       Load{Concurrency: 2, Requests: 12, Warmup: Warmup{Off: true}},
				Content:    Content{Workload: sounds, NoStream: c.whole},
				Conditions: Conditions{Objectives: objectives, AllowLowN: true},
				Client:     client.Config{API: api.Transcription},
			}, sim.Config{DecodeBase: 10 * time.Millisecond, Usage: c.usage})
			if len(records) != 12 {
				t.Fatalf("%d records", len(records))
			}
			var heard, window float64
			for _, rec := range records {
				if rec.Outcome != timeline.OK {
					t.Fatalf("%s: %v", rec.Outcome, rec.Error)
				}
				is := known[rec.ID]
				seconds := float64(is.OutputTokens) / sim.SaidTokens
				near(t, "seconds of sound", rec.AudioS.Or(-1), seconds)
				end := float64(is.WriteNS[len(is.WriteNS)-1]-is.ReceivedNS) / 1e6
				near(t, "E2E", rec.E2EMS.Or(-1), end)
				near(t, "RTF", rec.RTF.Or(-1), end/1000/seconds)
				if !c.whole {
					near(t, "time to first text", rec.TTFTMS.Or(-1), float64(is.WriteNS[0]-is.ReceivedNS)/1e6)
				}
				if rec.TTFTMS.OK() == c.whole || rec.TTFAMS.OK() || rec.StarvedMS.OK() || rec.RequestedTokens.OK() {
					t.Errorf("TTFT %v, TTFA %v, starved %v, asked %v", rec.TTFTMS, rec.TTFAMS, rec.StarvedMS, rec.RequestedTokens)
				}
				if c.usage == "" && (rec.InputTokens.Or(0) != int64(is.PromptTokens) || rec.OutputTokens.Or(0) != int64(is.OutputTokens)) {
					t.Errorf("%v in, %v out; were %d, %d", rec.InputTokens, rec.OutputTokens, is.PromptTokens, is.OutputTokens)
				}
				heard += seconds
				window = max(window, 1000*rec.DueS+rec.E2EMS.Or(0))
			}
			near(t, "sound/s", done.Throughput.AudioPerS.Or(-1), heard/window*1000)
			if done.Wordless() || done.Speaks() || done.Workload.Kind != "sound" {
				t.Errorf("a workload of %q without words", done.Workload.Kind)
			}
			for i, o := range done.Goodput.Objectives {
				if met := o.Met.Or(false); !met && !(c.whole && i == 0) {
					t.Errorf("%s: %s", o.Text, o.State)
				}
			}
		})
	}
}

// Sound goes only to what writes it down.
func TestSoundThatCannotBe(t *testing.T) {
	sounds, err := workload.NewSounds("1", 3, "s")
	if err != nil {
		t.Fatal(err)
	}
	for a, content := range map[*api.API]Content{api.OpenAIChat: {Workload: sounds}, api.Transcription: {Prompt: "x"}} {
		if _, err := Run(t.Context(), Plan{Content: content, Client: client.Config{API: a, BaseURL: "http://127.0.0.1:1"}}); err == nil {
			t.Errorf("%s takes %+v", a.Name, content)
		}
	}
}
