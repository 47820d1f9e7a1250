package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// netLines are command lines that a tool's flags are added to: of several loads, since some
// flags belong to one.
var netLines = map[string][]string{
	"vllm bench serve":       {"--model m --num-prompts 9 --dataset-name random", "--model m --dataset-name sharegpt --dataset-path s.json --request-rate 4 --num-prompts 9", "--model m --dataset-name custom --dataset-path c.jsonl --max-concurrency 2", "--model m --dataset-name random-mm --num-prompts 9", "--model m --ramp-up-strategy linear --num-prompts 90", "--model m --dataset-name prefix_repetition", "--model m --dataset-name sonnet", "--model m --dataset-name timed_trace --dataset-path t.jsonl", "--model m --dataset-name random --request-rate 4"},
	"aiperf profile":         {"-m m -u http://h --concurrency 2 --request-count 9", "-m m -u http://h --request-rate 4 --benchmark-duration 9", "-m m -u http://h --input-file t.jsonl --custom-dataset-type mooncake_trace", "-m m -u http://h --endpoint-type embeddings", "-m m -u http://h --osl 50 --streaming", "-m m -u http://h --input-file p.jsonl --custom-dataset-type single_turn --concurrency 2", "-m m,n -u http://h", "-m m -u http://h --user-centric-rate 4 --num-users 2", "-m m -u http://h --image-width-mean 32 --image-height-mean 32"},
	"genai-perf profile":     {"-m m -u h:1 --concurrency 2", "-m m -u h:1 --request-rate 4", "-m m -u h:1 --output-tokens-mean 50", "-m m,n -u h:1"},
	"guidellm benchmark run": {"--target http://h --profile concurrent --rate 2", "--target http://h --profile poisson --rate 2", "--target http://h --profile replay --data kind=trace_synthetic,path=t.jsonl"},
	"inference-perf":         {"--server.base_url=http://h --load.stages=2@3", "--server.base_url=http://h --load.type concurrent --load.stages [{\"num_requests\":4,\"concurrency_level\":2}]", "--server.base_url=http://h --load.stages=2@3 --data.type=random", "--server.base_url=http://h --load.stages=2@3 --data.type=shared_prefix", "--server.base_url=http://h --load.stages=2@3 --load.type=trace_replay --load.trace.file=t.csv", "--server.base_url=http://h --load.type=trace_session_replay --data.type=weka_trace_replay --data.weka_trace_replay.trace_files [\"w.json\"]"},
	"sglang.bench_serving":   {"--model m --num-prompts 9", "--model m --dataset-name mooncake --dataset-path t.jsonl", "--model m --dataset-name image", "--model m --dataset-name generated-shared-prefix", "--model m --dataset-name mooncake --dataset-path t.jsonl --backend vllm"},
	"benchmark_serving.py":   {"--model m --dataset-name random --num-prompts 9", "--model m --dataset-name sharegpt --dataset-path s.json", "--model m --request-rate 4", "--model m --dataset-name sonnet"},
	"token_benchmark_ray.py": {"--model m"},
	"genai-bench benchmark":  {"--api-backend vllm --api-base http://h --api-model-name m"},
}

// netValues are tried in turn: one that is refused, or differs, is enough.
var netValues = []string{"7", "0.25", "other", "http://other:1", "x.jsonl", "{\"a\":1}", "a=b", "9,4", "true", "false", "gamma", "2@5", "never", "random", "batch_size", "0", "otel"}

// netSilent are flags that change nothing of the load: what is printed, written, kept or
// counted there, how the tool works inside, and defaults written out.
var netSilent = map[string]string{
	"vllm bench serve":       "append-result metric-percentiles percentile-metrics save-detailed save-result timeline-itl-thresholds request-id-prefix skip-tokenizer-init tokenizer-mode trust-remote-code no-stream self-timed",
	"aiperf profile":         "auto-plot no-auto-plot no-allow-dataset-wrap plot-required export-http-trace export-level export-outputs-json extra-verbose v verbose vv gpu-telemetry no-gpu-telemetry no-server-metrics server-metrics server-metrics-formats log-level max-workers workers-max record-processor-service-count record-processors no-sweep-table profile-export-file profile-export-level profile-export-prefix show-trace-timing slice-duration stats-interval tokenizer-revision tokenizer-trust-remote-code transport transport-type ui ui-type use-legacy-max-tokens use-server-token-count wait-for-model-interval wait-for-model-mode random-corpus-style fixed-schedule-auto-offset model-selection-strategy",
	"genai-perf profile":     "backend generate-plots measurement-mode profile-export-file server-metrics server-metrics-urls service-kind tokenizer-revision tokenizer-trust-remote-code v verbose output-tokens-mean-deterministic model-selection-strategy",
	"guidellm benchmark run": "console data-finalizer data-num-workers display-scheduler-stats log-progress-interval metrics output output-sampling outputs sample-requests rate-type",
	"inference-perf":         "a analyze u unified-analysis-dir api.response-format.name data.input-distribution.total-count data.output-distribution.total-count data.trace.format load.trace.format load.interval load.num-workers load.worker-max-tcp-connections log-level metrics.type report.request-lifecycle.per-request report.request-lifecycle.per-stage report.request-lifecycle.summary server.type tokenizer.trust-remote-code data.otel-trace-replay.max-wait-ms",
	"sglang.bench_serving":   "cache-report gsp-fast-prepare output-details plot-throughput print-requests skip-test-prompt trust-remote-code",
	"benchmark_serving.py":   "download-timeout metric-percentiles percentile-metrics save-detailed save-result tokenizer-mode trust-remote-code",
	"token_benchmark_ray.py": "log-prompts no-log-prompts",
	"genai-bench benchmark":  "experiment-folder-name log-dir master-port metrics-refresh-interval metrics-time-unit model num-workers server-engine server-gpu-type server-version upload-results",
}

// Every flag of a tool's table is translated, named below the command, or refused: none is
// dropped in silence but those above.
func TestNetOfPeersFlags(t *testing.T) {
	for _, tool := range tools {
		name := tool.names[0]
		lines := netLines[name]
		if lines == nil {
			t.Errorf("no line for %s: %q", name, tool.names)
		}
		quiet := strings.Fields(netSilent[name])
	flags:
		for _, flag := range slices.Sorted(maps.Keys(tool.known())) {
			for _, line := range lines {
				base := append(strings.Fields(name), strings.Fields(line)...)
				before, err := Of(base)
				if err != nil {
					t.Fatal(base, err)
				}
				for _, value := range netValues {
					args := append(slices.Clone(base), "--"+flag)
					if !tool.known()[flag].bare {
						args = append(args, value)
					}
					after, err := Of(args)
					if err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
						continue flags
					}
				}
			}
			if !slices.Contains(quiet, flag) {
				t.Errorf("%s --%s: nothing differs, and nothing is said", name, flag)
			}
		}
	}
}
