package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/load/bench"
	"tokenmeter/record/run"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// drive measures, waits until the server's truth is written, and prints the
// comparison.
func drive() error {
	n, err := strconv.Atoi(*streams)
	if err != nil {
		return err
	}
	stopProfile, err := harness.Profile(*profile)
	if err != nil {
		return err
	}
	result, err := measure(n)
	stopProfile()
	if err != nil {
		return err
	}
	fmt.Println("measured")
	io.Copy(io.Discard, os.Stdin)
	c, err := join(*dir, *truthFile, result.MonotonicZeroNS)
	if err != nil {
		return err
	}
	c.print(n, result)
	c.printMarks(n, result)
	c.printProcess(n)
	return nil
}

// measure keeps n streams open on average: requests start evenly spread, so
// that their tokens do not come in lock step.
func measure(n int) (*run.Run, error) {
	reply := time.Duration(*tokens) * *gap
	rate := float64(n) / reply.Seconds()
	return bench.Run(context.Background(), bench.Plan{
		Client: client.Config{BaseURL: *url, API: api.OpenAIChat, NoKernelStamps: *userClock},
		// Concurrency is a cap that never binds, and the connections opened ahead.
		Load:    bench.Load{Rate: rate, Concurrency: n + n/2 + 8, Duration: time.Duration(*spans * float64(reply)), Grace: 2 * reply},
		Content: bench.Content{InputTokens: "16", OutputTokens: strconv.Itoa(*tokens), IgnoreEOS: true},
		Output:  bench.Output{Out: *dir, Log: os.Stderr},
	})
}
