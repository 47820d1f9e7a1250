//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// vLLM's wheel carries two clients: the Python one, and the one in Rust that
// VLLM_USE_RUST_BENCH=1 hands over to.
var (
	vllmPythonPeer = peer{
		name:    "vllm-python",
		env:     offline,
		times:   "tokens",
		version: func(s *setting) (string, error) { return s.pinned("vllm", "vllm") },
		command: func(j *job) ([]string, error) {
			bin, err := j.tool("vllm", "vllm")
			return append([]string{bin, "bench", "serve"}, vllmFlags(j)...), err
		},
		read: func(j *job) (*measured, error) { return readVLLM(j, 0) },
	}
	vllmRustPeer = peer{
		name:  "vllm-rust",
		env:   offline,
		times: "tokens",
		version: func(s *setting) (string, error) {
			if _, err := vllmRust(s); err != nil {
				return "", err
			}
			return s.pinned("vllm", "vllm")
		},
		command: func(j *job) ([]string, error) {
			bin, err := vllmRust(j.setting)
			return append([]string{bin, "bench", "serve"}, vllmFlags(j)...), err
		},
		// It takes the role's chunk for the first token, and the chunk with
		// finish_reason for one more.
		read: func(j *job) (*measured, error) { return readVLLM(j, 1) },
	}
)

func vllmRust(s *setting) (string, error) {
	found, err := filepath.Glob(filepath.Join(s.venvs, "vllm", "lib", "python3*", "site-packages", "vllm", "vllm-rs"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the wheel of vllm holds no vllm-rs: %w", os.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

func vllmFlags(j *job) []string {
	return []string{
		"--backend", "openai-chat", "--base-url", j.url, "--endpoint", "/v1/chat/completions",
		"--model", "sim", "--tokenizer", j.tokenizer(),
		"--dataset-name", "random", "--random-input-len", "16", "--random-output-len", strconv.Itoa(j.Tokens), "--ignore-eos",
		"--num-prompts", strconv.Itoa(j.Requests), "--request-rate", strconv.FormatFloat(j.rate(), 'g', -1, 64),
		"--burstiness", "inf", "--max-concurrency", strconv.Itoa(j.cap()), "--num-warmups", strconv.Itoa(j.Streams),
		"--request-id-prefix", "v-", "--disable-tqdm",
		"--save-result", "--save-detailed", "--result-dir", j.dir, "--result-filename", "result.json",
		"--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,99",
	}
}

// readVLLM leaves out, of each request's events, so many before the first token
// and as many after the last.
func readVLLM(j *job, extra int) (*measured, error) {
	text, err := os.ReadFile(j.file("result.json"))
	if err != nil {
		return nil, err
	}
	// Python writes an infinite burstiness as no JSON has it.
	text = bytes.ReplaceAll(text, []byte(": Infinity"), []byte(": null"))
	var d struct {
		TTFTs     []float64   `json:"ttfts"`
		ITLs      [][]float64 `json:"itls"`
		Latencies []float64   `json:"latencies"`
		Errors    []string    `json:"errors"`
		Starts    []float64   `json:"start_times"`
	}
	var all map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	m := &measured{published: map[string]figures{}}
	for as, name := range map[string]string{"ttft": "ttft", "itl": "itl", "e2e": "e2el"} {
		at := func(stat string) float64 { x, _ := all[stat+"_"+name+"_ms"].(float64); return x }
		m.published[as] = figures{at("mean"), at("p50"), at("p99")}
	}
	for i, first := range d.TTFTs {
		if d.Errors[i] != "" {
			continue
		}
		r := request{id: fmt.Sprintf("v-%d", i), firstMS: first * 1000, lastMS: d.Latencies[i] * 1000}
		at := []float64{r.firstMS}
		for _, gap := range d.ITLs[i] {
			at = append(at, at[len(at)-1]+gap*1000)
		}
		if len(at) > 2*extra {
			r.atMS = at[extra : len(at)-extra]
		}
		if extra == 0 { // the Rust client counts from the run's start
			r.sentNS = int64(d.Starts[i] * 1e9)
		}
		m.requests = append(m.requests, r)
	}
	return m, nil
}
