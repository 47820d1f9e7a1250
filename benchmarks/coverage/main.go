// Command coverage counts how often the intervals of a run hold the truth, over the service
// laws of package laws, and how often a steady server is said to drift. With -limits
// it fails where more than the promised share is wrong. docs/statistics.md has its table.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"tokenmeter/physics/laws"
	"tokenmeter/record/stat"
)

// What is promised of a run that spans as many cycles of the server's slowest pattern.
const (
	cycles    = 7
	mostWrong = 0.06 // of all runs: an interval is given, and wrong
	leastHeld = 0.92 // of the intervals, where nearly every run has one
	mostGiven = 0.90
)

// settling is how many requests a server gets before it counts as settled.
const settling = 3000

func main() {
	runs := flag.Int("runs", 300, "runs of each cell")
	sizes := flag.String("n", "300,1000,3000,10000,30000", "requests of a run")
	only := flag.String("laws", "", "names of laws, separated by commas; empty: all")
	limits := flag.Bool("limits", false, "exit with 1 where a cell breaks what is promised by more than chance does")
	flag.Parse()
	var ns []int
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "-n %s: want numbers of requests, like 300,1000\n", *sizes)
			os.Exit(2)
		}
		ns = append(ns, n)
	}
	slices.Sort(ns)
	fmt.Printf("Of %d runs: given %% / held of those %% (given and wrong, %% of all runs). ! breaks a limit; ~ spans fewer than %d cycles.\n", *runs, cycles)
	chosen := laws.All()
	if *only != "" {
		chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			law := laws.ByName(name)
			if law == nil {
				fmt.Fprintf(os.Stderr, "-laws %s: no law is called %q\n", *only, name)
				os.Exit(2)
			}
			chosen = append(chosen, law)
		}
	}
	broken := 0
	for _, law := range chosen {
		truth, rests := law.Truth()
		if !rests {
			continue
		}
		table := measure(law, truth, ns, *runs)
		for f, name := range figures {
			fmt.Printf("%-10s %-6s", law.Name, name)
			for i, n := range ns {
				text, bad := table[f][i].say(*runs, float64(n) >= cycles*law.Rate*law.CycleS)
				if bad {
					broken++
				}
				fmt.Print(" ", text)
			}
			fmt.Println()
		}
	}
	if *limits && broken > 0 {
		fmt.Printf("%d cells break a limit.\n", broken)
		os.Exit(1)
	}
}

var figures = [...]string{"mean", "p50", "p95", "p99", "failed", "drift", "met", "missed"}

// cell counts runs. Of drift, given are the tested ones and wrong the alarms. Of met and missed,
// wrong is what an objective on p95 is wrongly said to be whose limit is the truth itself,
// where it is hardest to tell.
type cell struct{ given, wrong atomic.Int64 }

func (c *cell) add(given, wrong bool) {
	if given {
		c.given.Add(1)
	}
	if given && wrong {
		c.wrong.Add(1)
	}
}

// say writes a cell, and whether it breaks a limit beyond three standard errors of the
// count.
func (c *cell) say(runs int, spans bool) (text string, bad bool) {
	given, wrong, all := float64(c.given.Load()), float64(c.wrong.Load()), float64(runs)
	held := "  –  "
	if given > 0 {
		held = fmt.Sprintf("%5.1f", 100*(1-wrong/given))
	}
	mark := "~"
	if spans {
		mark = " "
		slack := 3 * math.Sqrt(mostWrong*(1-mostWrong)/all)
		low := 3 * math.Sqrt(leastHeld*(1-leastHeld)/math.Max(given, 1))
		if bad = wrong/all > mostWrong+slack || given/all >= mostGiven && 1-wrong/given < leastHeld-low; bad {
			mark = "!"
		}
	}
	return fmt.Sprintf("%3.0f/%s (%4.1f)%s", 100*given/all, held, 100*wrong/all, mark), bad
}

// measure makes the runs, each of which is looked at when it has so many requests.
func measure(law *laws.Law, truth laws.Truth, ns []int, runs int) *[len(figures)][]cell {
	var table [len(figures)][]cell
	for f := range table {
		table[f] = make([]cell, len(ns))
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := next.Add(1); seed <= int64(runs); seed = next.Add(1) {
				one(law, truth, ns, uint64(seed), &table)
			}
		})
	}
	all.Wait()
	return &table
}

func one(law *laws.Law, truth laws.Truth, ns []int, seed uint64, table *[len(figures)][]cell) {
	var values, flight []float64
	var failed []bool
	seen, at := 0, 0
	for r := range law.Poisson(seed, law.Rate) {
		if seen++; seen <= settling {
			continue
		}
		if failed = append(failed, r.Failed); !r.Failed {
			// In microseconds, as times are recorded: equal ones are equal.
			values, flight = append(values, math.Round(1e6*r.LatencyS)), append(flight, float64(r.InFlight))
		}
		if len(failed) < ns[at] {
			continue
		}
		s := &stat.Series{Values: values, InFlight: flight}
		for f, truth := range []float64{truth.MeanS, truth.P50S, truth.P95S, truth.P99S} {
			iv := s.Mean(0.95)
			if f > 0 {
				iv = s.Quantile([]float64{0, 0.5, 0.95, 0.99}[f], 0.95)
			}
			table[f][at].add(iv.Given, 1e6*truth < iv.Lo-0.5 || 1e6*truth > iv.Hi+0.5)
		}
		share := stat.Share(failed, 0.95)
		table[4][at].add(share.Given && share.Why == "", truth.Failed < share.Lo || truth.Failed > share.Hi)
		d := s.Drift(0.95)
		table[5][at].add(d.Tested, d.Alarm)
		beyond := s.Beyond(1e6*truth.P95S, 0.95)
		table[6][at].add(true, beyond.Hi <= 0.05)
		table[7][at].add(true, beyond.Lo > 0.05)
		if at++; at == len(ns) {
			return
		}
	}
}
