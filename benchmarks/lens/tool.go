//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// tool is another client. Each has a line here and a lens of ours.
type tool struct {
	name, lens string
	program    string // below the folder of virtual environments
	pkg        string // as pip calls it
	// args is its command, one request at a time, results into the folder; nil
	// where it can't ask in this way.
	args func(j *job) []string
	// warms tells that it sends all requests once before those that it measures.
	warms bool
	// restless tells that it asks until somebody looks, once a second: what it asks
	// after the last reply gets none.
	restless bool
	// read finds the figures that it printed, by our lens's name of them.
	read func(j *job) (figures, error)
}

// figures finds a figure by the name that the lens has for it.
type figures func(name string) (float64, bool)

// job is one run of a tool.
type job struct {
	shape     *shape
	tokenizer string // a folder
	url       string
	dir       string
}

func (j *job) file(name string) string { return filepath.Join(j.dir, name) }

func (j *job) write(name, text string) string {
	if err := os.WriteFile(j.file(name), []byte(text), 0o666); err != nil {
		fatal(err)
	}
	return j.file(name)
}

// promptForm has as many bytes, which are the tokens, as the server says it read.
const promptForm = "prompt %d of many"

// prompts are so many lines of a file, each with the prompt in the given form.
func prompts(form string) string {
	var b strings.Builder
	for i := range requests {
		fmt.Fprintf(&b, form+"\n", fmt.Sprintf(promptForm, i))
	}
	return b.String()
}

var asked = strconv.Itoa(requests)

var tools = []tool{
	{name: "vllm bench serve (Python)", lens: "vllm", program: "vllm/bin/vllm", pkg: "vllm", args: vllmArgs, read: readFlat("result.json")},
	{name: "vllm bench serve (Rust)", lens: "vllm-rust", program: "vllm/lib/python3*/site-packages/vllm/vllm-rs", pkg: "vllm", args: vllmArgs, read: readFlat("result.json")},
	{name: "AIPerf", lens: "aiperf", program: "aiperf/bin/aiperf", pkg: "aiperf", args: aiperfArgs, read: readAIPerf},
	{name: "GuideLLM", lens: "guidellm", program: "guidellm/bin/guidellm", pkg: "guidellm", args: guidellmArgs, read: readGuideLLM},
	{name: "inference-perf", lens: "inference-perf", program: "inference-perf/bin/inference-perf", pkg: "inference-perf", args: inferencePerfArgs, read: readInferencePerf},
	{name: "llmeter", lens: "llmeter", program: "llmeter/bin/python", pkg: "llmeter", args: llmeterArgs, warms: true, read: readFlat("out/run/stats.json")},
	{name: "genai-bench", lens: "genai-bench", program: "genai-bench/bin/genai-bench", pkg: "genai-bench", args: genaiBenchArgs, restless: true, read: readGenAIBench},
}

func vllmArgs(j *job) []string {
	if j.shape.whole {
		return nil
	}
	return []string{"bench", "serve", "--backend", "openai-chat", "--base-url", j.url, "--endpoint", "/v1/chat/completions",
		"--model", "sim", "--tokenizer", j.tokenizer, "--dataset-name", "random", "--random-input-len", strconv.Itoa(prompt),
		"--random-output-len", "16", "--num-prompts", asked, "--max-concurrency", "1", "--ready-check-timeout-sec", "0",
		"--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", j.dir, "--result-filename", "result.json",
		"--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,99"}
}

func aiperfArgs(j *job) []string {
	args := []string{"profile", "--model", "sim", "--url", j.url, "--endpoint-type", "chat", "--tokenizer", j.tokenizer,
		"--input-file", j.write("prompts.jsonl", prompts(`{"text": %q}`)), "--custom-dataset-type", "single_turn",
		"--concurrency", "1", "--request-count", asked, "--no-gpu-telemetry", "--no-server-metrics", "--ui", "none",
		"--export-level", "records", "--artifact-dir", j.file("out")}
	if !j.shape.whole {
		args = append(args, "--streaming")
	}
	return args
}

func guidellmArgs(j *job) []string {
	backend := "kind=openai_http,target=" + j.url + ",model=sim,request_format=/v1/chat/completions"
	if j.shape.whole {
		backend += ",stream=false"
	}
	return []string{"run", "--backend", backend,
		"--data", "kind=json_file,path=" + j.write("prompts.jsonl", prompts(`{"prompt": %q, "output_tokens_count": 16}`)),
		"--tokenizer", "kind=huggingface_auto,model=" + j.tokenizer, "--profile", "kind=synchronous",
		"--constraint", "kind=max_requests,count=" + asked, "--output", "kind=json,path=" + j.file("result.json"), "--disable-progress"}
}

func inferencePerfArgs(j *job) []string {
	return []string{"--config_file", j.write("config.yml", fmt.Sprintf(`load:
  type: concurrent
  stages: [{concurrency_level: 1, num_requests: %d}]
  num_workers: 1
api: {type: chat, streaming: %t}
server: {type: vllm, model_name: sim, base_url: "%s", ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %s}
data: {type: mock}
report:
  request_lifecycle: {summary: true, per_stage: true, per_request: true, percentiles: [50, 99]}
storage: {local_storage: {path: %s}}
`, requests, !j.shape.whole, j.url, j.tokenizer, j.file("out")))}
}

const llmeterScript = `import asyncio, sys
from llmeter.endpoints.openai import OpenAICompletionEndpoint, OpenAICompletionStreamEndpoint
from llmeter.runner import Runner

url, requests, whole, folder = sys.argv[1:]
kind = OpenAICompletionEndpoint if whole == "true" else OpenAICompletionStreamEndpoint


async def main():
    endpoint = kind("sim", api_key="none", base_url=url, max_retries=0)
    runner = Runner(endpoint, clients=1, output_path=folder, disable_per_client_progress_bar=True, disable_clients_progress_bar=True)
    payload = kind.create_payload("prompt", max_tokens=16)
    for name in "warmup", "run":  # the SDK loads half of itself with the first request
        await runner.run(payload=payload, n_requests=int(requests), run_name=name)


asyncio.run(main())
`

func llmeterArgs(j *job) []string {
	return []string{j.write("drive.py", llmeterScript), j.url + "/v1", asked, strconv.FormatBool(j.shape.whole), j.file("out")}
}

func genaiBenchArgs(j *job) []string {
	if j.shape.whole {
		return nil
	}
	return []string{"benchmark", "--api-backend", "openai", "--api-base", j.url, "--api-key", "none", "--api-model-name", "sim",
		"--model-tokenizer", j.tokenizer, "--task", "text-to-text", "--traffic-scenario", fmt.Sprintf("D(%d,16)", prompt),
		"--num-concurrency", "1", "--max-requests-per-run", asked, "--max-time-per-run", "1",
		"--experiment-base-dir", j.dir, "--experiment-folder-name", "out"}
}

// readFlat reads a file whose keys are the lens's names.
func readFlat(name string) func(j *job) (figures, error) {
	return func(j *job) (figures, error) {
		all, err := readJSON(j.file(name))
		return func(name string) (float64, bool) { return number(all, name) }, err
	}
}

func readAIPerf(j *job) (figures, error) {
	all, err := readJSON(j.file("out/profile_export_aiperf.json"))
	return func(name string) (float64, bool) {
		metric, stat, found := strings.Cut(name, " ")
		if !found {
			stat = "avg"
		}
		return number(all, metric, stat)
	}, err
}

func readGuideLLM(j *job) (figures, error) {
	all, err := readJSON(j.file("result.json"))
	if err != nil {
		return nil, err
	}
	benchmarks, _ := all["benchmarks"].([]any)
	if len(benchmarks) != 1 {
		return nil, fmt.Errorf("%d benchmarks, not one", len(benchmarks))
	}
	metrics := benchmarks[0].(map[string]any)["metrics"].(map[string]any)
	return func(name string) (float64, bool) {
		metric, stat, _ := strings.Cut(name, ".")
		if metric == "requests" {
			return number(metrics, "request_totals", stat)
		}
		if strings.HasPrefix(stat, "p") {
			return number(metrics, metric, "successful", "percentiles", stat)
		}
		return number(metrics, metric, "successful", stat)
	}, nil
}

func readInferencePerf(j *job) (figures, error) {
	all, err := readJSON(j.file("out/summary_lifecycle_metrics.json"))
	return func(name string) (float64, bool) {
		path := strings.Split(name, ".")
		if path[0] == "latency" || path[0] == "throughput" {
			path = append([]string{"successes"}, path...)
		}
		return number(all, path...)
	}, err
}

func readGenAIBench(j *job) (figures, error) {
	names, err := filepath.Glob(j.file("out/D*.json"))
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("%d files of results, not one", len(names))
	}
	all, err := readJSON(names[0])
	return func(name string) (float64, bool) {
		metric, stat, found := strings.Cut(name, ".")
		if !found {
			return number(all, "aggregated_metrics", metric)
		}
		return number(all, "aggregated_metrics", "stats", metric, stat)
	}, err
}

func readJSON(name string) (map[string]any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	// Python writes an infinite value as no JSON has it.
	text := strings.NewReplacer(": Infinity", ": null", ": NaN", ": null").Replace(string(data))
	var all map[string]any
	return all, json.Unmarshal([]byte(text), &all)
}

// number walks down the keys to a number.
func number(v any, path ...string) (float64, bool) {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	f, ok := v.(float64)
	return f, ok
}

// find is where the tool's program is.
func (t *tool) find(venvs string) (string, error) {
	found, err := filepath.Glob(filepath.Join(venvs, t.program))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%s: %s: %w", t.name, t.program, cmp.Or(err, os.ErrNotExist))
	}
	return found[0], nil
}

// run has the tool measure the shape. Its exit code says other things too: what
// counts is what it wrote.
func (t *tool) run(j *job, program string, args []string) (figures, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = j.dir
	cmd.Env = append(os.Environ(), "GUIDELLM__MAX_WORKER_PROCESSES=1")
	if t.lens != "aiperf" { // which, told to be offline, takes no folder for a tokenizer
		cmd.Env = append(cmd.Env, "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1")
	}
	said, failed := cmd.CombinedOutput()
	if err := os.WriteFile(j.file("said.txt"), said, 0o666); err != nil {
		return nil, err
	}
	got, err := t.read(j)
	if err != nil && failed != nil {
		return nil, fmt.Errorf("%w, after: %w", err, failed)
	}
	return got, err
}
