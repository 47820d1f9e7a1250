//go:build linux

// Command probe lets a daemon probe three simulated servers and, where there is
// one, a real llama-server for an hour, within a budget that the suite would pass:
//
//	LLAMA_SERVER=/path/to/llama-server LLAMA_MODEL=/path/to/a.gguf LLAMA_ARGS="-np 4 -c 262144" \
//	  go run ./benchmarks/probe -dir DIR
//
// LLAMA_URL names a server that runs already instead.
// One server is slow, one loads its model again after four minutes without a
// request, and one is half as fast in the second half of the time. Users' requests
// go through the daemon meanwhile. In the end check.py holds what was sent against
// the schedule, the budget, what the servers counted, and medians of its own; the
// program exits 1 when something differs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

var (
	during = flag.Duration("for", time.Hour, "how long")
	dir    = flag.String("dir", "", "folder that keeps everything; needed")
	binary = flag.String("binary", "", "tokenmeter; default: built from this tree")
	tokens = flag.Int64("tokens", 400_000, "budget of a day")
	usd    = flag.Float64("usd", 1, "budget of a day, at the prices of config.go")
	python = flag.String("python", "python3", "what runs check.py; with numpy its quantiles are compared too")
	window = flag.String("window", "72h", "what the medians are of")
	again  = flag.Bool("again", false, "only look again at what -dir holds")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if *dir == "" {
		return fmt.Errorf("name a folder by -dir")
	}
	var err error
	if *dir, err = filepath.Abs(*dir); err != nil {
		return err
	}
	if !*again {
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return err
		}
		if *binary == "" {
			*binary = filepath.Join(*dir, "tokenmeter")
			if out, err := exec.Command("go", "build", "-trimpath", "-o", *binary, "./cmd/tokenmeter").CombinedOutput(); err != nil {
				return fmt.Errorf("building: %w\n%s", err, out)
			}
		}
		w := &world{dir: *dir}
		err := w.hour(ctx)
		w.stop()
		if err != nil {
			return err
		}
	}
	check := exec.CommandContext(ctx, *python, "benchmarks/probe/check.py", *dir)
	check.Stdout, check.Stderr = os.Stdout, os.Stderr
	return check.Run()
}
