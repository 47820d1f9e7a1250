package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// serve runs the simulated server until its stdin is closed.
func serve() error {
	server := sim.New(sim.Config{Model: "sim", Overhead: 50 * time.Millisecond, DecodeBase: *gap, OutputTokens: *tokens})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go server.Serve(ln)
	fmt.Println(ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	return server.Close()
}

// measure is tokenmeter: it keeps so many streams open, whose requests start
// evenly spread over the length of a reply, and does all that a measurement does.
func measure() error {
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
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
