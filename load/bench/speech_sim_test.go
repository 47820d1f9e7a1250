package bench

import (
	"math"
	"net/http"
	"testing"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// playback is how long a player waits, and how often, that begins with the first of
// some frames.
func playback(at []float64, frameMS float64) (waitedMS float64, waits int64) {
	clock := at[0]
	for _, came := range at {
		if came > clock+1e-9 {
			waitedMS, waits, clock = waitedMS+came-clock, waits+1, came
		}
		clock += frameMS
	}
	return waitedMS, waits
}

// Speech, from the request to the summary: when the first sound came, how long it
// plays, and whether a player starves, in each form that a server may send.
func TestSpeech(t *testing.T) {
	const frameMS = 80.0
	objectives, err := objective.ParseAll([]string{"p95 ttfa < 300ms", "rtf < 0.5", "chars per s > 1", "starved < 10s", "p50 ttft < 1ms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		extra   map[string]any
		step    time.Duration
		starves bool
	}{
		{"wav", nil, 20 * time.Millisecond, false},
		{"wav, slower than it plays", nil, 100 * time.Millisecond, true},
		{"pcm", map[string]any{"response_format": "pcm"}, 30 * time.Millisecond, false},
		{"events", map[string]any{"stream_format": "sse"}, 90 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, records, known := benchSim(t, Plan{
				Load:       Load{Concurrency: 2, Requests: 20, Warmup: Warmup{Off: true}},
				Content:    Content{InputTokens: "20", Extra: c.extra},
				Conditions: Conditions{Objectives: objectives, AllowLowN: true},
				Client:     client.Config{API: api.Speech},
			}, sim.Config{DecodeBase: c.step, RoleEarly: true})
			if len(records) != 20 {
				t.Fatalf("%d records", len(records))
			}
			var chars, window, sound float64
			for _, rec := range records {
				if rec.Outcome != timeline.OK {
					t.Fatalf("%s: %v", rec.Outcome, rec.Error)
				}
				is := known[rec.ID]
				var at []float64
				for _, ns := range is.WriteNS {
					at = append(at, float64(ns-is.ReceivedNS)/1e6)
				}
				length := float64(len(at)) * frameMS
				near(t, "TTFA", rec.TTFAMS.Or(-1), at[0])
				near(t, "E2E", rec.E2EMS.Or(-1), at[len(at)-1])
				near(t, "seconds of sound", rec.AudioS.Or(-1), length/1000)
				near(t, "RTF", rec.RTF.Or(-1), at[len(at)-1]/length)
				waited, waits := playback(at, frameMS)
				near(t, "starved", rec.StarvedMS.Or(-1), waited)
				if rec.Starvations.Or(-1) != waits || c.starves != (waits > 0) {
					t.Errorf("%d starvations, want %d", rec.Starvations.Or(-1), waits)
				}
				if rec.AudioBytesPerS.Or(0) != 2*sim.SpeechHz || rec.TTFTMS.OK() || rec.TPOTMS.OK() || rec.ICLMS != nil || rec.Flags != 0 {
					t.Errorf("rate %v, flags %v, TTFT %v, gaps %v", rec.AudioBytesPerS, rec.Flags.Names(), rec.TTFTMS, rec.ICLMS)
				}
				chars, sound = chars+float64(rec.InputChars.Or(0)), sound+rec.AudioS.Or(0)
				window = max(window, 1000*rec.DueS+rec.E2EMS.Or(0))
			}
			near(t, "characters/s", done.Throughput.CharsPerS.Or(-1), chars/window*1000)
			near(t, "sound/s", done.Throughput.AudioPerS.Or(-1), sound/window*1000)
			if !done.Speaks() || !done.Wordless() || done.Metrics["ttft_ms"].N > 0 || math.IsNaN(sound) {
				t.Errorf("figures of words")
			}
			for i, o := range done.Goodput.Objectives {
				want := []string{objective.Met, objective.Met, objective.Met, objective.Met, objective.Open}[i]
				if i == 1 && c.starves { // slower than half of its time
					want = objective.Missed
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

// Sound that stops for longer than the limit between tokens is given up; the wait for the
// first of it has limits of its own.
func TestSpeechThatStops(t *testing.T) {
	_, records, _ := benchSim(t, Plan{
		Load:    Load{Concurrency: 1, Requests: 20, Warmup: Warmup{Off: true}},
		Content: Content{InputTokens: "20"},
		Client:  client.Config{API: api.Speech, IdleTimeout: 300 * time.Millisecond, Header: http.Header{"X-Sim": {"ttft=1s"}}},
	}, sim.Config{DecodeBase: 20 * time.Millisecond, Faults: []sim.Fault{{Kind: sim.FaultStall, Rate: 0.5, After: 2, For: 2 * time.Second}}})
	n := map[timeline.Outcome]int{}
	for i := range records {
		n[records[i].Outcome]++
	}
	if n[timeline.OK] < 3 || n[timeline.TimeoutIdle] < 3 || n[timeline.OK]+n[timeline.TimeoutIdle] != 20 {
		t.Errorf("%v", n)
	}
}
