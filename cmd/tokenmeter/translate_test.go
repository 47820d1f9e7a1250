//go:build !lean

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tokenmeter/load/translate"
)

// What a translation prints is a command that is taken as it stands.
func TestTranslationsParse(t *testing.T) {
	var lines [][]string
	for _, line := range []string{
		"guidellm run --backend kind=openai_http,target=http://127.0.0.1:1,model=m --data kind=mooncake,source.kind=json_file,source.path=t.jsonl --profile kind=replay,schedule_turn=timestamp",
		"vllm bench serve --backend vllm --base-url http://127.0.0.1:1 --model m --num-prompts 5 --request-rate 4 --burstiness 0.5 --temperature 0 --top-p 0.9 --goodput ttft:500 e2el:9000 --header X-A=b --seed 3 --metadata a=b",
		"python -m sglang.bench_serving --backend sglang --host 127.0.0.1 --port 1 --model m --num-prompts 3 --random-input-len 8 --random-output-len 4 --random-range-ratio 0.5",
		"aiperf profile -m m -u http://127.0.0.1:1 --endpoint-type responses --streaming --request-rate 5 --arrival-pattern gamma --arrival-smoothness 2 --benchmark-duration 3 --warmup-duration 1 --goodput inter_token_latency:20 --request-timeout-seconds 5",
		"genai-perf profile -m m -u 127.0.0.1:1 --streaming --concurrency 2 --synthetic-input-tokens-mean 20 --synthetic-input-tokens-stddev 2 --extra-inputs temperature:0",
		"guidellm benchmark --target http://127.0.0.1:1 --model m --rate-type poisson --rate 3 --max-requests 4 --max-seconds 5 --data prompt_tokens=9,output_tokens=4,prompt_tokens_stdev=2",
		"inference-perf --server.base_url=http://127.0.0.1:1 --server.model_name=m --api.type=completion --load.stages=2@3,4@3 --data.input_distribution.mean=20",
		"vllm bench serve --base-url http://127.0.0.1:1 --endpoint /x/v1/completions --model m --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 --num-prompts 20 --profile",
		"vllm bench serve --base-url http://127.0.0.1:1 --model m --ramp-up-strategy exponential --ramp-up-start-rps 2 --ramp-up-end-rps 20 --num-prompts 20 --burstiness 100",
		"python benchmark_serving.py --base-url http://127.0.0.1:1 --model m --dataset-name random --num-prompts 3",
		"python -m sglang.bench_serving --backend sglang --model m --dataset-name image --image-resolution 32x48 --num-prompts 3 --flush-cache --random-input-len 8",
		"aiperf profile -m m -u http://127.0.0.1:1 --streaming --user-centric-rate 4 --num-users 3 --benchmark-duration 5 --failed-request-threshold 0.1 --seq-dist 20,5:40;30,5:60",
		"guidellm run --backend kind=openai_http,target=http://127.0.0.1:1,model=m --profile kind=throughput,max_concurrency=4 --constraint kind=max_error_rate,rate=0.2 --data kind=synthetic_text,prompt_tokens=20,output_tokens=5",
		`inference-perf --server.base_url http://127.0.0.1:1 --server.model_name m --load.type concurrent --load.stages [{"num_requests":4,"concurrency_level":2}]`,
		"python token_benchmark_ray.py --model m",
		"genai-bench benchmark --api-backend vllm --api-base http://127.0.0.1:1 --api-model-name m --max-time-per-run 1 --max-requests-per-run 3 --num-concurrency 2 --traffic-scenario N(48,24)/(30,15)",
		// Of documents: NVIDIA's guide to benchmarking NIM, Dynamo's recipes, vLLM's and SGLang's own.
		"genai-perf profile -m m --endpoint-type chat --service-kind openai --streaming -u localhost:1 --synthetic-input-tokens-mean 200 --synthetic-input-tokens-stddev 0 --concurrency 10 --output-tokens-mean 1000 --extra-inputs max_tokens:1000 --extra-inputs min_tokens:1000 --extra-inputs ignore_eos:true -- -v --max-threads=256",
		"aiperf profile -m m -u localhost:1 --streaming --endpoint-type chat --isl 100 --extra-inputs max_tokens:100 --extra-inputs temperature:0 --concurrency 2 --request-count 10",
		`aiperf profile -m m -u a:1,b:1 --streaming --endpoint-type chat --isl 100 --osl 50 --extra-inputs {"max_completion_tokens":50,"stream":true,"model":"y"} --concurrency 2 --request-count 10`,
		`vllm bench serve --model m --dataset-name random --num-prompts 5 --extra-body {"stream_options":{"include_usage":false},"ignore_eos":true,"max_tokens":50}`,
		`python3 -m sglang.bench_serving --backend sglang-oai-chat --model m --dataset-name random --num-prompts 5 --extra-request-body {"max_tokens":50,"stream":true}`,
		"vllm bench serve --model m --backend openai-embeddings --endpoint /v1/embeddings --dataset-name random --random-input-len 512 --num-prompts 100",
		"vllm bench serve --model m --backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --random-input-len 512 --num-prompts 10 --random-batch-size 5",
		"vllm bench serve --model m --backend tgi --endpoint /generate_stream --dataset-name random --num-prompts 5",
		"python3 -m sglang.bench_serving --backend sglang-embedding --model m --dataset-name random --random-input 128 --num-prompts 10",
		"aiperf profile --model m --endpoint-type embeddings --url localhost:1 --isl 100 --batch-size-text 8 --request-count 20",
		"aiperf profile --model m --endpoint-type hf_tei_rankings --url localhost:1 --request-count 20",
		"aiperf profile --model m --endpoint-type image_generation --url localhost:1 --request-count 20",
		`python token_benchmark_ray.py --model m --additional-sampling-params {"max_tokens":10}`,
		"vllm bench serve --model m --backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-bucket-config {(32,64,1):1.0} --num-prompts 3",
		"vllm bench serve --model m --num-prompts 3 --seed 0 --ready-check-timeout-sec 0 --random-batch-size 1 --random-range-ratio 0.0 --num-warmups 0",
		"python3 -m sglang.bench_serving --backend trt --model m --dataset-name random --random-range-ratio 1 --num-prompts 3 --flush-cache-timeout 30",
		"aiperf profile -m m -u http://127.0.0.1:1 --endpoint-type cohere_rankings --rankings-passages-mean 10 --rankings-passages-prompt-token-mean 128 --request-count 4",
		"aiperf profile -m m -u http://127.0.0.1:1 --streaming --image-width-mean 64 --image-height-mean 32 --image-batch-size 3 -b 2 --synthesis-speedup-ratio 1.0 --num-profile-runs 1",
		"aiperf profile -m m -u http://127.0.0.1:1 --streaming --video-width 64 --video-height 32 --video-duration 2 --prompt-batch-size 1 --reset-kv-cache-timeout-seconds 3",
		"aiperf profile -m m -u http://127.0.0.1:1 --endpoint-type audio_transcription --audio-length-mean 2",
		"aiperf profile -m m -u http://127.0.0.1:1 --random-range-ratio 0.5 --replay-speedup 2",
		"python -m sglang.bench_serving --base-url http://127.0.0.1:1 --model m --dataset-name random --num-prompts 3 --profile-output-dir d",
	} {
		lines = append(lines, strings.Fields(line))
	}
	files, err := filepath.Glob("../../load/translate/testdata/inference-perf/*.yml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		lines = append(lines, []string{"inference-perf", "--config_file", file})
	}
	for _, line := range lines {
		out, err := translate.Of(line)
		if err != nil {
			t.Fatal(err)
		}
		if out.Args[0] == "sweep" && len(line) == 3 || slices.Contains(out.Args, "--workload") || slices.Contains(out.Args, "--prompts") {
			continue // no dry run, or a file that the test has not got
		}
		var stdout, stderr bytes.Buffer
		args := slices.Concat(out.Args, []string{"--dry-run"})
		if code := Main(args, &stdout, &stderr, func(string) (string, bool) { return "", false }); code != exitOK {
			t.Errorf("%s\nbecame %q: exit code %d: %s", line, args, code, stderr.String())
		}
	}
}

// So is one that plays a file, and the workload files that are said to be written for it.
func TestTranslationsOfFilesParse(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("t.jsonl", `{"timestamp":0,"input_length":16,"output_length":4,"hash_ids":[1]}
{"timestamp":2000,"input_length":16,"output_length":4,"hash_ids":[2]}
`)
	written, capped := regexp.MustCompile(`trace.yaml is yours to write: (\{.*\})`), regexp.MustCompile(`when: \{trace: \{\}, concurrency: \d+\}`)
	for _, line := range []string{
		"aiperf profile -m m -u http://127.0.0.1:1 --input-file t.jsonl --custom-dataset-type mooncake_trace --request-rate 4 --arrival-smoothness 2",
		"aiperf profile -m m -u http://127.0.0.1:1 --input-file t.jsonl --custom-dataset-type mooncake_trace --user-centric-rate 2 --num-users 5 --replay-speedup 2",
		"aiperf profile -m m -u http://127.0.0.1:1 --input-file t.jsonl --fixed-schedule --concurrency 1,2 --request-rate-ramp-duration 5",
		"aiperf profile -m m -u http://127.0.0.1:1 --input-file t.jsonl --custom-dataset-type mooncake-trace --concurrency 64 --synthesis-speedup-ratio 2",
		"vllm bench serve --base-url http://127.0.0.1:1 --model m --dataset-name timed_trace --dataset-path t.jsonl --num-prompts 2 --max-concurrency 8 --timed-trace-sec-multiplier 0.0010 --request-rate 4",
		"python -m sglang.bench_serving --base-url http://127.0.0.1:1 --model m --dataset-name mooncake --dataset-path t.jsonl --num-prompts 2 --max-concurrency 8 --mooncake-slowdown-factor 2",
	} {
		out, err := translate.Of(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(out.Notes, "\n")
		text := `{file: "t.jsonl"}`
		if found := written.FindStringSubmatch(notes); found != nil {
			text = found[1]
			write("trace.yaml", text)
		}
		runs := [][]string{out.Args}
		if when := capped.FindString(notes); when != "" {
			write("capped.yaml", strings.TrimSuffix(text, "}")+", "+when+"}")
			runs = append(runs, slices.Clone(out.Args))
			runs[1][slices.Index(out.Args, "--workload")+1] = "capped.yaml"
		}
		for _, args := range runs {
			var stdout, stderr bytes.Buffer
			args = slices.Concat(args, []string{"--dry-run"})
			if code := Main(args, &stdout, &stderr, func(string) (string, bool) { return "", false }); code != exitOK {
				t.Errorf("%s\nbecame %q: exit code %d: %s", line, args, code, stderr.String())
			}
		}
	}
}
