package main

import (
	"fmt"
	"os"
	"strings"

	"tokenmeter/load/machine"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

const heading = `streams  what                           n      mean       p50       p99      p99.9      max   (ms)`

func (c *compared) print(n int, r *run.Run) {
	line := func(what string, s []float64) {
		if len(s) == 0 {
			return
		}
		sum := 0.0
		for _, x := range s {
			sum += x
		}
		q := func(p float64) float64 { x, _ := stat.Quantile(stat.Sorted(s), p); return x }
		fmt.Printf("%7d  %-25s %7d %9.4f %9.4f %9.4f %9.4f %9.4f\n",
			n, what, len(s), sum/float64(len(s)), q(0.5), q(0.99), q(0.999), s[len(s)-1])
	}
	line("token: arrival − write", c.token)
	line("read − write (user space)", c.user)
	line("TTFT:  arrival − write", c.first)
	line("gap:   |error|", c.gap)
	line("read − arrival (lag)", c.lag)
	line("start − due", c.late)
	line("received − due", c.sent)
	fmt.Printf("%7d  %d requests, %d with kernel stamps, %d not comparable, %d failed; %d connections; client core busy %s, steal %s, load %s, longest GC stop %s ms\n",
		n, c.requests, c.kernel, c.missing, r.Requests.Failed, r.Client.ConnectionsOpened,
		share(r.Client.CPUBusy), share(r.Client.Steal), number(machine.This().Load1()), number(r.Client.GCPauseMaxMS))
}

// printMarks tells whether what is off is marked as such.
func (c *compared) printMarks(n int, r *run.Run) {
	fmt.Printf("%7d  %d of %d tokens are off by more than %d ms; %d of them are not marked as coalesced; verdict %s", n, c.moved, len(c.token), beyondMS, c.single, r.Validity.Verdict)
	for _, check := range r.Validity.Checks {
		if check.Verdict != validity.Valid && check.Verdict != validity.Unknown {
			fmt.Printf(", %s %s", check.Name, check.Verdict)
		}
	}
	fmt.Printf("; throttled %s\n", share(r.Client.Throttled))
}

// printProcess tells what the client's process took.
func (c *compared) printProcess(n int) {
	var peak string
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			peak = strings.TrimSpace(value)
		}
	}
	fmt.Printf("%7d  first request received %.1f ms after the client was started (one core, pre-flight included); peak memory %s\n",
		n, float64(c.firstNS-*startedNS)/1e6, peak)
}

func share(x timeline.Opt[float64]) string {
	if v, ok := x.Get(); ok {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return "–"
}

func number(x timeline.Opt[float64]) string {
	if v, ok := x.Get(); ok {
		return fmt.Sprintf("%.3g", v)
	}
	return "–"
}
