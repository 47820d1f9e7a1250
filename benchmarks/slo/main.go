//go:build linux

// Command slo holds the generated rules against real Prometheus servers under
// faults: daemons behind a balancer are added, restarted, killed, reloaded and
// left without a disk while Prometheus scrapes them and is itself away, and at
// the end what the rules sum up is compared with what the clients were answered,
// with the raw records and with the daemon's own history.
//
//	go run ./benchmarks/slo -prometheus prometheus,/path/to/prometheus-3
//
// Times are a fifteenth of real ones: scrapes every second stand for 15 s, an
// outage of 24 s for six minutes; the rules are those of `tokenmeter slo rules`,
// evaluated fifteen times as often. It takes two minutes and exits 1 when a sum
// is out of its bound.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

var (
	binary  = flag.String("binary", "", "tokenmeter; default: built from this tree")
	servers = flag.String("prometheus", "prometheus", "Prometheus servers, by comma; each version is asked")
	keep    = flag.String("dir", "", "folder that keeps everything; default: a temporary one")
	config  = flag.String("serve", "", "only serve this configuration, with a clock that signals set wrong; for the benchmark's own use")
	records = flag.String("records", "", "with -serve: file of the records")
)

// A fifteenth of real times. The hold is not: what is longer than a scrape
// interval by five seconds must be so by more than this machine's hiccups here.
const (
	scrape  = time.Second
	rarely  = 4 * time.Second // a server with scrapes every minute
	hold    = 5500 * time.Millisecond
	linger  = 6 * time.Second
	pause   = 50 * time.Millisecond // between requests of a scenario
	awayOne = 4400 * time.Millisecond
	awayTwo = 24 * time.Second
	length  = 75 * time.Second
)

func main() {
	flag.Parse()
	if *config != "" {
		if err := serveStepping(*config, *records); err != nil {
			fmt.Fprintln(os.Stderr, "slo:", err)
			os.Exit(2)
		}
		return
	}
	failed, err := run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "slo:", err)
		os.Exit(2)
	}
	if failed > 0 {
		fmt.Printf("%d sums are out of their bounds\n", failed)
		os.Exit(1)
	}
}

func run(ctx context.Context) (failed int, err error) {
	dir := *keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "slo"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	} else if err = os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if *binary == "" {
		*binary = filepath.Join(dir, "tokenmeter")
		if out, err := exec.Command("go", "build", "-trimpath", "-o", *binary, "./cmd/tokenmeter").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building: %w\n%s", err, out)
		}
	}
	up := serveUpstream()
	defer up.Close()
	all := scenarios(dir, up.URL)
	rules, err := writeRules(dir, all)
	if err != nil {
		return 0, err
	}
	watchers, err := startAll(ctx, dir, rules, all)
	defer func() {
		for _, w := range watchers {
			w.stop()
		}
	}()
	if err != nil {
		return 0, err
	}
	time.Sleep(10 * time.Second) // a Prometheus that is ready scrapes some seconds later
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	begin := time.Now()
	for i, s := range all {
		wait.Go(func() { errs[i] = s.run(begin) })
	}
	for _, w := range watchers {
		if w.leaves {
			wait.Go(func() { w.absences(begin) })
		}
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return 0, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	time.Sleep(hold + 3*rarely) // what came last is scraped, and the rules have seen it
	failed = report(all, watchers)
	for _, s := range all {
		s.stop()
	}
	return failed, nil
}

// report prints what everybody counts and returns how many sums are wrong.
func report(all []*scenario, watchers []*watcher) (failed int) {
	fmt.Printf("bad/valid; in brackets how far the rules may be below the truth, in valid events\n\n")
	fmt.Print("| fault | truth | records | history |")
	for _, w := range watchers {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Print(" rules before |\n|---|---|---|---|", strings.Repeat("---|", len(watchers)+1), "\n")
	for _, s := range all {
		records, history := s.records(), s.history()
		failed += wrongs(records, history)
		fmt.Printf("| %s | %s | %s | %s |", s.name, s.truth, records, history)
		for _, w := range watchers {
			bound, applies := s.bound(w)
			if !applies {
				fmt.Print(" – |")
				continue
			}
			got := w.sums("o" + s.hash)
			cell := fmt.Sprintf("%s (%d)", got, bound)
			if !got.within(s.truth, bound) {
				cell += wrong
			}
			failed += wrongs(cell)
			fmt.Printf(" %s |", cell)
		}
		fmt.Printf(" %s |\n", watchers[0].before(s.hash))
	}
	fmt.Println()
	return failed
}

// wrongs is how many cells are marked as wrong.
func wrongs(cells ...string) (n int) {
	for _, c := range cells {
		if strings.HasSuffix(c, wrong) {
			n++
		}
	}
	return n
}

// wrong marks a sum out of its bound.
const wrong = " WRONG"

// counts are bad and valid events.
type counts struct{ bad, valid int64 }

func (c counts) String() string { return fmt.Sprintf("%d/%d", c.bad, c.valid) }

// within reports whether counts miss no more events than a bound, have none too
// many, and fit.
func (c counts) within(truth counts, bound int64) bool {
	return c.bad >= 0 && c.bad <= truth.bad && c.valid <= truth.valid && c.bad <= c.valid && truth.valid-c.valid <= bound && truth.bad-c.bad <= bound
}

// of reads the records that a daemon wrote.
func of(path string) (c counts) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c
	}
	for line := range strings.Lines(string(data)) {
		var r struct {
			Outcome string `json:"outcome"`
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.Outcome != "" {
			c.valid++
			if r.Outcome != "ok" {
				c.bad++
			}
		}
	}
	return c
}
