package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"tokenmeter/api"
	"tokenmeter/bench"
	"tokenmeter/client"
	"tokenmeter/sim"
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
	reply := time.Duration(*tokens) * *gap
	run, err := bench.Run(context.Background(), bench.Plan{
		Client: client.Config{BaseURL: *url, API: api.OpenAIChat, Form: client.Form(*kinds)},
		Rate:   float64(*streams) / reply.Seconds(), Concurrency: 2**streams + 8, // a cap that never binds
		Duration:     time.Duration(*seconds) * time.Second,
		Grace:        2 * reply,
		InputTokens:  "16",
		OutputTokens: strconv.Itoa(*tokens),
		IgnoreEOS:    true,
		Out:          *dir,
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"events": run.Requests.OK * int64(*tokens), "reads": 0})
}
