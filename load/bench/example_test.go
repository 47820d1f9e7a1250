package bench_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A program measures a server: twenty requests, four at a time.
func ExampleRun() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := sim.New(sim.Config{Model: "demo", Overhead: 5 * time.Millisecond, DecodeBase: time.Millisecond})
	go server.Serve(ln)
	defer server.Close()
	dir, _ := os.MkdirTemp("", "bench-")
	defer os.RemoveAll(dir)

	result, err := bench.Run(context.Background(), bench.Plan{
		Client:  client.Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat},
		Load:    bench.Load{Concurrency: 4, Requests: 20},
		Content: bench.Content{OutputTokens: "16"},
		Output:  bench.Output{Out: filepath.Join(dir, "run")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Target.Model, result.Requests.OK, "ok,", result.Requests.Warmup, "to warm up,",
		result.Metrics["output_tokens"].Mean.Or(0), "tokens each")
	// Output: demo 20 ok, 4 to warm up, 16 tokens each
}
