package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"tokenmeter/benchmarks/harness"
)

// sample is one run of one kind.
type sample struct {
	cpuUS, userUS float64 // of processor time, an event
	reads         float64 // an event; 0: not told
	events        int64
	peakMB        int64
}

// sampleOf puts what a reader said beside what the system says of its process.
func sampleOf(said []byte, p *os.ProcessState) (sample, error) {
	var told struct{ Events, Reads int64 }
	if err := json.Unmarshal(said, &told); err != nil {
		return sample{}, fmt.Errorf("%q: %w", said, err)
	}
	if told.Events == 0 {
		return sample{}, fmt.Errorf("no events came")
	}
	n := float64(told.Events)
	s := sample{events: told.Events, reads: float64(told.Reads) / n,
		userUS: float64(p.UserTime().Microseconds()) / n,
		cpuUS:  float64((p.UserTime() + p.SystemTime()).Microseconds()) / n}
	s.peakMB = peakMB(p)
	return s, nil
}

// table collects the samples of each kind.
type table struct {
	kinds   []string
	samples map[string][]sample
}

func newTable(kinds []string) *table { return &table{kinds, map[string][]sample{}} }

func (t *table) add(kind string, s sample) { t.samples[kind] = append(t.samples[kind], s) }

// print shows medians, and the medians of each round's ratio to the first kind.
func (t *table) print() {
	fmt.Printf("\n%d streams, a token every %v (%.0f events/s), %d rounds: medians\n", *streams, *gap,
		float64(*streams)/gap.Seconds(), *rounds)
	base := t.samples[t.kinds[0]]
	for _, kind := range t.kinds {
		var cpu, ratio []float64
		for i, s := range t.samples[kind] {
			cpu = append(cpu, s.cpuUS)
			ratio = append(ratio, s.cpuUS/base[i].cpuUS)
		}
		fmt.Printf("  %-8s %6.2f µs an event   %.2f × %s\n", kind, harness.Median(cpu), harness.Median(ratio), t.kinds[0])
	}
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); len(f) > 0 {
		return f[0]
	}
	return "unknown"
}
