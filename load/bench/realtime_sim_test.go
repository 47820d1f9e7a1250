package bench

import (
	"fmt"
	"testing"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// Speech on both sides, from the request to the summary. Of every four tokens the first
// is a word of the transcript and three are sound of 80 ms, so when the first of each
// came and how long a player waits are known.
func TestRealtimeSpeaksOfTheSimulator(t *testing.T) {
	const frameMS = 80.0
	audio := map[string]any{"output_modalities": []string{"audio"}}
	for _, c := range []struct {
		name    string
		step    time.Duration
		starves bool
	}{
		{"faster than it plays", 20 * time.Millisecond, false},
		{"slower than it plays", 70 * time.Millisecond, true}, // 240 ms of sound in 280 ms
	} {
		t.Run(c.name, func(t *testing.T) {
			done, records, known := benchSim(t, Plan{
				Load:       Load{Concurrency: 1, Requests: 20, Warmup: Warmup{Off: true}},
				Content:    Content{InputTokens: "20", OutputTokens: "40", IgnoreEOS: true, Extra: audio},
				Conditions: Conditions{AllowLowN: true},
				Client:     client.Config{API: api.Realtime},
			}, sim.Config{DecodeBase: c.step})
			if len(records) != 20 || done.Requests.OK != 20 {
				t.Fatalf("%d records", len(records))
			}
			for i := range records {
				rec := &records[i]
				is := known[fmt.Sprintf("sim-%d", i+1)] // a message has no id of the client's
				var at, sound []float64
				for i, ns := range is.WriteNS {
					ms := float64(ns-is.ReceivedNS) / 1e6
					if at = append(at, ms); i%4 != 0 {
						sound = append(sound, ms)
					}
				}
				near(t, "TTFT", rec.TTFTMS.Or(-1), at[0])
				near(t, "TTFA", rec.TTFAMS.Or(-1), sound[0])
				near(t, "E2E", rec.E2EMS.Or(-1), at[len(at)-1])
				near(t, "TPOT", rec.TPOTMS.Or(-1), (at[len(at)-1]-at[0])/39)
				near(t, "seconds of sound", rec.AudioS.Or(-1), 30*frameMS/1000)
				near(t, "RTF", rec.RTF.Or(-1), at[len(at)-1]/(30*frameMS))
				waited, waits := playback(sound, frameMS)
				near(t, "starved", rec.StarvedMS.Or(-1), waited)
				if rec.Starvations.Or(-1) != waits || c.starves != (waits > 0) {
					t.Errorf("%d starvations, want %d", rec.Starvations.Or(-1), waits)
				}
				if rec.InputTokens.Or(0) != 20 || rec.OutputTokens.Or(0) != 40 || rec.Chunks.Or(0) != 40 || len(rec.ITLMS) != 39 || rec.Flags != 0 {
					t.Errorf("%v tokens in, %v out in %v events, %d gaps, flags %v", rec.InputTokens, rec.OutputTokens, rec.Chunks, len(rec.ITLMS), rec.Flags.Names())
				}
			}
			if !done.Speaks() || done.Wordless() || done.Metrics["ttft_ms"].N != 20 || done.Metrics["ttfa_ms"].N != 20 || !done.Throughput.AudioPerS.OK() {
				t.Error("the figures of sound stand beside those of words")
			}
		})
	}
}

// What is heard is 10 tokens a second, and the answer is text, whose real-time factor is
// of what was sent.
func TestRealtimeHearsOfTheSimulator(t *testing.T) {
	sounds, err := workload.NewSounds("2", 1, "s")
	if err != nil {
		t.Fatal(err)
	}
	done, records, _ := benchSim(t, Plan{
		Load:       Load{Concurrency: 1, Requests: 5, Warmup: Warmup{Off: true}},
		Content:    Content{Workload: sounds},
		Conditions: Conditions{AllowLowN: true},
		Client:     client.Config{API: api.Realtime},
	}, sim.Config{DecodeBase: 10 * time.Millisecond, OutputTokens: 5})
	if len(records) != 5 {
		t.Fatalf("%d records", len(records))
	}
	for i := range records {
		rec := &records[i]
		if rec.Outcome != timeline.OK || rec.InputTokens.Or(0) != 20 || rec.OutputTokens.Or(0) != 5 || rec.AudioS.Or(0) != 2 || rec.TTFAMS.OK() {
			t.Errorf("%s %v: %v tokens in, %v out, %v s of sound", rec.Outcome, rec.Error, rec.InputTokens, rec.OutputTokens, rec.AudioS)
		}
		near(t, "TTFT", rec.TTFTMS.Or(-1), 20+2)
		near(t, "RTF", rec.RTF.Or(-1), (20+2+4*10)/2000.0)
	}
	if !done.Hears() || done.Speaks() {
		t.Error(fmt.Sprint("hears ", done.Hears(), ", speaks ", done.Speaks()))
	}
}
