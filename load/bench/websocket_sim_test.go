package bench

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A reply over a WebSocket: each token when it was due, and what goes wrong in the
// class that it has over HTTP.
func TestWebSocketOfTheSimulator(t *testing.T) {
	for name, c := range map[string]struct {
		cfg       sim.Config
		directive string
		outcome   timeline.Outcome
		tokens    int
	}{
		"plain":     {outcome: timeline.OK, tokens: 5},
		"reasoning": {cfg: sim.Config{Reasoning: 2}, outcome: timeline.OK, tokens: 5},
		"early":     {cfg: sim.Config{RoleEarly: true}, outcome: timeline.OK, tokens: 5},
		"pings":     {directive: "fault=ping:for=3ms", outcome: timeline.OK, tokens: 5},
		"split":     {directive: "fault=split:for=0s", outcome: timeline.OK, tokens: 5},
		"error":     {directive: "fault=error:after=3", outcome: timeline.StreamError, tokens: 3},
		"cut":       {directive: "fault=cut:after=3", outcome: timeline.StreamTruncated, tokens: 3},
		"no finish": {directive: "fault=no_finish:after=3", outcome: timeline.StreamTruncated, tokens: 3},
		"no done":   {directive: "fault=no_done", outcome: timeline.StreamTruncated, tokens: 5},
		"429":       {directive: "fault=429", outcome: timeline.StreamError},
		"a page":    {directive: "fault=html", outcome: timeline.StreamTruncated},
		"drop":      {directive: "fault=drop", outcome: timeline.ConnReset},
		"empty":     {directive: "fault=empty", outcome: timeline.EmptyOutput},
	} {
		for _, a := range []*api.API{api.OpenAIResponses, api.Realtime} {
			t.Run(a.Name+" "+name, func(t *testing.T) {
				tl := askSimAt(t, "ws://sim", a, c.cfg, true, c.directive)
				var at, want []int64
				for ev := range tl.Events.Generation() {
					at = append(at, ev.AtUS)
				}
				for i := range c.tokens {
					want = append(want, 21_000+6_000*int64(i))
				}
				if name == "split" { // a token's second half is a millisecond later, but for the last, behind which the end stands
					for i := range want[:4] {
						want[i] += 1000
					}
				}
				if tl.Outcome != c.outcome || fmt.Sprint(at) != fmt.Sprint(want) {
					t.Errorf("%s (%v) with tokens at %v, want %s at %v", tl.Outcome, tl.Error, at, c.outcome, want)
				}
				if c.outcome == timeline.OK && (tl.Usage.Input.Or(0) != 10 || tl.Usage.Output.Or(0) != 5 || tl.Flags != 0) {
					t.Errorf("usage %+v, flags %v", tl.Usage, tl.Flags.Names())
				}
				if c.outcome == timeline.OK && len(strings.Fields(tl.Text+" "+tl.Thought)) != 5 {
					t.Errorf("text %q", tl.Text)
				}
			})
		}
	}
}

// Conversations of three turns over a connection each. The simulator counts what it
// has of the turns before, so that a turn's prefill tells whether it had them:
// 20 ms and 0.1 ms a token of the whole context.
func TestWebSocketConversationsOfTheSimulator(t *testing.T) {
	for _, a := range []*api.API{api.OpenAIResponses, api.Realtime} {
		t.Run(a.Name, func(t *testing.T) { conversations(t, a) })
	}
}

func conversations(t *testing.T, a *api.API) {
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "20", Output: "5", Turns: "3"}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	var truths []sim.Truth
	var done *run.Run
	dir := t.TempDir() + "/run"
	synctest.Test(t, func(t *testing.T) {
		cfg := sim.Config{Overhead: 20 * time.Millisecond, PrefillPerToken: 100 * time.Microsecond, DecodeBase: 5 * time.Millisecond, DecodePerSeq: time.Millisecond,
			Base: time.Now(), OnTruth: func(tr sim.Truth) { truths = append(truths, tr) }}
		s, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		done, err = Run(t.Context(), Plan{
			Client: client.Config{BaseURL: "ws://sim", API: a, Dial: ln.Dial, NoKernelStamps: true, PerSession: true},
			Load:   Load{Concurrency: 1, Requests: 12, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, IgnoreEOS: true},
			Output: Output{Out: dir}, Conditions: Conditions{Preflight: "none"}, Model: "m", Timers: true,
		})
		s.Close()
		<-served
	})
	if err != nil || done.Requests.OK != 12 {
		t.Fatal(done, err)
	}
	records := measured(t, dir)
	if len(records) != 12 || len(truths) != 12 {
		t.Fatalf("%d records, %d truths", len(records), len(truths))
	}
	for i, rec := range records {
		input, turn := rec.InputTokens.Or(0), rec.Turn.Or(-1)
		near(t, "TTFT", rec.TTFTMS.Or(0), 20+0.1*float64(input))
		near(t, "TPOT", rec.TPOTMS.Or(0), 6)
		if want := 20 + 25*turn; input != want { // its 20 words, the turns before it and their answers of 5
			t.Errorf("turn %d has a context of %d tokens, want %d", turn, input, want)
		}
		if tr := truths[i]; int64(tr.PromptTokens) != input || tr.OnConn != turn+2 || rec.HTTPStatus.Or(0) != 101 {
			t.Errorf("turn %d: the server saw %d tokens, as the %d. of its connection, status %v", turn, tr.PromptTokens, tr.OnConn, rec.HTTPStatus)
		}
	}
}

// Recorded sessions with sub-agents, over real sockets. Each turn sends only what is new,
// and the context has the answers of the run: of 70 and 90 tokens, where the recording
// has whole blocks of 64, so that the second turn has 58 and the third 96 tokens less.
func TestWebSocketSessionsOfTheSimulator(t *testing.T) {
	server := sim.New(sim.Config{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(ln)
	defer server.Close()
	work := recordedWork(t, workload.Content{MaxGap: time.Millisecond})
	dir := t.TempDir() + "/run"
	got, err := Run(t.Context(), Plan{
		Client: client.Config{BaseURL: "ws://" + ln.Addr().String(), API: api.OpenAIResponses, PerSession: true},
		Load:   Load{Concurrency: 2, Requests: 10, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, IgnoreEOS: true},
		Output: Output{Out: dir}, Conditions: Conditions{Preflight: "none"}, Model: "sim",
	})
	if err != nil {
		t.Fatal(err)
	}
	in := got.Metrics["input_tokens"]
	const want = 2 * (28*64 - 58 - 96)
	if sum := int64(in.Mean.Or(0)*float64(in.N) + 0.5); got.Requests.OK != 10 || sum != want {
		t.Errorf("%d requests with %d tokens, want 10 with %d", got.Requests.OK, sum, want)
	}
}
