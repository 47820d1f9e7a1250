// Command check holds the records of a run, from standard input, against the
// pace that a mock server was told to keep.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
)

type record struct {
	Phase   string    `json:"phase"`
	Outcome string    `json:"outcome"`
	Chunks  int       `json:"chunks"`
	TTFT    float64   `json:"ttft_ms"`
	E2E     float64   `json:"e2e_ms"`
	ICL     []float64 `json:"icl_ms"`
}

func main() {
	name := flag.String("name", "", "the API, for the line that is printed")
	chunks := flag.Int("chunks", 40, "chunks of a reply")
	ttft := flag.Float64("ttft", 100, "ms to the first token")
	gap := flag.Float64("gap", 20, "ms between chunks")
	timer := flag.Float64("timer", 0, "ms that a timer of the mock's runtime takes for a gap; 0: not known")
	// A timer of the mock's runtime is never early and late by up to a few
	// milliseconds; a busy machine makes single ones later.
	early := flag.Float64("early", 1.5, "ms that a time may be short")
	late := flag.Float64("late", 15, "ms that the median gap, and the least TTFT, may be over")
	flag.Parse()

	var ttfts, gaps, rates []float64
	n, wrong := 0, 0
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "no record:", err)
			os.Exit(2)
		}
		if r.Phase != "measure" {
			continue
		}
		n++
		if r.Outcome != "ok" || r.Chunks != *chunks || r.TTFT < *ttft-*early || len(r.ICL) != *chunks-1 ||
			r.E2E < *ttft+float64(*chunks-1)**gap-*early*float64(*chunks) {
			wrong++
			fmt.Printf("outcome %s, %d chunks, TTFT %.1f ms, E2E %.1f ms\n", r.Outcome, r.Chunks, r.TTFT, r.E2E)
		}
		// Chunks a second, not tokens: what the mock's usage says has nothing to do with them.
		var all float64
		for _, ms := range r.ICL {
			all += ms
		}
		ttfts, rates = append(ttfts, r.TTFT), append(rates, 1000*float64(len(r.ICL))/max(all, 1e-3))
		gaps = append(gaps, r.ICL...)
	}
	if n == 0 || len(gaps) == 0 {
		fmt.Println("no measured request")
		os.Exit(1)
	}
	for _, values := range [][]float64{ttfts, gaps, rates} {
		slices.Sort(values)
	}
	median := gaps[len(gaps)/2]
	fmt.Printf("| %s | %d of %d | %.0f | %.1f (%.1f to %.1f) | %.0f | %.2f | %.2f | %.0f | %.1f |\n",
		*name, n-wrong, n, *ttft, ttfts[n/2], ttfts[0], ttfts[n-1], *gap, *timer, median, 1000 / *gap, rates[n/2])
	if wrong > 0 || ttfts[0] > *ttft+*late || median < *gap-*early || median > *gap+*late {
		os.Exit(1)
	}
}
