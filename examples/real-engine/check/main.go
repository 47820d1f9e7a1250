// Command check holds a run against what the engine itself said of each
// request: llama-server's `timings` (time) or Ollama's eval counts (tokens).
// It reads the records of `tokenmeter export RUN --as jsonl` from standard
// input and exits 1 when a figure is further off than allowed.
//
//	tokenmeter export runs/x --as jsonl | go run ./examples/real-engine/check
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// record is the part of a record that is held against the engine.
type record struct {
	Request      int                `json:"request"`
	Phase        string             `json:"phase"`
	Outcome      string             `json:"outcome"`
	Clock        string             `json:"clock"`
	TTFTMS       *float64           `json:"ttft_ms"`
	E2EMS        *float64           `json:"e2e_ms"`
	TPOTMS       *float64           `json:"tpot_ms"`
	OutputTokens *int               `json:"output_tokens"`
	Chunks       *int               `json:"chunks"`
	TokenSource  string             `json:"token_source"`
	Server       map[string]float64 `json:"server"`
}

func main() {
	within := flag.Float64("within", 0.02, "largest relative difference of times")
	countsOnly := flag.Bool("counts-only", false, "compare token counts, not times")
	flag.Parse()
	records, err := read(os.Stdin)
	if err == nil {
		err = check(os.Stdout, records, *within, *countsOnly)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func read(r io.Reader) ([]record, error) {
	var records []record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var rec record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, fmt.Errorf("record %d: %w", len(records), err)
		}
		if rec.Phase == "measure" {
			records = append(records, rec)
		}
	}
	return records, lines.Err()
}

// check compares every request with the engine's own numbers.
func check(w io.Writer, records []record, within float64, countsOnly bool) error {
	if len(records) == 0 {
		return fmt.Errorf("no measured request on standard input")
	}
	var decode, tpot, rest []float64
	bad := 0
	complain := func(rec record, format string, args ...any) {
		bad++
		fmt.Fprintf(w, "request %d: %s\n", rec.Request, fmt.Sprintf(format, args...))
	}
	for _, rec := range records {
		switch {
		case rec.Outcome != "ok":
			complain(rec, "ended as %s", rec.Outcome)
			continue
		case rec.OutputTokens == nil || rec.TokenSource != "usage":
			complain(rec, "no token count from the server (source %s)", rec.TokenSource)
			continue
		}
		if n, ok := rec.Server["decode_tokens"]; ok && int(n) != *rec.OutputTokens {
			complain(rec, "%d output tokens, the engine says %.0f", *rec.OutputTokens, n)
		}
		if countsOnly {
			continue
		}
		perToken, ok := rec.Server["decode_per_token_ms"]
		if !ok || rec.TPOTMS == nil {
			complain(rec, "the engine reported no timings, or TPOT is not measurable")
			continue
		}
		// decode_ms runs from the first token's sampling to the last token: n − 1 gaps
		// and the first token's own step. TTFT to last arrival holds the n − 1 gaps.
		decode = append(decode, (*rec.E2EMS-*rec.TTFTMS)/rec.Server["decode_ms"]-1)
		tpot = append(tpot, *rec.TPOTMS/perToken-1)
		rest = append(rest, *rec.TTFTMS-rec.Server["prefill_ms"])
		if d := decode[len(decode)-1]; abs(d) > within {
			complain(rec, "decode %.1f ms, the engine says %.1f (%+.2f %%)", *rec.E2EMS-*rec.TTFTMS, rec.Server["decode_ms"], 100*d)
		}
		if d := tpot[len(tpot)-1]; abs(d) > within {
			complain(rec, "TPOT %.3f ms, the engine says %.3f (%+.2f %%)", *rec.TPOTMS, perToken, 100*d)
		}
		if rest[len(rest)-1] < 0 {
			complain(rec, "TTFT %.2f ms is shorter than the engine's prefill %.2f", *rec.TTFTMS, rec.Server["prefill_ms"])
		}
	}
	fmt.Fprintf(w, "%d requests, clock %s\n", len(records), records[0].Clock)
	if !countsOnly && len(decode) > 0 {
		fmt.Fprintf(w, "decode time against the engine's: %s %%\n", spread(decode, 100))
		fmt.Fprintf(w, "TPOT against the engine's:        %s %%\n", spread(tpot, 100))
		fmt.Fprintf(w, "TTFT − prefill (queue, network):  %s ms\n", spread(rest, 1))
	}
	if bad > 0 {
		return fmt.Errorf("%d differences", bad)
	}
	fmt.Fprintln(w, "all within limits")
	return nil
}

// spread prints min, median and max of values × factor.
func spread(values []float64, factor float64) string {
	slices.Sort(values)
	return fmt.Sprintf("min %+.2f  median %+.2f  max %+.2f", factor*values[0],
		factor*values[len(values)/2], factor*values[len(values)-1])
}

func abs(x float64) float64 { return max(x, -x) }
