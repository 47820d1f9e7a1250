//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

var inferencePerfPeer = peer{
	name:    "inference-perf",
	env:     offline,
	times:   "tokens",
	version: func(s *setting) (string, error) { return s.pinned("inference-perf", "inference-perf") },
	command: func(j *job) ([]string, error) {
		bin, err := j.tool("inference-perf", "inference-perf")
		if err != nil {
			return nil, err
		}
		// Its made prompts are for completions only. A stage of one reply's length
		// comes first, as a warm-up; stages last whole seconds.
		config, err := j.write("config.yml", fmt.Sprintf(inferencePerfConfig,
			j.rate(), max(int(j.reply().Seconds()), 1), j.rate(), max(int(j.length().Seconds()+0.5), 1),
			j.cap(), j.cap(), j.url, j.tokenizer(), 2*j.Requests+j.Streams, j.Tokens, 2*j.Requests+j.Streams, j.file("out")))
		return []string{bin, "--config_file", config}, err
	},
	read: readInferencePerf,
}

const inferencePerfConfig = `load:
  type: constant
  interval: 1
  stages: [{rate: %g, duration: %d}, {rate: %g, duration: %d}]
  num_workers: 1
  worker_max_concurrency: %d
  worker_max_tcp_connections: %d
api: {type: completion, streaming: true}
server: {type: vllm, model_name: sim, base_url: "%s", ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %s}
data:
  type: random
  input_distribution: {min: 16, max: 16, mean: 16, std_dev: 0, total_count: %d}
  output_distribution: {min: %[10]d, max: %[10]d, mean: %[10]d, std_dev: 0, total_count: %[11]d}
report:
  request_lifecycle: {summary: true, per_stage: true, per_request: true, use_server_output_tokens: true, percentiles: [50, 99]}
storage: {local_storage: {path: %[12]s}}
`

type inferencePerfRequest struct {
	Start    float64 `json:"start_time"` // CLOCK_MONOTONIC, seconds
	End      float64 `json:"end_time"`
	Error    any
	Response string
	Info     struct {
		Metrics struct {
			Times []float64 `json:"chunk_times"`
		} `json:"response_metrics"`
	}
}

func readInferencePerf(j *job) (*measured, error) {
	m := &measured{published: map[string]figures{}}
	var stage struct {
		LoadSummary struct{ Count int } `json:"load_summary"`
		Successes   struct {
			Latency map[string]struct{ Mean, Median, P99 float64 }
		}
	}
	if err := readJSON(j.file("out/stage_1_lifecycle_metrics.json"), &stage); err != nil {
		return nil, err
	}
	for as, name := range map[string]string{"ttft": "time_to_first_token", "itl": "inter_token_latency", "e2e": "request_latency"} {
		d := stage.Successes.Latency[name]
		m.published[as] = figures{d.Mean * 1000, d.Median * 1000, d.P99 * 1000}
	}
	var all []inferencePerfRequest
	if err := readJSON(j.file("out/per_request_lifecycle_metrics.json"), &all); err != nil {
		return nil, err
	}
	// The warm-up's requests started first.
	slices.SortFunc(all, func(a, b inferencePerfRequest) int {
		return cmp.Compare(a.Start, b.Start)
	})
	for _, x := range all[max(len(all)-stage.LoadSummary.Count, 0):] {
		r := request{id: responseID(x.Response), sentNS: int64(x.Start * 1e9), lastMS: (x.End - x.Start) * 1000}
		for _, at := range x.Info.Metrics.Times {
			r.atMS = append(r.atMS, (at-x.Start)*1000)
		}
		if x.Error == nil && len(r.atMS) > 0 {
			r.firstMS = r.atMS[0]
			m.requests = append(m.requests, r)
		}
	}
	return m, nil
}

// responseID is the first id in a raw stream.
func responseID(stream string) string {
	_, rest, _ := strings.Cut(stream, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func readJSON(name string, to any) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return json.NewDecoder(f).Decode(to)
}
