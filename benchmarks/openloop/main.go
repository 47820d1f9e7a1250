// Command openloop measures how well tokenmeter keeps a schedule of many short
// requests: how late each one leaves, whether as many are sent as were due, and
// whether the due times of Poisson arrivals are a Poisson process. Server and client have a core each:
//
//	go run ./benchmarks/openloop -rate 5000
//
// It needs Linux and two cores.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

var (
	role      = flag.String("role", "", "internal: serve, drive or wait")
	rate      = flag.Float64("rate", 5000, "requests a second")
	seconds   = flag.Int("seconds", 10, "how long requests are sent, in each round")
	rounds    = flag.Int("rounds", 5, "rounds; each has all kinds of arrivals in turn")
	arrivals  = flag.String("arrivals", "constant,poisson", "kinds of arrivals")
	clientCPU = flag.Int("client-cpu", 0, "core of the client")
	serverCPU = flag.Int("server-cpu", 1, "core of the server")
	url       = flag.String("url", "", "internal: the server's address")
	profile   = flag.String("cpuprofile", "", "write a CPU profile of the client to this name")
	dir       = flag.String("dir", "", "internal: the run folder")
)

func main() {
	harness.Main("openloop", role, orchestrate, map[string]func() error{"serve": serve, "drive": drive, "wait": wait})
}

// figures are what a round gave.
type figures struct {
	LateP50, LateP99, LateMax float64 // ms, start − due
	SentP99                   float64 // ms, request written − due
	Achieved                  float64 // over offered
	// The arrival process, by due times. Dispersion is variance over mean of the
	// arrivals in 100 ms: 1 for Poisson, 0 for constant; and what chance explains
	// (1 % beyond the limits). KS is the distance of the gaps to the exponential.
	Dispersion, DispersionLow, DispersionHigh float64
	KS, KSLimit                               float64
	// The same of starts, which lateness moves: one thread can't begin two requests
	// at once.
	DispersionStarts, KSStarts float64
	Requests, Failed, Opened   int64
	Busy                       float64
}

func orchestrate() error {
	root, err := os.MkdirTemp("", "openloop-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	server, address, err := harness.Server(*serverCPU)
	if err != nil {
		return err
	}
	defer server.Process.Kill()
	all := map[string][]figures{}
	var floor []float64
	for i := range *rounds {
		for kind := range strings.SplitSeq(*arrivals, ",") {
			f, err := one(kind, address, filepath.Join(root, fmt.Sprintf("%s-%d", kind, i)))
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			fmt.Printf("round %d  %-9s %s, load %s\n", i+1, kind, f.String(), load())
			all[kind] = append(all[kind], f)
		}
		f, err := one("wait", "", "")
		if err != nil {
			return err
		}
		fmt.Printf("round %d  nothing sent: late p50 %.3f p99 %.3f max %.2f ms\n", i+1, f.LateP50, f.LateP99, f.LateMax)
		floor = append(floor, f.LateP99)
	}
	fmt.Printf("\n%.0f requests/s of one token for %d s, %d rounds: medians\n", *rate, *seconds, *rounds)
	for kind := range strings.SplitSeq(*arrivals, ",") {
		of := func(get func(figures) float64) float64 {
			var x []float64
			for _, f := range all[kind] {
				x = append(x, get(f))
			}
			slices.Sort(x)
			return x[(len(x)-1)/2]
		}
		fmt.Printf("  %-9s lateness p99 %.3f ms, achieved/offered %.5f; due times: dispersion %.3f (limits %.3f, %.3f), Kolmogorov–Smirnov %.4f (limit %.4f); starts: dispersion %.3f\n", kind,
			of(func(f figures) float64 { return f.LateP99 }), of(func(f figures) float64 { return f.Achieved }),
			of(func(f figures) float64 { return f.Dispersion }), of(func(f figures) float64 { return f.DispersionLow }), of(func(f figures) float64 { return f.DispersionHigh }),
			of(func(f figures) float64 { return f.KS }), of(func(f figures) float64 { return f.KSLimit }), of(func(f figures) float64 { return f.DispersionStarts }))
	}
	slices.Sort(floor)
	fmt.Printf("  a thread that waits for the same times and sends nothing: lateness p99 %.3f ms\n", floor[(len(floor)-1)/2])
	return nil
}

func (f figures) String() string {
	return fmt.Sprintf("late p50 %.3f p99 %.3f max %.2f ms, written p99 %.3f ms, achieved/offered %.5f, due: dispersion %.3f (limits %.3f, %.3f) KS %.4f (limit %.4f), starts: dispersion %.3f KS %.4f, %d requests, %d failed, %d connections, core busy %.0f %%",
		f.LateP50, f.LateP99, f.LateMax, f.SentP99, f.Achieved, f.Dispersion, f.DispersionLow, f.DispersionHigh, f.KS, f.KSLimit,
		f.DispersionStarts, f.KSStarts, f.Requests, f.Failed, f.Opened, 100*f.Busy)
}

// one runs the client in a process of its own.
func one(kind, address, dir string) (f figures, err error) {
	role := "drive"
	if kind == "wait" {
		role = kind
	}
	c := exec.Command("/proc/self/exe", "-role", role, "-arrivals", kind, "-url", address, "-dir", dir, "-cpuprofile", *profile,
		"-rate", fmt.Sprint(*rate), "-seconds", fmt.Sprint(*seconds))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return f, err
	}
	if err := harness.Start(c, *clientCPU); err != nil {
		return f, err
	}
	said, _ := io.ReadAll(out)
	if err := c.Wait(); err != nil {
		return f, err
	}
	return f, json.Unmarshal(said, &f)
}

func serve() error {
	server := sim.New(sim.Config{Model: "sim", Overhead: time.Millisecond, DecodeBase: time.Millisecond, OutputTokens: 1})
	return harness.Serve(server)
}

func drive() error {
	stop, err := harness.Profile(*profile)
	if err != nil {
		return err
	}
	defer stop()
	r, err := bench.Run(context.Background(), bench.Plan{
		Client: client.Config{BaseURL: *url, API: api.OpenAIChat},
		// Concurrency is a cap that never binds.
		Load:    bench.Load{Rate: *rate, Arrival: *arrivals, Concurrency: 4000, Duration: time.Duration(*seconds) * time.Second},
		Content: bench.Content{InputTokens: "8", OutputTokens: "1", IgnoreEOS: true},
		Output:  bench.Output{Out: *dir},
	})
	if err != nil {
		return err
	}
	folder, err := run.Open(*dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	var starts, due, late, sent []float64 // ms
	random := rand.New(rand.NewPCG(1, 2))
	for tl, err := range folder.Timelines() {
		if err != nil {
			return err
		}
		if tl.Phase != timeline.Measure {
			continue
		}
		starts = append(starts, float64(tl.StartUS)/1000)
		due = append(due, (float64(tl.DueUS)+random.Float64())/1000) // records are in whole µs
		late = append(late, float64(tl.StartUS-tl.DueUS)/1000)
		if us, ok := tl.SentUS.Get(); ok {
			sent = append(sent, float64(us)/1000)
		}
	}
	for _, x := range [][]float64{starts, due, late, sent} {
		slices.Sort(x)
	}
	f := figures{LateP50: at(late, 0.5), LateP99: at(late, 0.99), LateMax: at(late, 1), SentP99: at(sent, 0.99),
		Requests: r.Requests.Total, Failed: r.Requests.Failed,
		Opened: r.Client.ConnectionsOpened, Busy: r.Client.CPUBusy.Or(0)}
	f.Achieved = r.Throughput.AchievedPerS.Or(0) / r.Throughput.OfferedPerS.Or(math.NaN())
	f.KS, f.KSLimit = exponential(due)
	f.KSStarts, _ = exponential(starts)
	f.Dispersion, f.DispersionLow, f.DispersionHigh = dispersion(due)
	f.DispersionStarts, _, _ = dispersion(starts)
	return json.NewEncoder(os.Stdout).Encode(f)
}

func at(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
