package main

import (
	"bufio"
	"os"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/physics/sim"
)

// serve runs the simulated server until its stdin is closed.
func serve() error {
	f, err := os.Create(*truthFile)
	if err != nil {
		return err
	}
	truth := bufio.NewWriterSize(f, 1<<20)
	server := sim.New(sim.Config{Model: "sim", Overhead: 50 * time.Millisecond, DecodeBase: *gap,
		OutputTokens: *tokens, Truth: truth})
	if err := harness.Serve(server); err != nil {
		return err
	}
	if err := truth.Flush(); err != nil {
		return err
	}
	return f.Close()
}
