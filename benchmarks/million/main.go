// Command million measures how long the summary of a large run takes, and what
// memory: n, mean, quantiles and intervals of every metric over 10⁶ requests of
// 100 tokens. Beside it, DuckDB computes no more than n, p50 and p99 of the same
// columns of the same file:
//
//	pip install duckdb
//	go run ./benchmarks/million -python python3
//
// Both may use all processors. The run is made up: its times are drawn at
// random. Making it is not measured.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/record/run"
)

var (
	role     = flag.String("role", "", "internal: make or summarise")
	requests = flag.Int("requests", 1_000_000, "requests of the run")
	tokens   = flag.Int("tokens", 100, "tokens a request")
	dir      = flag.String("dir", "", "the run's folder; made when it is not there, and kept; empty: a temporary one")
	rounds   = flag.Int("rounds", 1, "rounds; each has both in turn")
	python   = flag.String("python", "python3", "Python with duckdb")
	profile  = flag.String("cpuprofile", "", "write a CPU profile of the summary to this name")
	script   = flag.String("script", "benchmarks/million/duck.py", "what DuckDB computes")
)

func main() {
	flag.Parse()
	var err error
	switch *role {
	case "make":
		err = invent(*dir)
	case "summarise":
		err = summarise(*dir)
	default:
		err = compare()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "million:", err)
		os.Exit(1)
	}
}

// told is what a program says of itself.
type told struct {
	Seconds float64
	Rows    int64
	Gaps    int64
	peakMB  int64
}

func compare() error {
	if *dir == "" {
		tmp, err := os.MkdirTemp("", "million-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		*dir = filepath.Join(tmp, "run")
	}
	table := filepath.Join(*dir, "requests.parquet")
	if _, err := os.Stat(table); err != nil {
		began := time.Now()
		if _, err := child("/proc/self/exe", "-role", "make", "-dir", *dir,
			"-requests", strconv.Itoa(*requests), "-tokens", strconv.Itoa(*tokens)); err != nil {
			return err
		}
		fmt.Printf("made in %.0f s\n", time.Since(began).Seconds())
	}
	var ours, duck, ratio []float64
	for i := range *rounds {
		a, err := child("/proc/self/exe", "-role", "summarise", "-dir", *dir, "-cpuprofile", *profile)
		if err != nil {
			return err
		}
		fmt.Printf("round %d  tokenmeter %7.2f s, peak memory %5d MB, %d requests, %d gaps, load %s\n", i+1, a.Seconds, a.peakMB, a.Rows, a.Gaps, load())
		ours = append(ours, a.Seconds)
		b, err := child(*python, *script, table)
		if err != nil {
			fmt.Println("no DuckDB to compare with:", err)
			continue
		}
		fmt.Printf("round %d  DuckDB     %7.2f s, peak memory %5d MB, %d requests, %d gaps\n", i+1, b.Seconds, b.peakMB, b.Rows, b.Gaps)
		duck, ratio = append(duck, b.Seconds), append(ratio, a.Seconds/b.Seconds)
	}
	if len(ratio) > 0 {
		fmt.Printf("medians: tokenmeter %.2f s, DuckDB %.2f s, ratio %.2f\n", harness.Median(ours), harness.Median(duck), harness.Median(ratio))
	}
	return nil
}

// child runs a program that says what it did in JSON.
func child(name string, args ...string) (told, error) {
	var t told
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	if len(bytes.TrimSpace(out)) > 0 {
		if err := json.Unmarshal(out, &t); err != nil {
			return t, fmt.Errorf("%s said %q: %w", name, out, err)
		}
	}
	t.peakMB = peakMB(c.ProcessState)
	return t, nil
}

// summarise computes what `tokenmeter report` shows of a folder.
func summarise(dir string) error {
	stop, err := harness.Profile(*profile)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	f, err := run.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, err := run.Summarise(f)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(told{Seconds: time.Since(began).Seconds(),
		Rows: sum.Requests.Total, Gaps: int64(sum.Metrics["icl_ms"].N)})
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if first, _, ok := bytes.Cut(text, []byte(" ")); ok {
		return string(first)
	}
	return "unknown"
}
