package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// serve runs the simulated server until its stdin is closed.
func serve() error {
	server := sim.New(sim.Config{Model: "sim", Overhead: 50 * time.Millisecond, DecodeBase: *gap, OutputTokens: *tokens})
	return harness.Serve(server)
}

// measure is tokenmeter: it keeps so many streams open, whose requests start
// evenly spread over the length of a reply, and does all that a measurement does.
func measure() error {
	stop, err := harness.Profile(*profile)
	if err != nil {
		return err
	}
	defer stop()
	if *heap != "" {
		time.AfterFunc(30*time.Second, writeHeap)
	}
	reply := time.Duration(*tokens) * *gap
	over := *fill
	if over == 0 {
		over = reply
	}
	run, err := bench.Run(context.Background(), bench.Plan{
		Client: client.Config{BaseURL: *url, API: api.OpenAIChat, Form: client.Form(*kinds)},
		// Concurrency is a cap that never binds.
		Load:    bench.Load{Rate: float64(*streams) / over.Seconds(), Concurrency: *streams + *streams/2 + 8, Duration: time.Duration(*seconds) * time.Second, Grace: 2 * reply},
		Content: bench.Content{InputTokens: "16", OutputTokens: strconv.Itoa(*tokens), IgnoreEOS: true},
		Output:  bench.Output{Out: *dir},
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"events": run.Requests.OK * int64(*tokens), "reads": 0})
}

func writeHeap() {
	f, err := os.Create(*heap)
	if err != nil {
		fmt.Fprintln(os.Stderr, "readers:", err)
		return
	}
	defer f.Close()
	runtime.GC()
	if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
		fmt.Fprintln(os.Stderr, "readers:", err)
	}
}
