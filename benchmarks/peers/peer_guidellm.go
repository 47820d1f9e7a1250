//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// GuideLLM keeps the first and the last token of a request, no others.
var guidellmPeer = peer{
	name: "guidellm",
	// It has one core: more processes would only take turns.
	env:     append([]string{"GUIDELLM__MAX_WORKER_PROCESSES=1"}, offline...),
	times:   "first and last token",
	version: func(s *setting) (string, error) { return s.pinned("guidellm", "guidellm") },
	command: func(j *job) ([]string, error) {
		bin, err := j.tool("guidellm", "guidellm")
		if err != nil {
			return nil, err
		}
		// Streams requests come first, as a warm-up.
		n := j.Requests + j.Streams
		data, err := j.write("prompts.jsonl", prompts(n, fmt.Sprintf(`{"prompt": %%q, "output_tokens_count": %d}`, j.Tokens)))
		return []string{bin, "run",
			"--backend", "kind=openai_http,target=" + j.url + ",model=sim,request_format=/v1/chat/completions",
			"--data", "kind=json_file,path=" + data, "--tokenizer", "kind=huggingface_auto,model=" + j.tokenizer(),
			"--profile", "kind=constant,rate=" + strconv.FormatFloat(j.rate(), 'f', -1, 64),
			"--constraint", "kind=max_requests,count=" + strconv.Itoa(n),
			"--output", "kind=json,path=" + j.file("result.json"), "--disable-progress"}, err
	},
	read: readGuideLLM,
}

func readGuideLLM(j *job) (*measured, error) {
	text, err := os.ReadFile(j.file("result.json"))
	if err != nil {
		return nil, err
	}
	type dist struct {
		Successful struct {
			Mean, Median float64
			Percentiles  struct {
				P99 float64 `json:"p99"`
			}
		}
	}
	var d struct {
		Benchmarks []struct {
			Metrics struct {
				TTFT dist `json:"time_to_first_token_ms"`
				ITL  dist `json:"inter_token_latency_ms"`
				E2E  dist `json:"request_latency"`
			}
			Requests struct {
				Successful []struct {
					ID   string `json:"response_id"`
					Info struct {
						Timings struct {
							Start float64 `json:"request_start"`
							First float64 `json:"first_token_iteration"`
							Last  float64 `json:"last_token_iteration"`
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if len(d.Benchmarks) != 1 {
		return nil, fmt.Errorf("%d benchmarks in the result, not one", len(d.Benchmarks))
	}
	b := &d.Benchmarks[0]
	m := &measured{published: map[string]figures{}}
	for as, x := range map[string]dist{"ttft": b.Metrics.TTFT, "itl": b.Metrics.ITL, "e2e": b.Metrics.E2E} {
		s, unit := x.Successful, 1.0
		if as == "e2e" {
			unit = 1000 // told in seconds
		}
		m.published[as] = figures{s.Mean * unit, s.Median * unit, s.Percentiles.P99 * unit}
	}
	for _, r := range b.Requests.Successful {
		t := r.Info.Timings
		m.requests = append(m.requests, request{id: r.ID, firstMS: (t.First - t.Start) * 1000, lastMS: (t.Last - t.Start) * 1000})
	}
	return m, nil
}
