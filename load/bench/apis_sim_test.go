package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// askSim sends one request of an API to a simulator of known pace, in virtual
// time: 20 ms, 0.1 ms a token of the prompt, 6 ms a token.
func askSim(t *testing.T, a *api.API, cfg sim.Config, stream bool, directive string) *timeline.Timeline {
	t.Helper()
	return askSimAt(t, "http://sim", a, cfg, stream, directive)
}

func askSimAt(t *testing.T, url string, a *api.API, cfg sim.Config, stream bool, directive string) *timeline.Timeline {
	t.Helper()
	tl := timeline.New()
	synctest.Test(t, func(t *testing.T) {
		cfg.Overhead, cfg.PrefillPerToken = 20*time.Millisecond, 100*time.Microsecond
		cfg.DecodeBase, cfg.DecodePerSeq = 5*time.Millisecond, time.Millisecond
		cfg.Base = time.Now()
		s, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		c, err := client.New(client.Config{BaseURL: url, API: a, Dial: ln.Dial, Form: client.PlainForm,
			Header: http.Header{"X-Sim": {directive}}, Stream: api.StreamOptions{KeepText: true}})
		if err != nil {
			t.Fatal(err)
		}
		c.Do(t.Context(), &api.Request{Model: "m", Stream: stream, MaxTokens: timeline.Some(int64(5)),
			Messages: []api.Message{{Role: "user", Content: strings.Repeat("word ", 10)}}}, tl)
		c.Close()
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return tl
}

// untoldUsage are the APIs whose streams say nothing of what they counted.
var untoldUsage = map[*api.API]bool{api.Triton: true}

// Every API, from the request to the record, over real HTTP: each token when it
// was due, each count as it was.
func TestEveryAPIOfTheSimulator(t *testing.T) {
	for _, a := range api.All {
		if a.Product().Lengthless() || a.Build == nil {
			continue // see TestBatchesOfTexts, TestSpeech, TestTranscription and TestWebSocketOfTheSimulator
		}
		for _, reasoning := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s, %d of reasoning", a.Name, reasoning), func(t *testing.T) {
				tl := askSim(t, a, sim.Config{Reasoning: reasoning}, true, "")
				if tl.Outcome != timeline.OK {
					t.Fatalf("%s: %v", tl.Outcome, tl.Error)
				}
				var at, want []int64
				for ev := range tl.Events.All() {
					if ev.Kind.Bears() {
						at = append(at, ev.AtUS)
					}
				}
				for i := range int64(5) {
					want = append(want, 21_000+6_000*i)
				}
				if fmt.Sprint(at) != fmt.Sprint(want) {
					t.Errorf("tokens at %v µs, want %v", at, want)
				}
				if in, out := tl.Usage.Input.Or(-1), tl.Usage.Output.Or(-1); !untoldUsage[a] && (in != 10 || out != 5) {
					t.Errorf("usage %+v", tl.Usage)
				}
				if words := len(strings.Fields(tl.Text + " " + tl.Thought)); words != len(want) {
					t.Errorf("%d words: %q, %q", words, tl.Text, tl.Thought)
				}
				if tl.Flags != 0 {
					t.Errorf("flags %v", tl.Flags.Names())
				}
			})
		}
		t.Run(a.Name+", whole", func(t *testing.T) {
			if a == api.TGI {
				t.Skip("the simulator's /generate is SGLang's")
			}
			tl := askSim(t, a, sim.Config{}, false, "")
			if tl.Outcome != timeline.OK || tl.Streamed || len(strings.Fields(tl.Text)) != 5 {
				t.Errorf("%s %v: %q, streamed %v", tl.Outcome, tl.Error, tl.Text, tl.Streamed)
			}
			if in, out := tl.Usage.Input.Or(-1), tl.Usage.Output.Or(-1); !untoldUsage[a] && (in != 10 || out != 5) {
				t.Errorf("usage %+v", tl.Usage)
			}
			if last := tl.Events.LastUS(); last != 45_000 {
				t.Errorf("came at %d µs", last)
			}
		})
		for fault, want := range map[string]timeline.Outcome{
			"cut": timeline.StreamTruncated, "error": timeline.StreamError,
		} {
			t.Run(a.Name+", "+fault, func(t *testing.T) {
				tl := askSim(t, a, sim.Config{}, true, "fault="+fault+":after=3")
				n := 0
				for range tl.Events.Generation() {
					n++
				}
				if tl.Outcome != want || n != 3 {
					t.Errorf("%s (%v) after %d tokens, want %s after 3", tl.Outcome, tl.Error, n, want)
				}
			})
		}
	}
}
