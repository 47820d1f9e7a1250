package translate

import (
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
	"genai-bench benchmark":  {"--api-backend vllm --api-base http://h --api-model-name m", "--api-backend vllm --api-base http://h --api-model-name m --task text-to-embeddings", "--api-backend vllm --api-base http://h --api-model-name m --task text-to-rerank --batch-size 2", "--api-backend vllm --api-base http://h --api-model-name m --task text-to-image --num-concurrency 2"},
}

// netValues are tried in turn: one that is refused, or differs, is enough.
var netValues = []string{"7", "0.25", "other", "http://other:1", "x.jsonl", "{\"a\":1}", "a=b", "9,4", "true", "false", "gamma", "2@5", "never", "random", "batch_size", "num_concurrency", "0", "otel"}

// netImplied are flags that a line has by itself.
const netImplied = " -m m -u http://h --input-file t.jsonl --custom-dataset-type mooncake_trace --fixed-schedule "

// Every flag of a tool's table is translated, named below the command, or refused, beside each
// of these lines: none is dropped in silence but those that the table says are about files,
// screens and the tool's inside. And these change no command.
func TestNetOfPeersFlags(t *testing.T) {
	for _, tool := range tools {
		name := tool.names[0]
		lines := netLines[name]
		if lines == nil {
			t.Errorf("no line for %s: %q", name, tool.names)
		}
		known := tool.known()
		for _, line := range lines {
			base := append(strings.Fields(name), strings.Fields(line)...)
			before, err := Of(base)
			if err != nil {
				t.Fatal(base, err)
			}
		flags:
			for _, flag := range slices.Sorted(maps.Keys(known)) {
				if strings.HasSuffix(flag, ".") || strings.Contains(line+" ", "-"+flag+" ") || strings.Contains(strings.ReplaceAll(line, "_", "-"), "-"+flag+"=") || strings.Contains(netImplied, " "+line+" --"+flag+" ") {
					continue // the beginning of names, or there already
				}
				for _, value := range netValues {
					args := append(slices.Clone(base), "--"+flag)
					if !known[flag].bare {
						args = append(args, value)
					}
					after, err := Of(args)
					if err != nil {
						continue flags
					}
					differs := !slices.Equal(before.Args, after.Args)
					if saysNothing(after, flag) && differs {
						t.Errorf("%s %s --%s %s changes the command, and its note says that it doesn't", name, line, flag, value)
					}
					if known[flag].quiet && differs {
						t.Errorf("%s %s --%s changes the command, and its table says that it doesn't", name, line, flag)
					}
					if differs || known[flag].quiet || !slices.Equal(before.Notes, after.Notes) {
						continue flags
					}
				}
				t.Errorf("%s %s --%s: nothing differs, and nothing is said", name, line, flag)
			}
		}
	}
}

// saysNothing reports whether a note says that a flag changes nothing.
func saysNothing(c Command, flag string) bool {
	return slices.ContainsFunc(c.Notes, func(note string) bool { return strings.HasPrefix(note, "--"+flag+": changes nothing") })
}

// netPairs are flags of which one does what the other does, or sets it aside.
const netPairs = " artifact-dir/output-artifact-dir concurrency-ramp-duration/request-rate-ramp-duration model/model-names num-warmup-requests/warmup-request-count" +
	" conversation-num/num-conversations conversation-num/num-sessions num-conversations/num-sessions output-dir/output-path random-seed/seed request-format/request-type" +
	" api/api.type api.response-format.json-schema/api.response-format.type data.shared-prefix.seed/load.base-seed data.trace.file/data.type disable-ignore-eos/ignore-eos" +
	" backend/ignore-eos disable-console/disable-console-interactive disable-console/disable-console-outputs disable-console/disable-progress" +
	" disable-console-interactive/disable-console-outputs disable-console-interactive/disable-progress disable-console-outputs/disable-progress "

// Nor is a flag dropped in silence beside another one: what changes a command by itself
// changes it, or is named, beside each of the others that do.
func TestNetOfPeersPairs(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	for _, tool := range tools {
		name := tool.names[0]
		known := tool.known()
		base := append(strings.Fields(name), strings.Fields(netLines[name][0])...)
		before, err := Of(base)
		if err != nil {
			t.Fatal(base, err)
		}
		with := map[string][]string{} // a flag with a value that changes the command
		for flag, f := range known {
			if f.none || f.quiet || strings.HasSuffix(flag, ".") || strings.Contains(netLines[name][0]+" ", "-"+flag+" ") {
				continue
			}
			for _, value := range netValues {
				words := []string{"--" + flag, value}
				if f.bare {
					words = words[:1]
				}
				if after, err := Of(slices.Concat(base, words)); err == nil && !slices.Equal(before.Args, after.Args) {
					with[flag] = words
					break
				}
			}
		}
		for a, first := range with {
			one, err := Of(slices.Concat(base, first))
			if err != nil {
				t.Fatal(first, err)
			}
			for b, second := range with {
				pair := min(a, b) + "/" + max(a, b)
				if a == b || strings.Contains(netPairs, " "+pair+" ") {
					continue
				}
				both, err := Of(slices.Concat(base, first, second))
				if err == nil && saysNothing(both, b) && !slices.Equal(one.Args, both.Args) {
					t.Errorf("%s %q: --%s changes the command, and its note says that it doesn't", name, slices.Concat(first, second), b)
				}
				if err == nil && slices.Equal(one.Args, both.Args) && slices.Equal(one.Notes, both.Notes) {
					t.Errorf("%s %q: nothing differs, and nothing is said of --%s", name, slices.Concat(first, second), b)
				}
			}
		}
	}
}
