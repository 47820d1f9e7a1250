// Command search measures a `tokenmeter sim` over sockets with `tokenmeter sweep --find`
// and holds the brackets against the truth: the load at which the same scheduler,
// without HTTP and in virtual time, ceases to meet the objective.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/sweep/result"
	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim"
)

var (
	program  = flag.String("tokenmeter", "tokenmeter", "the program")
	preset   = flag.String("preset", "llama-3.1-8b/m4-max-q4_k_m", "of the simulator")
	searches = flag.Int("searches", 5, "how many")
	dir      = flag.String("dir", ".", "where sweeps are kept")
	input    = flag.Int("input", 128, "prompt tokens")
	output   = flag.Int("output", 16, "tokens of an answer")
	limit    = flag.Duration("ttft", time.Second, "for nine of ten first tokens")
	speed    = flag.Float64("speed", 4, "of the simulator: its times, and the limit, are so much shorter")
	most     = flag.Duration("time", 5*time.Minute, "for each search")
)

func main() {
	flag.Parse()
	p, ok := sim.FindPreset(*preset)
	if !ok || p.Config.Engine == nil {
		fail("%s: no preset with a scheduler", *preset)
	}
	truth := capacity(p.Config) * *speed
	*limit = time.Duration(float64(*limit) / *speed)
	fmt.Printf("truth: nine of ten first tokens come within %v up to %.4g requests/s\n", *limit, truth)
	right := 0
	for i := range *searches {
		if search(i+1, truth) {
			right++
		}
	}
	fmt.Printf("%d of %d brackets hold the truth\n", right, *searches)
	if right < *searches {
		os.Exit(1)
	}
}

// capacity bisects in virtual time.
func capacity(c sim.Config) float64 {
	lo, hi := 0.01, 1000.0
	for hi/lo > 1.002 {
		mid := math.Sqrt(lo * hi)
		n := 3000
		if hi/lo < 1.5 {
			n = 300_000
		}
		if share(c, mid, n) >= 0.9 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Sqrt(lo * hi)
}

// share is the share of good requests at a rate.
func share(c sim.Config, rate float64, n int) float64 {
	cfg := *c.Engine
	cfg.Seed, cfg.Jitter, cfg.PrefixCache = 7, c.Jitter, false // prompts are unique
	good, sent := 0, 0
	e, err := engine.New(cfg, func(ev engine.Event) {
		if ev.Kind == engine.Tokens && ev.Last && c.Overhead+ev.Request.TTFT() < *limit {
			good++
		}
	})
	if err != nil {
		fail("%v", err)
	}
	src := random.New(99, uint64(rate*1e6))
	at := 0.0
	err = e.Run(func(yield func(*engine.Request) bool) {
		for ; sent < n; sent++ {
			at += src.Exp() / rate
			if !yield(&engine.Request{Arrival: time.Duration(at * 1e9), PromptTokens: *input, OutputTokens: *output}) {
				return
			}
		}
	})
	if err != nil {
		fail("%v", err)
	}
	return float64(good) / float64(n)
}

// search makes one search of a fresh server.
func search(n int, truth float64) bool {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail("%v", err)
	}
	address := ln.Addr().String()
	ln.Close()
	server := exec.Command(*program, "sim", "--listen", address, "--preset", *preset, "--seed", strconv.Itoa(n),
		"--speed", fmt.Sprint(*speed))
	if err := server.Start(); err != nil {
		fail("%v", err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	for range 100 {
		if answer, err := http.Get("http://" + address + "/v1/models"); err == nil {
			answer.Body.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	out := filepath.Join(*dir, fmt.Sprintf("sim-%d", n))
	find := exec.Command(*program, "sweep", "http://"+address, "--find", "--objective", fmt.Sprintf("p90 ttft < %v", *limit),
		"--input-tokens", strconv.Itoa(*input), "--output-tokens", strconv.Itoa(*output), "--allow-isl-drift", "--from", "2",
		"--max-time", most.String(), "--seed", strconv.Itoa(n), "--out", out, "--force", "--format", "json", "-q")
	find.Stderr = os.Stderr
	data, _ := find.Output()
	var s result.Sweep
	if err := json.Unmarshal(data, &s); err != nil || s.Found == nil {
		fail("search %d printed no sweep: %v", n, err)
	}
	holds, fails := s.Found.Holds.Or(0), s.Found.Fails.Or(math.Inf(1))
	ok := holds <= truth && truth <= fails && holds > 0
	fmt.Printf("search %d: [%.4g, %.4g] %v, %d probes, %d requests; %s\n", n, holds, fails, ok, s.Found.Probes, s.Found.Requests, s.Found.Why)
	return ok
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
