package sweep

import (
	"context"
	"flag"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/objective"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

var overHTTP = flag.Int("http", 1, "so many searches over HTTP in virtual time")

var sockets = flag.Int("sockets", 0, "so many searches against a server behind sockets; each takes minutes")

// small is a server whose capacity a laptop's client can find.
var small = engine.Config{Law: engine.Linear{Base: 10 * ms, PerSequence: 1500 * time.Microsecond, PerPrefillToken: 100 * time.Microsecond},
	MaxSequences: 8, MaxBatchTokens: 512}

// truth is the capacity of small for requests of 200 and 16 tokens, 9 of 10 of
// which must have their first token within 150 ms: a million requests in virtual
// time (-truth computes it anew).
func smallScenario() scenario {
	return scenario{name: "small", server: virtual{cfg: small, prompt: [2]int64{200, 200}, output: [2]int64{16, 16}}, target: 0.9,
		score: where(func(r *engine.Request) bool { return r.TTFT() < 150*ms }), capacity: smallCapacity}
}

const smallCapacity = 11.24

// A search over HTTP, in virtual time, finds the capacity that the same server
// has without HTTP.
func TestSearchOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	right := 0
	for i := range *overHTTP {
		synctest.Test(t, func(t *testing.T) {
			ln := simtest.NewPipeListener()
			width := 0.05
			if *overHTTP == 1 {
				width = 0.4 // wide is enough to see that it works
			}
			found := searchSim(t, ln, ln.Dial, uint64(i+1), 20*time.Minute, width)
			right += bracketed(t, i, found)
		})
	}
	if right < *overHTTP {
		t.Errorf("%d of %d brackets hold the capacity %.4g", right, *overHTTP, float64(smallCapacity))
	}
}

// The same over sockets and in real time.
func TestSearchOverSockets(t *testing.T) {
	if *sockets == 0 {
		t.Skip("takes minutes each: give -sockets 5")
	}
	right := 0
	for i := range *sockets {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		right += bracketed(t, i, searchSim(t, ln, nil, uint64(i+1), 3*time.Minute, 0.05))
	}
	if right < *sockets {
		t.Errorf("%d of %d brackets hold the capacity %.4g", right, *sockets, float64(smallCapacity))
	}
}

func bracketed(t *testing.T, i int, found Found) int {
	ok := found.Holds <= smallCapacity && smallCapacity <= found.Fails
	t.Logf("search %d: [%.4g, %.4g], truth %.4g, %d probes, %d requests; %s", i, found.Holds, found.Fails, float64(smallCapacity), len(found.Probes), found.Requests, found.Why)
	for _, p := range found.Probes {
		t.Logf("   %.4g %s firm=%v grows=%v n=%d share=%.3f %s %s", p.Load, p.Says, p.Firm, p.Grows, p.Requests, p.Share, p.Late, p.Unsettled)
	}
	if ok {
		return 1
	}
	return 0
}

func searchSim(t *testing.T, ln net.Listener, dial func(context.Context, string, string) (net.Conn, error), seed uint64, most time.Duration, width float64) Found {
	t.Helper()
	cfg := small
	server := sim.New(sim.Config{Model: "m", Engine: &cfg, Seed: seed, Base: time.Now()})
	go server.Serve(ln)
	defer server.Close()
	all, err := objective.ParseAll([]string{"p90 ttft < 150ms"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	subject := &Server{Variable: Rate, Dir: t.TempDir(), Plan: bench.Plan{
		Client:     client.Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat, Dial: dial, NoKernelStamps: dial != nil},
		Timers:     dial != nil,
		Content:    bench.Content{Seed: seed, InputTokens: "200", OutputTokens: "16", IgnoreEOS: true},
		Conditions: bench.Conditions{AllowISLDrift: true, Objectives: all},
	}}
	if dial != nil {
		subject.Plan.Client.BaseURL = "http://sim"
	}
	found, err := Search{Objectives: all, From: 4, Width: width, MaxTime: most, Now: func() time.Duration { return time.Since(start) },
		ProbeTime: most / 6}.Run(context.Background(), subject)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
