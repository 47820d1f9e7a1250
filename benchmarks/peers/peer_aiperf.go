//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

var aiperfPeer = peer{
	name:    "aiperf",
	times:   "tokens",
	version: func(s *setting) (string, error) { return s.pinned("aiperf", "aiperf") },
	command: func(j *job) ([]string, error) {
		bin, err := j.tool("aiperf", "aiperf")
		if err != nil {
			return nil, err
		}
		prompts, err := j.write("prompts.jsonl", prompts(j.Requests, `{"text": %q}`))
		rate := strconv.FormatFloat(j.rate(), 'g', -1, 64)
		return []string{bin, "profile", "--model", "sim", "--url", j.url, "--endpoint-type", "chat", "--streaming",
			"--tokenizer", j.tokenizer(), "--use-server-token-count",
			"--input-file", prompts, "--custom-dataset-type", "single_turn",
			"--extra-inputs", "ignore_eos:true", "--extra-inputs", "max_tokens:" + strconv.Itoa(j.Tokens),
			"--request-rate", rate, "--arrival-pattern", "constant", "--concurrency", strconv.Itoa(j.cap()),
			"--request-count", strconv.Itoa(j.Requests), "--warmup-request-count", strconv.Itoa(j.Streams),
			"--no-gpu-telemetry", "--no-server-metrics", "--ui", "none", "--export-level", "records",
			"--artifact-dir", j.file("out")}, err
	},
	read: readAIPerf,
}

// prompts are n different prompts of 16 tokens, one a line in the given form.
func prompts(n int, form string) string {
	var b strings.Builder
	for i := range n {
		words := make([]string, 16)
		for w := range words {
			words[w] = fmt.Sprintf("w%d", (i*7919+w*31+i/1000)%1000)
		}
		fmt.Fprintf(&b, form+"\n", strings.Join(words, " "))
	}
	return b.String()
}

func readAIPerf(j *job) (*measured, error) {
	m := &measured{published: map[string]figures{}}
	text, err := os.ReadFile(j.file("out/profile_export_aiperf.json"))
	if err != nil {
		return nil, err
	}
	var sum map[string]json.RawMessage
	if err := json.Unmarshal(text, &sum); err != nil {
		return nil, err
	}
	for as, name := range map[string]string{"ttft": "time_to_first_token", "itl": "inter_token_latency", "e2e": "request_latency"} {
		var d struct{ Avg, P50, P99 float64 }
		if json.Unmarshal(sum[name], &d) == nil && d.Avg > 0 {
			m.published[as] = figures{d.Avg, d.P50, d.P99}
		}
	}
	f, err := os.Open(j.file("out/profile_export.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReader(f))
	for lines.More() {
		var line struct {
			Metadata struct {
				ID    string `json:"x_request_id"`
				Phase string `json:"benchmark_phase"`
			}
			Metrics struct {
				TTFT struct{ Value float64 }   `json:"time_to_first_token"`
				E2E  struct{ Value float64 }   `json:"request_latency"`
				Gaps struct{ Value []float64 } `json:"inter_chunk_latency"`
			}
			Error any
		}
		if err := lines.Decode(&line); err != nil {
			return nil, err
		}
		if line.Metadata.Phase != "profiling" || line.Error != nil {
			continue
		}
		r := request{id: line.Metadata.ID, firstMS: line.Metrics.TTFT.Value, lastMS: line.Metrics.E2E.Value}
		r.atMS = []float64{r.firstMS}
		for _, gap := range line.Metrics.Gaps.Value {
			r.atMS = append(r.atMS, r.atMS[len(r.atMS)-1]+gap)
		}
		m.requests = append(m.requests, r)
	}
	return m, nil
}
