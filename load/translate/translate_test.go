package translate

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ line, want, note string }{
		{"vllm bench serve --backend openai-chat --base-url http://h:8000 --model m --random-input-len 100 --random-output-len 20 --num-prompts 50 --request-rate 4 --ignore-eos --goodput ttft:500 tpot:50 --save-result",
			"bench http://h:8000 --model m --requests 50 --ignore-eos --objective ttft:500 tpot:50 --api openai-chat --rate 4 --arrival poisson --input-tokens 100 --output-tokens 20 --warmup 0", "role chunk"},
		{"vllm bench serve --host h --port 9 --num-prompts 7 --random_range_ratio=0.5 --probe-request-rate 1",
			"bench http://h:9 --requests 7 --api openai-completions --concurrency 7 --input-tokens uniform:512,1536 --output-tokens uniform:64,192 --ignore-eos --warmup 0 --parameters {\"repetition_penalty\": 1.0}", "--probe-request-rate: no equal"},
		{"aiperf profile -m m -u h:8000 --endpoint-type chat --streaming --concurrency 8 --request-count 100 --isl 256 --isl-stddev 16 --osl 64 --extra-inputs ignore_eos:true --extra-inputs temperature:0.5 --extra-inputs user:x",
			`bench http://h:8000 --model m --api openai-chat --ignore-eos --concurrency 8 --requests 100 --warmup 0 --input-tokens normal:256,16 --output-tokens 64 --parameters {"temperature": 0.5, "user": "x"}`, "tpot"},
		{"aiperf profile --model m --url http://h --request-rate 5 --goodput time_to_first_token:370", "bench http://h --model m --objective ttft:370 --no-stream --api openai-chat --rate 5 --requests 10 --warmup 0 --input-tokens 550 --arrival poisson", ""},
		{"genai-perf profile -m m --service-kind openai --streaming --concurrency 4 --output-tokens-mean 100", "bench http://localhost:8000 --model m --api openai-chat --concurrency 4 --requests 10 --warmup 0 --input-tokens 550 --output-tokens 100", "no address"},
		// Fields of the body that are flags here, those of the tool replaced by them as there.
		{`aiperf profile -m m -u a:1,b:2 --streaming --concurrency 2 --request-count 9 --isl 10 --osl 20 --extra-inputs {"max_tokens":30,"ignore_eos":true,"seed":[1,{"a":2}],"model":"y"}`,
			`bench http://a:1 --api openai-chat --concurrency 2 --requests 9 --warmup 0 --input-tokens 10 --output-tokens 30 --ignore-eos --model y --parameters {"seed":[1,{"a":2}]}`, "b:2 is left out"},
		{`vllm bench serve --model m --base-url http://h --num-prompts 5 --extra-body {"ignore_eos":false,"stream":false}`,
			`bench http://h --model m --requests 5 --api openai-completions --concurrency 5 --input-tokens 1024 --output-tokens 128 --warmup 0 --no-stream --parameters {"repetition_penalty": 1.0}`, ""},
		{"vllm bench serve --model m --base-url http://h --backend openai-embeddings --endpoint /v1/embeddings --num-prompts 5",
			"bench http://h --model m --requests 5 --api embeddings --concurrency 5 --input-tokens 1024 --warmup 0", ""},
		{"vllm bench serve --model m --base-url http://h --backend tgi --num-prompts 5",
			`bench http://h --model m --requests 5 --api tgi --concurrency 5 --input-tokens 1024 --output-tokens 128 --warmup 0 --parameters {"parameters": {"do_sample": true, "temperature": 0.01, "top_p": 0.99}}`, "no field against it"},
		{"vllm bench serve --model m --base-url http://h --dataset-name custom --dataset-path p.jsonl --num-prompts 5 --disable-shuffle",
			`bench http://h --model m --prompts p.jsonl --requests 5 --api openai-completions --concurrency 5 --output-tokens 256 --warmup 0 --parameters {"repetition_penalty": 1.0}`, "chat template"},
		{"guidellm benchmark --target http://h:8000 --rate-type constant --rate 10 --max-seconds 30 --data prompt_tokens=256,output_tokens=128",
			"bench http://h:8000 --duration 30s --input-tokens 256 --output-tokens 128 --ignore-eos --rate 10 --api openai-chat --seed 42 --warmup 0", "time_per_output_token"},
		{"guidellm benchmark run --backend kind=openai_http,target=http://h,model=m,request_format=/v1/chat/completions --profile kind=concurrent,streams=4 --constraint kind=max_requests,count=9",
			"bench http://h --model m --api openai-chat --requests 9 --concurrency 4 --seed 42 --warmup 0", ""},
		{"guidellm benchmark --target http://h --rate-type concurrent --rate 1,2,4", "sweep http://h --concurrency 1,2,4 --api openai-chat --seed 42 --warmup 0", ""},
		{"inference-perf --server.base_url=http://h --server.model_name=m --api.type=chat --api.streaming=true --load.type=poisson --load.stages=10@60,20@30",
			"bench http://h --model m --api openai-chat --stages 60s@10,30s@20 --ignore-eos --arrival poisson --grace 120s --input-tokens 8 --output-tokens 30 --warmup 0", "tokenizer"},
	} {
		got, err := Of(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if line := strings.Join(got.Args, " "); line != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.line, line, c.want)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q have no %q", c.line, got.Notes, c.note)
		}
	}
	for line, want := range map[string]string{"wrk http://h": "no tool that is known: vllm bench serve, aiperf", "": "no tool", "aiperf profile x": `"x" stands without a flag`,
		"vllm bench serve --model m --metric-percentiles 50 99": `"99" stands without a flag`, "guidellm benchmark --target http://h --gpu-telemetry a b": `"b" stands without a flag`} {
		if _, err := Of(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
	for _, words := range [][]string{{"vllm bench serve --num-prompts 10"}, {"vllm bench", "serve"}} { // a line in quotes is one word
		if _, err := Of(words); err == nil || !strings.Contains(err.Error(), "no tool") {
			t.Errorf("%q: %v", words, err)
		}
	}
	got, err := Of([]string{"aiperf", "profile", "--api-key", "sk-secret", "--unknown", "sk-secret"})
	if err != nil || strings.Contains(strings.Join(append(got.Args, got.Notes...), " "), "sk-secret") {
		t.Errorf("a key is repeated: %+v, %v", got, err)
	}
}

// FuzzOf: no words crash it.
func FuzzOf(f *testing.F) {
	f.Add("vllm bench serve --goodput")
	f.Add("aiperf profile --isl= --extra-inputs {")
	f.Add("guidellm benchmark --profile kind=,rate --data =")
	f.Fuzz(func(t *testing.T, line string) {
		for _, words := range [][]string{strings.Split(line, " "), {line}} {
			if c, err := Of(words); err == nil && len(c.Args) < 2 {
				t.Errorf("%q became %q", words, c.Args)
			}
		}
	})
}

// Command lines as others publish them: flags that argparse lets shorten, sets that the
// tool fetches, and flags of several words.
func TestPublishedCommands(t *testing.T) {
	for command, want := range map[string][2]string{ // what is in it, what is not
		"python3 -m sglang.bench_serving --backend sglang --dataset-name random --num-prompts 1000 --random-input 1024 --random-output 1024 --random-range-ratio 0.5": {"--input-tokens uniform:512,1024 --output-tokens uniform:512,1024", "no equal"},
		"vllm bench serve --backend openai-chat --model m --dataset-name hf --dataset-path lmarena-ai/VisionArena-Chat":                                               {"dataset-name hf: no equal", "--workload lmarena"},
		"aiperf profile -m m --url localhost:1 --server-metrics localhost:2 localhost:3 --request-count 50":                                                           {"--requests 50", "localhost:3"},
		"vllm bench serve --model m --random 5": {"--random: no equal", "--input-tokens 5"},
		// SGLang's defaults: lengths from one token on, its own port and API, answers of the whole length, ShareGPT.
		"python3 -m sglang.bench_serving --backend sglang --dataset-name random --random-input-len 1000": {"http://localhost:30000 --api sglang --ignore-eos --seed 42 --wait-ready 60s --requests 1000 --concurrency 1000 --warmup 1 --input-tokens uniform:1,1000 --output-tokens uniform:1,1024", "no address"},
		"python -m sglang.bench_serving --disable-ignore-eos --random-range-ratio 1":                     {"--api sglang", "--ignore-eos"},
		"python -m sglang.bench_serving --num-prompts 5":                                                 {"--dataset-name sharegpt: name the file", "--input-tokens"},
		"python -m sglang.bench_serving --backend vllm --dataset-name random --random-range-ratio 1":     {"http://localhost:8000 --api openai-completions", "uniform"},
		// A file of which only the words are taken, cut to a length: sample_random_requests of sglang, SonnetDataset of vLLM.
		"python3 -m sglang.bench_serving --backend sglang-oai --dataset-name random --random-input 6000 --random-output 1000 --random-range-ratio 1 --dataset-path /root/ShareGPT.json --max-concurrency 20 --num-prompts 2000": {"--input-tokens 6000 --output-tokens 1000 --parameters", "--prompts"},
		"vllm bench serve --model m --dataset-name random --dataset-path ShareGPT.json --random-input-len 128 --num-prompts 9":                                                                                                  {"ShareGPT.json: at most the words", "--prompts"},
		"vllm bench serve --model m --dataset-name sonnet --dataset-path sonnet.txt --sonnet-input-len 600":                                                                                                                     {"--input-tokens 600 --output-tokens 150", "--prompts"},
		"python benchmark_serving.py --model m --dataset-name sonnet --dataset-path sonnet.txt":                                                                                                                                 {"--sonnet-prefix-len 200: no equal", "--workload sonnet"},
		"vllm bench serve --model m --dataset-name prefix_repetition --dataset-path x.json":                                                                                                                                     {"--workload shared-prefix.yaml", "--workload x"},
		// Two names of one flag, GuideLLM's async, and a ratio for each side.
		"aiperf profile -m m --request-rate 5 --request-rate-mode constant":                                    {"--arrival constant", "no equal"},
		"guidellm benchmark --target h:1 --rate-type async --rate 3":                                           {"--rate 3", "--arrival"},
		`vllm bench serve --model m --random-input-len 1000 --random-range-ratio {"input":0.3,"output":"0.5"}`: {"--input-tokens uniform:700,1300 --output-tokens uniform:64,192", "no equal"},
		// An endpoint of another path, and what is done to the server around a run.
		"vllm bench serve --model m --backend openai-chat --base-url https://gw/ --endpoint /llm/v1/chat/completions": {"bench https://gw/llm/v1/chat/completions --model m --api openai-chat", "no equal"},
		"vllm bench serve --model m --profile --base-url http://h:1 --endpoint /v1/completions":                       {"bench http://h:1 --model m --server-profile", "no equal"},
		"python -m sglang.bench_serving --flush-cache --dataset-name random":                                          {"--reset-cache --api sglang --ignore-eos --control-limit 60s", "no equal"},
		"inference-perf --server.base_url=http://x --load.type=concurrent --load.stages=8@30":                         {"load.type concurrent: no equal", "--stages"},
		// Switches may be shortened too; what may be a switch or a flag is neither.
		"vllm bench serve --model m --save-r --num-prompts 7": {"--requests 7", "no equal"},
		"vllm bench serve --model m --ignore --num-prompts 7": {"--ignore-eos --requests 7", "no equal"},
		"vllm bench serve --model m --plot-t --num-prompts 7": {"--plot-timeline: no equal", "--plot-t:"},
		"vllm bench serve --model m --disable-tq --seed 7":    {"--quiet --seed 7", "no equal"},
		"vllm bench serve --model m --in --num-prompts 7":     {"--in: no equal", "--insecure"},
	} {
		c, err := Of(strings.Fields(command))
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		got := strings.Join(c.Args, " ") + "\n" + strings.Join(c.Notes, "\n")
		if !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// A line in quotes is taken apart as a shell does it (POSIX, 2.2): the words are those
// that sh -c 'printf "%s\\n" …' prints.
func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"vllm bench  serve --model m\n":       {"vllm", "bench", "serve", "--model", "m"},
		"a \\\n  --b 'c d'":                   {"a", "--b", "c d"},
		`a --header "K: \"v\" \n $X" e\ f ''`: {"a", "--header", `K: "v" \n $X`, "e f", ""},
		`--extra '{"a": "b\n"}'x"y"`:          {"--extra", `{"a": "b\n"}xy`},
		"":                                    nil,
	} {
		if got, err := Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{"a 'b", `a "b`} {
		if _, err := Split(line); err == nil {
			t.Errorf("%q is split", line)
		}
	}
}

// What is masked has to be filled in, which is said.
func TestMasked(t *testing.T) {
	for header, want := range map[string]bool{"Authorization=***": true, "X-Model=llama": false} {
		got, err := Of([]string{"vllm", "bench", "serve", "--header", header})
		if err != nil || strings.Contains(strings.Join(got.Notes, "\n"), "fill it in") != want {
			t.Errorf("%s: %q, %v", header, got.Notes, err)
		}
	}
}

// A name of Hugging Face's is no --tokenizer, which bench would refuse; a file or a folder is one.
func TestTokenizers(t *testing.T) {
	dir := t.TempDir()
	for name, kept := range map[string]bool{"Qwen/Qwen3-Next-80B-A3B-Instruct": false, "builtin": false, dir: true, "o200k_base": true} {
		for _, line := range []string{"vllm bench serve --model m --tokenizer ", "aiperf profile -m m --tokenizer ", "guidellm benchmark --target h --rate 1 --processor ",
			"python -m sglang.bench_serving --tokenizer ", "vllm bench serve --served-model-name s --model "} {
			got, err := Of(strings.Fields(line + name))
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(strings.Join(got.Args, " "), "--tokenizer "+name); has != kept || strings.Contains(strings.Join(got.Notes, "\n"), "--tokenizer "+name) == kept {
				t.Errorf("%s%s: %q, %q", line, name, got.Args, got.Notes)
			}
		}
	}
}
