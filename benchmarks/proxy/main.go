// Command proxy measures what a proxy adds: to the time to first token, to each
// chunk, and in processor time, with a direct connection and nginx in turns.
//
//	go build -o /tmp/tokenmeter ./cmd/tokenmeter
//	go run ./benchmarks/proxy -binary /tmp/tokenmeter
//	go run ./benchmarks/proxy -binary /tmp/tokenmeter -idle 9000
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

type settings struct {
	binary  string
	before  string
	nginx   string
	others  string
	litellm string
	streams int
	rate    float64
	tokens  int
	round   time.Duration
	repeats int
	idle    int
	out     string
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "tokenmeter", "the tokenmeter binary")
	flag.StringVar(&s.before, "before", "", "another tokenmeter binary to hold it against; empty: none")
	flag.StringVar(&s.nginx, "nginx", "nginx", "the nginx binary; empty: without it")
	flag.StringVar(&s.others, "others", "", "further ways, with commas between: bare (net/http with nothing around it), half (its server only), own (neither), haproxy, litellm")
	flag.StringVar(&s.litellm, "litellm", "litellm", "the litellm program (pip install 'litellm[proxy]')")
	flag.IntVar(&s.streams, "streams", 500, "streams at once")
	flag.Float64Var(&s.rate, "rate", 50, "tokens a second of a stream")
	flag.IntVar(&s.tokens, "tokens", 100, "tokens of a reply")
	flag.DurationVar(&s.round, "round", 10*time.Second, "length of a round")
	flag.IntVar(&s.repeats, "repeats", 5, "rounds of each way")
	flag.IntVar(&s.idle, "idle", 0, "instead: so many streams with a token every 10 s, and the memory they take")
	flag.StringVar(&s.out, "json", "", "write the rounds to a file")
	be := flag.String("be", "", "be a proxy of this program: bare, half or own, ADDRESS UPSTREAM")
	flag.Parse()
	do := func() error { return run(s) }
	if role, known := roles[*be]; known {
		do = func() error { return role(flag.Arg(0), flag.Arg(1)) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks/proxy:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	up, err := startUpstream(s)
	if err != nil {
		return err
	}
	defer up.close()
	ways := []*way{{name: "direct", address: up.address}}
	for _, start := range []func(settings, string) (*way, error){startTokenmeter, startBefore, startNginx} {
		w, err := start(s, up.address)
		if err != nil {
			return err
		}
		if w != nil {
			defer w.stop()
			ways = append(ways, w)
		}
	}
	more, err := startOthers(s, up.address)
	for _, w := range more {
		defer w.stop()
	}
	if err != nil {
		return err
	}
	ways = append(ways, more...)
	fmt.Printf("%s, %d cores, load %s; %d streams of %.0f tokens/s, %d rounds of %v each\n\n",
		runtime.GOARCH, runtime.NumCPU(), load(), s.streams, s.rate, s.repeats, s.round)
	if s.idle > 0 {
		return idle(s, up, ways)
	}
	var rounds []round
	for i := range s.repeats {
		for k := range ways {
			w := ways[(i+k)%len(ways)] // another one begins each time
			r, err := play(s, up, w)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "round %d %-10s ttft p50 %6s p99 %6s (request %6s, first token %6s)  chunk p50 %6s p99 %6s µs  cpu %5.1f µs/chunk  load %s\n",
				i+1, w.name, whole("%.0f", r.TTFT50), whole("%.0f", r.TTFT99), whole("%.0f", r.Request50), whole("%.0f", r.First50), whole("%.0f", r.Chunk50), whole("%.0f", r.Chunk99), r.CPU, r.Load)
			rounds = append(rounds, r)
		}
	}
	table(rounds)
	if s.out != "" {
		data, err := json.MarshalIndent(rounds, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(s.out, append(data, '\n'), 0o644)
	}
	return nil
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}
