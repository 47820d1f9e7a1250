package translate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/base/config"
)

// peer is a command line of a tool, what must be in its translation and what must not;
// a part that begins with # is in the notes. because is where the tool says so.
type peer struct{ line, in, out, because string }

func testPeers(t *testing.T, cases []peer) {
	t.Helper()
	for _, c := range cases {
		got, err := Of(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		args, notes := strings.Join(got.Args, " ")+" ", strings.Join(got.Notes, "\n")
		has := func(part string) bool {
			if note, ok := strings.CutPrefix(part, "#"); ok {
				return strings.Contains(notes, note)
			}
			return strings.Contains(args, part+" ")
		}
		for part := range strings.SplitSeq(c.in, "|") {
			if part != "" && !has(part) {
				t.Errorf("%s\nhas no %q (%s):\n%s\n%s", c.line, part, c.because, args, notes)
			}
		}
		for part := range strings.SplitSeq(c.out, "|") {
			if part != "" && has(part) {
				t.Errorf("%s\nhas %q (%s):\n%s\n%s", c.line, part, c.because, args, notes)
			}
		}
	}
}

func TestVLLM(t *testing.T) {
	const v = "vllm bench serve --model m "
	testPeers(t, []peer{
		{v, "--requests 1000|--concurrency 1000|--input-tokens 1024|--output-tokens 128|--ignore-eos|--warmup 0|--api openai-completions|--parameters {\"repetition_penalty\": 1.0}", "",
			"arg_utils.py:30 num-prompts, :200 random lengths; serve.py main_async: random sets ignore_eos; num-warmups 0; endpoint_request_func.py:231"},
		{v + "--dataset-name sharegpt --dataset-path s.json --output-len 9 --no-oversample", "--prompts s.json|--output-tokens 9|#random order|#more than 1,024, or more than 2,048 with its answer, are left out|#--no-oversample: no equal", "--ignore-eos", "serve.py main_async: output_len is every set's; datasets.py is_valid_sequence"},
		{v + "--dataset-name custom --dataset-path d.jsonl --disable-shuffle", "--prompts d.jsonl|--output-tokens 256", "#random order", "arg_utils.py custom-output-len 256"},
		{v + "--dataset-name custom --dataset-path d.jsonl --custom-output-len -1", "--workload d.jsonl", "--output-tokens", "custom.py: -1 is the file's own"},
		{v + "--served-model-name s --base-url http://h", "--model s|#--tokenizer m: no file here", "--model m", "serve.py main_async: model_name is served_model_name, the tokenizer's is model"},
		{v + "--input-len 5 --random-input-len 9", "--input-tokens 5", "", "serve.py main_async: input_len goes before"},
		{v + "--backend vllm --endpoint-type openai-chat", "--api openai-chat", "", "serve.py 0.9: endpoint_type chooses the function"},
		{v + "--base-url http://h/v1 --endpoint /v1/chat/completions --backend openai-chat", "bench http://h/v1", "", "serve.py main_async: api_url is base_url + endpoint"},
		{v + "--base-url http://h --endpoint /proxy/v1/completions", "bench http://h/proxy/v1/completions", "#the path", "the same"},
		{v + "--base-url http://h --endpoint /custom", "#--endpoint /custom", "", "the same"},
		{v + "--host ::1 --port 9", "bench http://[::1]:9", "", "serve.py: join_host_port"},
		{v + "--burstiness 0.5 --request-rate 4", "--rate 4|--arrival gamma|--burstiness 0.5", "--concurrency", "serve.py get_request: gamma of shape burstiness"},
		{v + "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 --num-prompts 100", "--stages 8.333s@1..2,5s@2..3,3.571s@3..4,2.778s@4..5,2.273s@5..6,1.923s@6..7,1.667s@7..8,1.471s@8..9,4.444s@9|--arrival poisson|#grows with each request", "--concurrency",
			"serve.py _get_current_request_rate: by the request's number; 100 requests take 100 ln(9)/8 = 27.5 s, here 27.0"},
		{v + "--ramp-up-strategy exponential --ramp-up-start-rps 2 --ramp-up-end-rps 20 --num-prompts 80 --burstiness 100", "--stages 4.285s@2..2.667,3.214s@2.667..3.557,2.41s@3.557..4.743,1.807s@4.743..6.325,1.355s@6.325..8.434,1.016s@8.434..11.25,0.7621s@11.25..15,0.5715s@15..20,1.789s@20|--arrival gamma|--burstiness 100", "--concurrency",
			"the same: 80 requests take 80 (1/2 − 1/20)/ln 10 = 15.6 s, here 15.4; gaps are gamma in a ramp too"},
		{v + "--header A=b C=d --metadata x=1 y=2 --lora-modules l1 l2", "--header A: b|--header C: d|--tag x=1|--tag y=2|#--lora-modules: no equal", "", "serve.py add_cli_args: nargs"},
		{v + "--profile --no-stream --random-prefix-len 7", "--server-profile|#--random-prefix-len 7: no equal", "--no-stream", "serve.py: profile starts the server's; arg_utils.py no-stream is about the set's file"},
		{v + "--repetition-penalty 1.1 --frequency-penalty 0.2", `--parameters {"repetition_penalty": 1.1, "frequency_penalty": 0.2}`, "", "serve.py sampling_params"},
		{v + "--num-prompts -1 --dataset-name spec_bench --dataset-path q.jsonl", "--prompts q.jsonl|--output-tokens 256|#--num-prompts -1", "--requests", "docs/benchmarking/cli.md"},
		{v + "--backend sglang", "--api openai-completions", "", "endpoint_request_func.py: sglang is async_request_openai_completions"},
		{v + "--dataset-name timed_trace --dataset-path tt.jsonl --num-prompts 3 --timed-trace-sec-multiplier 0.001 --timed-trace-chunk-hash-size 512", `--workload trace.yaml|--requests 3|--ignore-eos|--speedup 1000|#{file: "tt.jsonl", time_in: s, block: 512}`, "--concurrency|#no equal|#at once",
			"serve.py 0.33 main_async: self_timed, ignore_eos; datasets.py TimedTraceDataset"},
		{v + "--dataset-name timed_trace --dataset-path tt.jsonl --timed-trace-sec-multiplier 0.5 --request-rate 5 --burstiness 2", "--speedup 2|#a rate beside the times of a file is ignored", "--rate|--burstiness", "the same: timestamps × the multiplier are seconds"},
		{v + "--dataset-name timed_trace --dataset-path tt.jsonl --timed-trace-sec-multiplier 1e-3 --no-self-timed", "--concurrency 1000", "--speedup", "the same: no times are played"},
		{v + "--dataset-name timed_trace --dataset-path tt.jsonl --max-concurrency 8", `#time_in: s, block: 16}|#when: {trace: {}, concurrency: 8}`, "--concurrency", "the same: a multiplier of 1, 16 tokens a hash"},
		{v + "--dataset-name timed_trace --dataset-path tt.jsonl --no-self-timed --request-rate 4", "--rate 4", "#a cap", "the help of --self-timed"},
		{v + "--dataset-name random-mm --random-input-len 300 --random-output-len 40 --random-range-ratio 0.5 --backend openai-chat --random-mm-bucket-config {(256,512,1):1.0} --random-mm-base-items-per-request 2", "--input-tokens uniform:150,450|--output-tokens uniform:20,60|--images 2x512x256|--ignore-eos", "#no equal",
			"datasets.py RandomMultiModalDataset: lengths are those of random, a bucket is height, width, frames"},
		{v + "--dataset-name random-mm", "--input-tokens 1024|--output-tokens 128|#a mix: 256x256, 1280x720", "--images", "the same: DEFAULT_MM_ITEM_BUCKET_CONFIG"},
		{v + "--dataset-name random-mm --random-mm-base-items-per-request 0", "--input-tokens 1024", "#random-mm-bucket-config", "the same: no items"},
		{v + "--backend openai-embeddings --random-batch-size 4 --num-prompts 10", "--batch 4|--requests 3|--concurrency 3", "", "datasets.py RandomDataset.sample: so many texts, in batches"},
		{v + "--backend vllm-rerank --dataset-name random-rerank --random-batch-size 4 --num-prompts 100 --random-input-len 256", "--batch 4|--requests 25|--input-tokens 128|#`query: 127`", "--output-tokens", "datasets.py RandomDatasetForReranking: half of the length is the query's"},
		{v + "--random-batch-size 4", "--requests 250|#4 texts in a request", "--batch", "of completions too: prompts as a list"},
		{v + "--goodput ttft:500 tpot:50 e2el:9000", "--objective ttft:500 tpot:50 e2e:9000", "", "serve.py calculate_metrics: a share is measured, and no run fails for it"},
		{v + "--dataset-name sharegpt --dataset-path s.json --random-input-len 9", "#--random-input-len: changes nothing here", "--input-tokens", "datasets.py get_samples: of random sets alone"},
		{v + "--dataset-name random --sharegpt-output-len 9", "--output-tokens 128|#--sharegpt-output-len: changes nothing here", "--output-tokens 9", "the same"},
		{v + "--unheard-of x --another", "#--unheard-of: no equal|#--another: no equal", "", "what isn't known is said"},
	})
}

func TestBenchmarkServing(t *testing.T) {
	testPeers(t, []peer{
		{"python3 benchmarks/benchmark_serving.py --model m --dataset-name random --temperature 0.5", `--warmup 1|--parameters {"temperature": 0.5}|--output-tokens 128`, "--ignore-eos",
			"benchmark_serving.py 0.8: a test run of one prompt; ignore_eos only where asked for"},
		{"python3 utils/bench_serving/benchmark_serving.py --model m --dataset-name random --random-input-len 1024 --random-output-len 1024 --random-range-ratio 0.8 --num-warmups 8", "--warmup 8|#in InferenceX's script", "#num-warmups: no equal",
			"InferenceX utils/bench_serving/benchmark_serving.py: from range_ratio × the length to it"},
		{"python3 benchmark_serving.py --model m --dataset-name random --random-input-len 1024 --random-output-len 512 --random-range-ratio 1.0", "--input-tokens 1024|--output-tokens 512", "#in InferenceX's script", "vllm/benchmarks/benchmark_serving.py 0.8.4: the default of 1.0 is the fixed length; later a ratio of 1 is refused"},
		{"python benchmark_serving.py --model m", `--parameters {"temperature": 0}|#--dataset-name sharegpt: name the file`, "--input-tokens", "benchmark_serving.py 0.8: dataset-name sharegpt; temperature 0.0 unasked"},
		{"python benchmark_serving.py --backend tgi --endpoint /generate_stream --model m", `--api tgi|"temperature": 0.01,`, `#the path|"temperature": 0,`, "benchmark_serving.py: its own words on tgi"},
		{"python3 -m tensorrt_llm.serve.scripts.benchmark_serving --model m --dataset-name random --random-ids --no-test-input --non-streaming --ignore-eos",
			"--no-stream|--warmup 0|--ignore-eos|#--random-ids: no equal", "--warmup 1", "tensorrt_llm/serve/scripts/benchmark_serving.py: no-test-input, non-streaming"},
	})
}

func TestSGLang(t *testing.T) {
	const s = "python3 -m sglang.bench_serving "
	testPeers(t, []peer{
		{s, `bench http://localhost:30000|--api sglang|--ignore-eos|--requests 1000|--concurrency 1000|--warmup 1|--parameters {"sampling_params": {"temperature": 0}}|#--dataset-name sharegpt`, "--input-tokens|#1,024",
			"serving.py cli_main: port 30000, num-prompts 1000, warmup-requests 1, temperature 0.0, sharegpt; datasets/sharegpt.py leaves out what has less than 2 tokens alone"},
		{s + "--backend vllm-chat --temperature 0.6 --top-p 0.9", `bench http://localhost:30000|--api openai-chat|--parameters {"temperature": 0}|#--temperature: changes nothing|#--top-p: changes nothing`, "", "temperature and top_p are of /generate alone; serving.py run_benchmark: the table of ports has no vllm-chat, so 30000"},
		{s + "--backend sglang-oai --disable-ignore-eos", "--api openai-completions", "--ignore-eos", "serving.py: ignore_eos is not disable_ignore_eos"},
		{s + "--backend sglang-native", "#an ITL there is a chunk's gap shared by its tokens, and E2E", "#gap between chunks", "serving.py async_request_sglang_generate: adjust_itl"},
		{s + "--backend sglang-oai-chat", "#an ITL there is a gap between chunks, and E2E", "#shared by", "serving.py async_request_openai_chat_completions"},
		{s + "--backend lmdeploy", "bench http://localhost:23333|--api openai-completions", "", "serving.py: ports"},
		{s + "--dataset-name image --image-count 2 --image-resolution 512x768 --backend sglang-oai-chat", "--images 2x768x512|--output-tokens uniform:1,1024", "", "serving.py image-resolution: heightxwidth"},
		{s + "--dataset-name random --flush-cache --profile --lora-name a b --use-trace-timestamps true", "--reset-cache|--server-profile|#--lora-name: no equal", "#true", "serving.py cli_main"},
		{s + "--backend trt --dataset-name random --random-output-len 20 --random-range-ratio 1 --temperature 0.7", `bench http://localhost:8000|--api triton|--model ensemble|--output-tokens 20|"end_id": 1048576, "min_length": 20}|#--temperature: changes nothing`, "--ignore-eos|#may end before",
			"serving.py 0.5.23 _BACKEND_API_PATHS, async_request_trt_llm"},
		{s + "--backend trt --dataset-name random --disable-ignore-eos", `"temperature": 0.000001, "top_p": 1.0}`, "#min_length", "the same"},
		{s + "--backend trt --dataset-name random", "#its min_length too", "", "the same: lengths are drawn from 1 on"},
		{s + "--backend sglang-embedding --dataset-name random", "--api embeddings", "--parameters", "async_request_openai_embeddings: input and model alone"},
		{s + "--backend sglang-oai --cache-report", `"return_cached_tokens_details": true, "temperature": 0}`, "", "serving.py run_benchmark: cache_report"},
		{s + "--backend vllm --cache-report", "#--cache-report: changes nothing", "", "the same: only of SGLang's"},
		{s + "--backend sglang --temperature 0.7 --top-p 0.9", `--parameters {"sampling_params": {"temperature": 0.7, "top_p": 0.9}}`, "#changes nothing", "async_request_sglang_generate"},
		{s + "--dataset-name custom --dataset-path d.jsonl --num-prompts 20 --sharegpt-output-len 7", "--prompts d.jsonl|--requests 20|--output-tokens 7|#each of the set's texts is sent once there, 20 at most", "", "datasets/custom.py: no oversampling"},
		{s + "--dataset-name random", "--seed 42|--wait-ready 60s", "#sent once there", "serving.py cli_main: its defaults"},
		{s + "--dataset-name generated-shared-prefix --gsp-range-ratio 0.5 --num-prompts 9", `#{input: "uniform:64,128", output: "uniform:128,256", prefix: {tokens: "uniform:1024,2048"|#--num-prompts 9: without effect there`, "", "datasets/generated_shared_prefix.py: compute_random_lens of each"},
		{s + "--header A=b C=d --tag t --max-concurrency 4", "--header A: b|--header C: d|--tag t|--concurrency 4", "--concurrency 1000", "serving.py cli_main: header nargs +"},
		{s + `--extra-request-body {"temperature":1} --backend sglang-oai`, `--parameters {"temperature":1}`, "", "oai_client: the extra body goes over the payload"},
		{s + "--backend sglang-oai --dataset-name random --goodput ttft:500 tpot:50 --num-prompts 10 --unheard-of a b --seed 3", "--objective ttft:500 tpot:50|--seed 3|#--unheard-of: no equal", "", "serving.py 0.5.23: goodput nargs +"},
		{s + "--backend sglang-oai --dataset-name mooncake --dataset-path t.jsonl --use-trace-timestamps --mooncake-slowdown-factor 2 --max-concurrency 64", "--workload t.jsonl|--speedup 0.5|#when: {trace: {}, concurrency: 64}", "--concurrency|#no equal here; --workload|#at once", "serving.py 0.5.23 benchmark, get_mooncake_request_over_time"},
		{s + "--dataset-name mooncake --dataset-path t.jsonl --request-rate 4", "--workload t.jsonl", "--rate|--concurrency", "the same: of the backend sglang unasked, --request-rate is ignored"},
		{s + "--dataset-name generated-shared-prefix --gsp-num-groups 4 --gsp-system-prompt-len 1024 --num-prompts 9", `--workload shared-prefix.yaml|--requests 64|--concurrency 64|#{input: "128", output: "256", prefix: {tokens: "1024", count: 4}}`, "#no equal", "datasets/generated_shared_prefix.py: groups × prompts of one, whatever --num-prompts says"},
		{"vllm bench serve --model m " + "--dataset-name prefix_repetition --prefix-repetition-prefix-len 8000 --prefix-repetition-num-prefixes 16 --prefix-repetition-output-len 64", `--workload shared-prefix.yaml|#{input: "256", output: "64", prefix: {tokens: "8000", count: 16}}`, "#no equal", "datasets.py: PrefixRepetitionRandomDataset"},
	})
}

func TestAIPerf(t *testing.T) {
	const a = "aiperf profile -m m "
	testPeers(t, []peer{
		{a, "bench http://localhost:8000|--no-stream|--api openai-chat|--concurrency 1|--requests 10|--input-tokens 550|--warmup 0|#as long as the model likes", "--output-tokens",
			"cli_config.py:2211 request_count; defaults of the help"},
		{a + "--concurrency 10,40 --isl 128,512", "sweep http://localhost:8000|--concurrency 10,40|--input-tokens 128,512|--requests 80|#at each point", "", "cli_config.py: a list becomes a sweep; max(10, 2 × concurrency)"},
		{a + "--request-rate 3 --vllm-burstiness 0.5", "--arrival gamma|--burstiness 0.5", "", "_converter_profiling.py _profiling_phase_type: smoothness makes it gamma"},
		{a + "--request-rate 3", "--arrival poisson", "--concurrency", "cli_config.py arrival_pattern"},
		{a + "--request-rate 3 --arrival-pattern constant --concurrency 7", "--arrival constant|--concurrency 7", "", "the help of --concurrency: a cap beside a rate"},
		{a + "--user-centric-rate 4 --num-users 15", "--concurrency 15|--pace 3.75s", "", "docs/tutorials/user-centric-timing.md: 15 / 4.0 = 3.75 s"},
		{a + "--url http://a http://b --extra-inputs x:1 y:z --header A:b C:d", `bench http://a|--parameters {"x": 1, "y": "z"}|--header A:b|--header C:d|#http://b is left out`, "", "cli_config.py:202, 566, 586: consume_multiple"},
		{a + "--seq-dist 128,64:25;512,128:75", "--input-tokens 25%:128/64,75%:512/128", "#as long as", "the help of --seq-dist"},
		{a + "--seq-dist 128|4,64:100", "#--seq-dist", "--input-tokens", "a deviation in a share"},
		{a + "--random-range-ratio 0.5 --isl 100 --osl 10", "--input-tokens uniform:50,150|--output-tokens uniform:5,15", "", "the help of --random-range-ratio, vllm style"},
		{a + "--random-range-ratio 0.5 --random-corpus-style sglang --isl 100 --osl 10", "--input-tokens uniform:50,100|--output-tokens uniform:5,10", "", "the same, sglang style"},
		{a + "--failed-request-threshold 0.05 --reset-kv-cache --server-profiler", "--max-failures 5%|--reset-cache|--server-profile", "", "the help of --failed-request-threshold: a ratio"},
		{a + "--benchmark-duration 9 --benchmark-grace-period inf", "--duration 9s|--grace 86400s", "--requests", "the help of --benchmark-grace-period: inf"},
		{a + "--endpoint-type cohere_rankings --rankings-passages-mean 10 --rankings-passages-prompt-token-mean 128 --rankings-query-prompt-token-mean 32 -u http://h", "bench http://h/v2/rerank|--api rerank|--batch 10|--input-tokens 128|#`query: 32`", "--output-tokens",
			"plugins.yaml: /v2/rerank; composer of synthetic rankings"},
		{a + "--endpoint-type hf_tei_rankings --rankings-passages-mean 10 --rankings-passages-stddev 2 --isl 9 -u http://h", "bench http://h|--api tei-rerank|--batch normal:10,2|--input-tokens 550|#`query: 550`|#--isl: changes nothing", "", "the same: passages have lengths of their own"},
		{a + "--endpoint-type cohere_rankings --custom-endpoint /v1/rerank -u http://h", "bench http://h|--api rerank", "", "custom_endpoint goes before the type's"},
		{a + "--image-width-mean 64 --image-height-mean 32 --image-batch-size 3 --image-format jpeg", "--images 3x64x32|#--image-format jpeg", "", "cli_config.py: image_batch_size"},
		{a + "--image-width-mean 64", "#--image-width-mean: changes nothing", "--images", "_converter_dataset.py: both sides make pictures"},
		{a + "--video-width 640 --video-height 480 --video-duration 3 --video-batch-size 2", "--video 3x640x480|#--video-batch-size 2|#--video-format webm, --video-fps 4", "", "cli_config.py video_width and following"},
		{a + "--endpoint-type audio_transcription --audio-length-mean 10", "--api transcription|--audio 10", "--input-tokens|#as long as", "cli_config.py audio_length_mean"},
		{a + "--audio-length-mean 10", "#--audio-length-mean 10: no equal", "--audio", "the same, of a chat"},
		{a + "--batch-size 2", "#2 texts in a request", "--batch", "prompt_batch_size of a chat"},
		{a + "--osl-stddev 5", "#--osl-stddev: changes nothing here", "--output-tokens", "a deviation of no mean"},
		{a + "--random-range-ratio 0.5", "--input-tokens uniform:275,825", "--output-tokens", "no length is asked for without --osl"},
		{a + "--benchmark-duration 12", "--duration 12s|#there are 100 made prompts there, which come again", "", "_resolve_entries: 100 unless a number is asked for"},
		{a + "--request-count 250", "--requests 250", "#come again", "the same: as many as requests"},
		{a + "--num-conversations 20 --request-count 90", "--requests 90|#there are 20 made prompts", "", "the same: conversations go before requests"},
		{a + "--concurrency 80", "--requests 160|#there are 100 made prompts", "", "the same, beside the default count"},
		{a + "--config x.yml --request-rate 3 --arrival-pattern concurrency_burst", "#--config, -f x.yml: the file is not read|#concurrency_burst", "--arrival", "cli_config.py config_file"},
		{a + "--input-file t.jsonl --custom-dataset-type baseten_trace", "#its min_tokens too there", "", "baseten_trace.py: force_min_tokens"},
		{a + "--input-file t.jsonl --custom-dataset-type baseten_trace --no-force-min-tokens", "", "#its min_tokens too there", "the same"},
		{a + "--connection-reuse-strategy never", "--no-keepalive", "", "the help"},
		{a + "--connection-reuse-strategy sticky_user_sessions --image-width-mean 64 --image-height-mean 32", "--connection per-session|--images 64x32", "", "the help"},
		{a + "--input-file f.jsonl --osl 5", "--prompts f.jsonl|--output-tokens 5|#sent once", "--requests", "the help of --request-count: the size of the set"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace", "--workload t.jsonl|#at the file's times|#add --concurrency 1|#sessions: true", "--concurrency|#sent once|#a cap", "_maybe_auto_promote_trace"},
		{a + "--input-file t.jsonl --custom-dataset-type bailian-trace --concurrency 4 --osl 9", "--workload t.jsonl|#add --concurrency 4|#--osl 9: no equal", "--concurrency|--output-tokens|--prompts", "the same; base_trace_loader.py: a record's output_length"},
		{a + "--input-file t.jsonl --fixed-schedule --concurrency 4", "--workload t.jsonl|#when: {trace: {}, concurrency: 4} beside file:", "--concurrency", "_profiling_phase_type: fixed_schedule is first"},
		{a + "--input-file t.jsonl --fixed-schedule --concurrency 1,2,4 --isl 1,2 --concurrency-ramp-duration 5", "bench http://localhost:8000|#--concurrency 1,2,4: a run for each|#a ramp of 5s: no equal", "sweep http://localhost:8000|--concurrency|--ramp|#before it here", "cli_config.py: a list becomes a sweep"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --fixed-schedule --fixed-schedule-start-offset 30000 --fixed-schedule-end-offset 120000 --isl-block-size 64", `--workload trace.yaml|#{file: "t.jsonl", block: 64, when: {trace: {from: 30s, to: 120s}}}|#take that one's time off`, "#no equal|#changes nothing", "cli_config.py: offsets in ms of the file's times"},
		{a + "--input-file t.jsonl --custom-dataset-type bailian_trace --prompt-input-tokens-block-size 16", `--workload trace.yaml|#{file: "t.jsonl", block: 16}`, "#no equal", "cli_config.py: two names of one"},
		{a + "--input-file t.jsonl --isl-block-size 64 --dataset-sampling-strategy random", `--workload t.jsonl|#block: 64 beside file: "t.jsonl"|#order: random beside file: "t.jsonl"`, "#no equal", "the help of both"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --fixed-schedule-start-offset 1000 --fixed-schedule-end-offset 9000 --isl-block-size 64 --request-rate 5", `--workload t.jsonl|--rate 5|#--fixed-schedule-start-offset: no equal|#--fixed-schedule-end-offset: no equal|#block: 64 beside file: "t.jsonl"`, "#trace.yaml|#block-size: no equal", "the help of the offsets: of a fixed schedule, which a rate sets aside here"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --fixed-schedule-start-offset 1000 --dataset-sampling-strategy shuffle", "--workload trace.yaml|#from: 1s|#--dataset-sampling-strategy: no equal", "#offset: no equal", "the file's times are its order here"},
		{a + "--isl 10 --isl-block-size 64 --prompt-input-tokens-block-size 64 --dataset-sampling-strategy random", "--input-tokens 10|#--isl-block-size: no equal|#--prompt-input-tokens-block-size: no equal|#--dataset-sampling-strategy: no equal", "#beside file", "the help of both: of a set"},
		{a + "--fixed-schedule --fixed-schedule-start-offset 1000 --isl-block-size 64", "#name the file with --workload|#--fixed-schedule-start-offset: no equal|#--isl-block-size: no equal", "#trace.yaml", "the help of --fixed-schedule: of a file"},
		{a + "--conversation-turn-mean 4 --dataset-sampling-strategy sequential", "#a workload file has turns: 4", "#no equal|#order", "the help of --conversation-turn-mean"},
		{a + "--endpoint-type huggingface_generate --extra-inputs temperature:0.5 --extra-inputs top_k:3", `--parameters {"parameters": {"temperature": 0.5, "top_k": 3}}`, "", "endpoints/huggingface_generate.py: parameters.update(extra)"},
		{a + `--endpoint-type huggingface_generate --extra-inputs {"parameters":{"top_k":3}}`, `--parameters {"parameters":{"top_k":3}}`, "", "what is nested stays"},
		{a + "--endpoint-type nim_rankings", "#--endpoint-type nim-rankings: no equal", "--api rerank", "plugins.yaml: nim_rankings is posted to /v1/ranking, with passages"},
		{a + "--endpoint-type cohere_rankings", "--api rerank", "#--endpoint-type cohere-rankings", "cohere_rankings: documents, /v2/rerank"},
		{a + "--fixed-schedule", "#name the file with --workload", "#file:|#file's times", "the help of --fixed-schedule: of a file"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --url http://h:1 --request-rate 4", "--workload t.jsonl|--rate 4|--arrival poisson|#are refused there", "--concurrency|#at the file's times|#sessions: true", "_maybe_auto_promote_trace: rate is refused"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --user-centric-rate 2 --num-users 5", "--concurrency 5|--pace 2.5s|#are refused there", "#at the file's times|#add --concurrency", "the same: users"},
		{a + "--input-file t.jsonl --fixed-schedule --request-rate 4", "--rate 4|#are refused there", "#at the file's times", "FixedSchedulePhase: extra inputs are not permitted"},
		{a + "--input-file t.jsonl --isl 1,2", "bench http://localhost:8000", "sweep http://localhost:8000", "the file has its lengths, so that no list is left"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --no-fixed-schedule --concurrency 2", "--workload t.jsonl|--concurrency 2", "#times", "the help of --no-fixed-schedule"},
		{a + "--input-file t.jsonl --custom-dataset-type mooncake_trace --no-fixed-schedule --synthesis-speedup-ratio 2 --osl 9", "--prompts t.jsonl|--concurrency 1|#sped up|#behind it here", "--speedup", "models.py: output_length overrides --osl"},
		{a + "--input-file t.json --custom-dataset-type weka_trace --replay-speedup 2", "--workload t.json|--concurrency 1|--speedup 2", "#sped up", "the pauses of sessions"},
		{a + "--input-file t.jsonl --custom-dataset-type multi_turn", "#--custom-dataset-type multi_turn: no equal", "", "docs/tutorials/custom-dataset.md"},
		{a + "--input-file t.jsonl --custom-dataset-type random-pool", "--workload t.jsonl|#drawn at random", "#no equal", "the same"},
		{a + "--input-file t.jsonl", "--workload t.jsonl|--concurrency 1", "#times", "_maybe_auto_promote_trace: the type is None"},
		{a + "--num-conversations 20 --session-turns-mean 3", "--requests 20|#--session-turns-mean 3: a workload file has turns: 3", "", "_PROF_FIELD_ROUTES: sessions"},
		{a + "--concurrency-ramp-duration 5", "--ramp 5s|#within what is measured", "", "the help"},
		{a + "--endpoint-type nim_embeddings --batch-size 4", "--api embeddings|--batch 4", "", "the help of --endpoint-type: _ or -"},
		{a + "--model-names a,b", "#several models", "", "the help of --model-names"},
		{a + "--shared-system-prompt-length 9 --prefix-prompt-length 0", "#--shared-system-prompt-length 9: no equal", "#--prefix-prompt-length 0", "the help"},
	})
}

func TestGenAIPerf(t *testing.T) {
	testPeers(t, []peer{
		{"genai-perf profile -m m --input-file pf.jsonl", "--requests 10", "#sent once", "perf_analyzer_config.py 0.0.16 _calculate_request_count, of a file too"},
		{"genai-perf profile -m m --input-file pf.jsonl --concurrency 9", "--requests 18", "#sent once", "the same: two a stream"},
		{"genai-perf profile -m m --request-count 250", "--requests 250|#there are 100 made prompts", "", "config_input.py: num_dataset_entries 100, whatever is asked for"},
	})
	const g = "genai-perf profile -m m --endpoint-type chat --streaming "
	testPeers(t, []peer{
		{g + "--request-rate 4", "--rate 4|--input-tokens 550", "--arrival", "perf_analyzer: request-distribution constant"},
		{g + "-s 50 -p 4000 -- -v --max-threads=256", "#--until-precision|#no windows|#behind --", "#max-threads", "parser.py _add_profile_args; README.md: behind -- are perf_analyzer's"},
		{g + "-g request_latency:300", "--objective e2e:300", "", "parser.py goodput -g"},
		{g + "--synthetic-input-tokens-m 7", "--input-tokens 7", "", "argparse shortens"},
		{g + "--service-kind triton", "#gRPC", "", "config_defaults.py SERVICE_KIND"},
	})
}

func TestGuideLLM(t *testing.T) {
	const g = "guidellm benchmark --target http://h --max-requests 9 "
	const r = "guidellm run --backend kind=openai_http,target=http://h --constraint kind=max_requests,count=9 "
	testPeers(t, []peer{
		{g + "--rate-type constant --rate 4 --data prompt_tokens=9,output_tokens=4", "--ignore-eos|--rate 4|--warmup 0", "--arrival", "request_handlers.py format: ignore_eos with each length"},
		{g + "--rate-type throughput --rate 10", "--concurrency 10", "512", "profiles/throughput.py: rate is max_concurrency"},
		{g + "--rate-type throughput", "--concurrency 512", "", "settings of 0.5: max_concurrency 512"},
		{g + "--profile constant --rate 4 --rampup 10 --detect-saturation --max-seconds 30", "--ramp 10s|--duration 30s|#within what is measured|#overloaded", "", "__main__.py: rampup is a time, detect-saturation a switch"},
		{g + "--profile concurrent --rate 1 --rate 2", "sweep http://h|--concurrency 1,2", "", "__main__.py rate: multiple"},
		{g + "--profile synchronous --data prompt_tokens=9,prompt_tokens_min=4,prompt_tokens_max=20,output_tokens=5,output_tokens_stdev=2", "--input-tokens uniform:4,20|--output-tokens normal:5,2,clip", "", "utils/random.py IntegerRangeSampler"},
		{g + `--profile synchronous --data {"prompt_tokens":8000,"prompt_tokens_stdev":8500,"prompt_tokens_min":50,"prompt_tokens_max":30000,"output_tokens":800,"output_tokens_stdev":1500,"output_tokens_min":20,"output_tokens_max":8000}`,
			"--input-tokens normal:8000,8500,min=50,max=30000,clip|--output-tokens normal:800,1500,min=20,max=8000,clip", "#its bounds", "the same: of its scenario rhaiis/concurrent-8k-800-norm"},
		{g + "--profile synchronous --data prompt_tokens=256,prompt_tokens_stdev=256,output_tokens=800,output_tokens_stdev=50", "--input-tokens normal:256,256,clip|--output-tokens normal:800,50", "normal:800,50,", "the same"},
		{g + "--profile synchronous --data prompt_tokens=9,output_tokens=5,prefix_tokens=100,turns=3", "#--data prefix_tokens: no equal|#--data turns: no equal", "", "SyntheticTextDataArgs"},
		{g + "--profile synchronous --data org/set", "#name a file", "--workload", "docs/guides/datasets.md: a set of Hugging Face"},
		{g + "--profile sweep --rate 6", "sweep http://h|#rates (6", "--rate", "profiles/sweep.py: rate is the number of strategies"},
		{g + "--backend-type vllm_python --dataloader-kwargs {}", "#--backend vllm_python: no equal|#--dataloader-kwargs: no equal", "", "backends/vllm_python: an engine in the same process"},
		{r + "--backend kind=vllm_python_async", "#kind=vllm_python_async: no equal", "", "the same"},
		{g + "--backend-args {} --data-args {} --scenario chat", "#--backend-kwargs|#--data-args {}: columns|#--scenario", "", "__main__.py: older names"},
		{r + "--scenario rhaiis/concurrent-8k-800-norm --override profile.streams 1,2,4,8", "sweep http://h|--concurrency 1,2,4,8|#--scenario", "512|#profile sweep|#the profile is", "the package's scenarios: profile: {kind: concurrent}"},
		{r + "-c rhaiis/concurrent-1k-1k-equal", "bench http://h|#the profile is the scenario's", "--concurrency|sweep|#profile sweep", "the same"},
		{r + "--scenario x --override profile.rate 4", "#or its --rate of 4", "--concurrency", "the same: constant or poisson"},
		{r + "--scenario x --profile kind=constant,rate=3 --seed kind=static,seed=4", "--rate 3|--seed 4", "#the profile is", "guidellm run --help: --seed kind=static,seed=4"},
		{r + "--profile kind=throughput,max_concurrency=64", "--concurrency 64|--requests 9", "", "cli/run.py; profiles/throughput.py"},
		{r + `--profile {"kind":"concurrent","streams":[1,2,4]}`, "--concurrency 1,2,4", "", "profiles/concurrent.py: a list"},
		{r + "--profile kind=poisson,rate[0]=1,rate[1]=2,max_concurrency=7", "--rate 1,2|--arrival poisson|--concurrency 7", "", "utils/arg_string.py: rate[0]; profiles/asynchronous.py"},
		{r + "--profile kind=constant --override profile.rate 10,20", "--rate 10,20", "", "cli/run.py override: two words"},
		{r + "--profile kind=constant,rate=3 --seed kind=static,value=42 --label a=b --tokenizer kind=huggingface_auto,model=t", "--seed 42|--tag a=b|#--tokenizer t: no file here", "", "docs/guides/v0.7.0_migration_guide.md"},
		{r + "--profile kind=replay,time_scale=0.5 --data kind=trace_synthetic,path=t.jsonl", `--workload trace.yaml|--speedup 2|#{file: "t.jsonl", time_in: s}`, "", "profiles/replay.py: a scale of the intervals; trace_common.py: seconds"},
		{r + "--profile kind=replay --data kind=mooncake,path=t.jsonl,time_scale=0.001", `--speedup 1000|#{file: "t.jsonl", time_in: s}`, "#no equal", "trace_common.py: time_scale, of milliseconds"},
		{r + "--profile kind=constant,rate=4 --data kind=mooncake,path=t.jsonl", "--workload t.jsonl|--rate 4", "#trace.yaml", "the lengths alone"},
		{r + "--profile kind=replay --data kind=mooncake,source.kind=json_file,source.path=t.jsonl", `--workload trace.yaml|#{file: "t.jsonl", time_in: s}`, "#no equal", "trace_common.py TraceDataArgs: source is the data that the trace is read from"},
		{r + "--profile kind=replay --data kind=otel,source.kind=json_file,source.path=a/t.jsonl,max_wait=5", "--workload a/t.jsonl|#--data max_wait: no equal", "", "the same"},
		{r + `--profile kind=replay --data {"kind":"weka","source":{"kind":"json_file","path":"t.jsonl"}}`, "--workload t.jsonl", "#no equal", "the same, as an object"},
		{r + "--profile kind=replay --data kind=weka,source.kind=hf,source.source=org/set", "#--data org/set: name a file", "--workload", "huggingface.py: source is a set's name"},
		{r + "--profile kind=replay --data kind=db_file,uri=sqlite:///t.db", "#name a file", "--workload", "file.py DBFileDatasetArgs"},
		{"guidellm run --backend kind=openai_http,target=https://h --profile kind=goodput,target_attainment=0.9 --metrics kind=generative,slo.ttft_ms=2000,slo.tpot_ms=100,sample_size=5", "sweep https://h|--find|--variable concurrency|--objective tpot:100 ttft:2000|--objective goodput >= 90%|--seed 42|#verify=true alone", "", "schemas/benchmark/profiles/goodput.py, goodput.py, random.py, backends/openai_http.py, 0.8.1"},
		{"guidellm run --backend kind=openai_http,target=http://h --profile kind=goodput,target_attainment=0.57", "--objective goodput >= 57%", "", "the same"},
		{"guidellm benchmark --target http://h --rate-type throughput --max-seconds 1000000", "--duration 1000000s", "", "no exponent, which bench takes of no time"},
		{`guidellm run --backend kind=openai_http,target=http://h --profile kind=synchronous --constraint {"kind":"max_requests","count":1000000}`, "--requests 1000000", "", "numbers of an object have no exponent"},
		{"guidellm run --backend kind=openai_http,target=http://h --profile kind=knee", "sweep http://h|#profile knee", "#verify", "schemas/benchmark/profiles/knee.py"},
		{"guidellm benchmark --target http://h --data g1.csv --profile concurrent --rate 2 --max-requests 4", "--workload g1.csv|#are sent with ignore_eos there|#once each of its texts was sent", "--ignore-eos", "backends/openai/request_handlers.py: with each length; scheduler/worker_group.py RequestsExhaustedConstraint"},
		{"guidellm run --backend kind=openai_http,target=http://h --profile kind=replay --data kind=trace_synthetic,path=t.jsonl", "--ignore-eos", "#are sent with ignore_eos there", "the same, where each record has a length"},
		{"GUIDELLM__MAX_CONCURRENCY=64 HF_TOKEN=x guidellm benchmark --target http://h --rate-type throughput", "--concurrency 64", "#512 streams|#HF_TOKEN|#x for", "settings.py: max_concurrency"},
		{"env GUIDELLM__SPEC__PROFILE__KIND=constant GUIDELLM__SPEC__PROFILE__RATE=5 GUIDELLM__LOGGING__LEVEL=x guidellm run --backend kind=openai_http,target=http://h", "bench http://h|--rate 5|#GUIDELLM__LOGGING__LEVEL in front", "--concurrency", "schemas/benchmark/entrypoints.py: env_prefix, env_nested_delimiter"},
		{"GUIDELLM__SPEC__BACKEND=kind=openai_http,target=http://h guidellm run --profile kind=synchronous", "bench http://h|--concurrency 1", "", "the same"},
		{"guidellm run --backend kind=openai_http,target=http://h,stream=false,verify=false,api_key=sk-x --profile kind=synchronous", "--no-stream|--insecure|#--api-key-env|#until the data ends", "#sk-x", "backends/openai/http.py"},
	})
}

func TestInferencePerf(t *testing.T) {
	const i = "inference-perf --server.base_url http://h "
	testPeers(t, []peer{
		{i + `--load.stages [{"rate":10,"duration":60},{"rate":20,"duration":30}] --api.streaming true`, "--stages 60s@10,30s@20|--ignore-eos|--grace 120s|--arrival poisson|#exactly rate × duration|#load.interval", "--no-stream",
			"cli_flags.md: JSON; modelserver/config.py ignore_eos True; loadgen/config.py interval 1.0, stage_teardown_grace_seconds 120"},
		{i + "--load.type poisson --load.stages 10@5", "--arrival poisson|#how many requests a second has is drawn", "", "loadgen/load_timer.py PoissonLoadTimer"},
		{i + "--load.type trace_session_replay --data.type weka_trace_replay --data.weka_trace_replay.trace_files [\"w.json\"] --data.otel_trace_replay.max_wait_ms 1", "#max_gap: 15s|#--data.otel-trace-replay.max-wait-ms: changes nothing", "", "config/datagen/replay.py: each kind has its own"},
		{i + "--data.input_distribution.mean 100", "--input-tokens 8|#--data.type mock|#--data.input-distribution.mean: changes nothing", "", "datagen/synthetic/mock_datagen.py"},
		{i + "--data.type shareGPT --data.path s.json", "--workload s.json", "--output-tokens|#all turns", "hf_sharegpt_datagen.py: by the completions API a first turn and its answer's length"},
		{i + "--data.type shareGPT --data.path s.json --api.type chat", "--prompts s.json|--output-tokens 30|#all turns", "", "the same: by the chat API all turns, and 30 tokens"},
		{i + "--api.type chat --data.type shared_prefix", "--api openai-completions|#whatever is asked for", "", "shared_prefix_datagen.py load_lazy_data: CompletionAPIData"},
		{i + "--api.type chat --data.type shared_prefix --data.shared_prefix.multimodal.image.count 1", "--api openai-chat", "#whatever is asked for", "the same: ChatCompletionAPIData of pictures"},
		{i + "--api.type chat --data.type random", "--api openai-chat|#0.7.0 refuses it", "", "random_datagen.py get_supported_apis"},
		{i + "--api.type completion --data.type random", "--api openai-completions", "#refuses", "the same"},
		{i + "--server.ignore_eos false", "--no-stream", "--ignore-eos", "the same; apis/config.py streaming False"},
		{i + `--load.type concurrent --load.stages [{"num_requests":40,"concurrency_level":3}]`, "--concurrency 3|--requests 40", "--stages", "loadgen/config.py ConcurrentLoadStage"},
		{i + "--data.type random --data.input_distribution.mean 100", "--input-tokens normal:100,200,min=10,max=1024,clip", "", "common.py Distribution: std_dev 200, min 10, max 1024"},
		{i + "--data.type random --data.input_distribution.type fixed --data.input_distribution.mean 100", "--input-tokens 100", "", "common.py DistributionType"},
		{i + "--data.type random --data.input_distribution.type uniform --data.input_distribution.min 5 --data.input_distribution.max 9", "--input-tokens uniform:5,9", "", "the same"},
		{i + "--data.type shared_prefix --data.shared_prefix.num_groups 4", `--workload shared-prefix.yaml|#{input: "50", output: "50", prefix: {tokens: "100", count: 4}}`, "--input-tokens|#num-groups: no equal", "datagen/config.py SharedPrefix"},
		{i + "--load.stages 10@5 --load.num_workers 4 --load.worker_max_concurrency 10", "--concurrency 40", "--workers", "loadgen/config.py: a cap of each worker"},
		{i + "--load.type trace_replay", "#name the trace", "", "loadgen/config.py LoadType"},
		{i + "--load.type trace_replay --load.trace.file a.csv --load.stages 1@4 --data.type random --data.input_distribution.mean 50", "--workload a.csv|--requests 4|#--data.type random there|#data.input_distribution: no equal", "--stages|--input-tokens",
			"load_timer.py TraceReplayLoadTimer; load_generator.py run_stage: int(rate * duration) requests"},
		{i + "--load.type trace_replay --load.trace.file a.csv --load.stages 1@4 --data.type random --data.trace.file a.csv", "--workload a.csv", "--stages|--requests|#--data.type", "the same: the trace's get_request_count"},
		{i + "--load.type trace_replay --load.trace.file a.csv --load.stages 1@4,2@4 --data.type shareGPT --data.path s.json", "--workload a.csv|#--data.type shareGPT there|#plays the trace anew", "--stages|--requests|--workload s.json", "the same"},
		{i + "--load.stages 1@4 --load.trace.file a.csv --data.type random --data.trace.file b.csv", "--workload b.csv|--stages 4s@1", "--workload a.csv", "load_generator.py: load.trace is of TRACE_REPLAY alone"},
		{i + `--load.type trace_session_replay --load.stages [{"concurrent_sessions":0}] --data.type otel_trace_replay --data.otel_trace_replay.trace_files ["t.json"] --data.otel_trace_replay.max_wait_ms 2500`,
			"--workload t.json|#max_gap: 2.5s|#all sessions are open at once", "--concurrency|#max-wait-ms: no equal", "config/datagen/replay.py: max_wait_ms; config/loadgen/config.py: 0 = all sessions"},
		{i + `--load.type trace_session_replay --data.type otel_trace_replay --data.otel_trace_replay.trace_files ["t.json"] --data.otel_trace_replay.max_wait_ms 0`,
			"#cut to 0 s there|#max_gap: 0.001s", "#max_gap: 0s", "the same: max_wait_ms, ge=0, cuts all pauses; docs/workloads.md: max_gap 0 cuts none"},
		{i + `--api.headers {"X-A":"b"} --report.goodput.constraints {"ttft":0.2,"itl":0.02}`, "--header X-A: b|--objective ttft:0.2s|#constraints itl: no equal", "", "docs/goodput.md: in seconds"},
		{i + "--data.type random --data.output_distribution.variance 2500 --data.output_distribution.std_dev 0", "--output-tokens normal:512,50,min=10,max=1024,clip", "", "common.py: std_dev = sqrt(variance)"},
		{i + "--data.type random --data.input_distribution.type lognormal", "--input-tokens lognormal:512,200,min=10,max=1024,clip|#from their least on there", "", "utils/distribution.py generate_distribution"},
		{"inference-perf -c testdata/inference-perf/synthetic.yml --server.model_name other", "--model other|--stages 30s@1,30s@2", "--model m", "config.py read_config: the command line goes before the file"},
		{`inference-perf -c testdata/inference-perf/synthetic.yml --load.type concurrent --load.stages [{"num_requests":40,"concurrency_level":3}]`, "--concurrency 3|--requests 40", "--stages|#for such stages|#load.interval", "the same"},
		{`inference-perf -c testdata/inference-perf/sweep.yml --api.headers {"X-Lane":"slow"}`, "--header X-Lane: slow|--header Authorization: ***", "--header X-Lane: fast", "the same: deep_merge"},
	})
}

// Files of the forms that inference-perf publishes (examples/, config-weka.yaml and
// demos/, 2025 to 2026, some of which only older versions read): what they become, and
// what is said.
func TestInferencePerfFiles(t *testing.T) {
	of := func(name string) string {
		return "inference-perf --config_file=testdata/inference-perf/" + name + ".yml"
	}
	testPeers(t, []peer{
		{of("synthetic"), "--api openai-completions|--input-tokens normal:50,10,min=10,max=100,clip|--output-tokens normal:50,10,min=10,max=100,clip|--tokenizer o200k_base|--no-stream|--ignore-eos|#load.interval seconds (15)", "--concurrency", "vllm/config-synthetic.yml"},
		{of("random-older"), "--api openai-completions|--input-tokens normal:50,200,min=10,max=100,clip|#--data.input-distribution.std: no equal", "", "vllm/config-random.yml: api is a word; common.py has no std, so 200 stays"},
		{of("structured-output"), `--api openai-chat|--input-tokens normal:50,10,min=10,max=100,clip|--output-tokens lognormal:457.1,243.6|--parameters {"response_format": {"type": "json_schema", "json_schema": {"name": "my_schema", "schema": {"properties":{"age":{"type":"integer"},"name":{"type":"string"}},"required":["name","age"],"type":"object"}}}}`,
			"", "structured-output/config.yml; expressions.md: LogNormal(6, 0.5) has a mean of 457"},
		{of("embeddings"), "--api embeddings|--batch 16|--concurrency 8|--requests 400|--input-tokens normal:128,64,min=20,max=400,clip", "--ignore-eos|--no-stream|--output-tokens|#output lengths", "embeddings/config.yml"},
		{of("rerank"), "sweep http://127.0.0.1:1|--api rerank|--batch 20|--concurrency 8,16|--requests 800|#400, 800 requests there", "", "rerank/config.yml, with a second stage"},
		{of("shared-prefix"), `--workload shared-prefix.yaml|--seed 42|--concurrency 20|#{input: "200", output: "lognormal:150,60,min=1,max=4096,clip", prefix: {tokens: "100", count: 2}}|#question-distribution.skew: no equal|#enable-multi-turn-chat: no equal|#10 questions there`,
			"--output-tokens", "vllm/config-shared-prefix-distributions.yml and -multi-turn.yml"},
		{of("circuit-breaker"), "--prompts prompts.jsonl|--output-tokens 30|#all turns of a conversation are one request there|--arrival poisson|#--circuit-breakers: no equal|#--load.circuit-breakers: no equal", "--no-stream", "vllm/config-circuitbreaker.yml"},
		{of("sweep"), "--header Authorization: ***|--header X-Lane: fast|#--load.sweep.type: sweep --find|#--load.sweep.num-stages: no equal|#--api-key-env|#--tokenizer.token: no equal|#storage.google-cloud-storage.bucket-name", "", "demos/kubecon-na-2025/config.yaml"},
		{of("weka"), "--workload traces.jsonl|--concurrency 2|--timeout 30s|--objective ttft:0.3s|#num_sessions 5: no equal|#static-model-name: no equal|#cut to 15 s there|#max_gap: 15s|#played once", "#load.type trace_session_replay", "config-weka.yaml"},
		{of("image"), "--input-tokens uniform:100,500|--output-tokens 100|--stages 60s@1|#--data.multimodal: no equal|#rate 10 + 5*sin(2*pi*t/60): no equal|#stop_condition t >= 30: no equal", "", "multimodal/image.yaml; expressions.md"},
		{of("conversations"), "sweep http://127.0.0.1:1|--concurrency 10,25|#--data.conversation-replay: no equal|#num_sessions 100: no equal", "--requests", "otel/configs/synthetic/bench-conversation-replay.yaml"},
	})
}

// No key of a file is dropped in silence: it is mapped, or the notes name it or what it
// stands in. And no secret comes out.
func TestInferencePerfNamesEveryKey(t *testing.T) {
	const mapped = " api api.headers api.type api.streaming api.embeddings.batch-size api.rerank.document-count api.response-format data.input-distribution.max" +
		" data.input-distribution.mean data.input-distribution.min data.input-distribution.std-dev data.input-distribution.type data.output-distribution.max" +
		" data.output-distribution.mean data.output-distribution.min data.output-distribution.std-dev data.output-distribution.type data.input-distribution" +
		" data.output-distribution data.path data.type data.shared-prefix.seed data.weka-trace-replay.trace-files load.interval load.num-workers" +
		" load.request-timeout load.stages load.type load.worker-max-concurrency server.base-url server.ignore-eos server.model-name tokenizer.pretrained-model-name-or-path" +
		" data.shared-prefix.num-unique-system-prompts data.shared-prefix.num-users-per-system-prompt data.shared-prefix.output-len data.shared-prefix.question-len" +
		" data.shared-prefix.system-prompt-len server.api-key report.goodput.constraints "
	files, err := filepath.Glob("testdata/inference-perf/*.yml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := config.Documents(file, data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Of([]string{"inference-perf", "-c", file})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(got.Notes, "\n")
		if strings.Contains(notes+strings.Join(got.Args, " "), "zebra") {
			t.Errorf("%s: a secret came out: %q", file, got)
		}
		var walk func(name string, told bool, v any)
		walk = func(name string, told bool, v any) {
			told = told || strings.Contains(mapped, " "+name+" ") && name != "api" || strings.Contains(notes, name+":") || strings.Contains(notes, name+",") ||
				strings.HasSuffix(strings.SplitN(notes, "\n", 2)[0], name)
			object, ok := v.(map[string]any)
			for key, value := range object {
				walk(strings.TrimPrefix(name+"."+strings.ReplaceAll(key, "_", "-"), "."), told, value)
			}
			if !ok && !told && name != "api" {
				t.Errorf("%s: nothing is said of %s:\n%s\n%s", file, name, strings.Join(got.Args, " "), notes)
			}
		}
		walk("", false, docs[0])
	}
}

// A scenario's file says what flags would, and flags go before it. The first is benchmark/scenarios/chat.json
// of GuideLLM 0.5.3, the second schemas/benchmark/scenarios/rhaiis/concurrent-1k-1k-multiturn.json of 0.8.1.
func TestGuideLLMScenarios(t *testing.T) {
	const chat = `{"profile":"sweep","data":["prompt_tokens=512,prompt_tokens_stdev=128,prompt_tokens_min=1,prompt_tokens_max=1024,output_tokens=256"]}`
	const turns = `{"metadata":{"name":"m"},"spec":{"backend":{"kind":"openai_http","request_format":"/v1/chat/completions"},"profile":{"kind":"concurrent"},
		"data":[{"kind":"synthetic_text","prompt_tokens":1000,"output_tokens":1000,"turns":5}],"constraints":[{"kind":"max_duration","seconds":450}]},
		"benchmarks":[{"profile.streams":1},{"profile.streams":25}]}`
	file := filepath.Join(t.TempDir(), "s.json")
	for _, c := range []struct{ scenario, line, has, not string }{
		{chat, "guidellm benchmark --target http://h --scenario FILE", "sweep http://h|--input-tokens normal:512,128,min=1,max=1024,clip|--concurrency 1,2,4", "#not read"},
		{chat, "guidellm benchmark --target http://h --profile constant --rate 3 --scenario=FILE", "bench http://h|--rate 3|--output-tokens 256", "sweep http"},
		{turns, "guidellm run --backend target=http://h -c FILE", "sweep http://h|--api openai-chat|--concurrency 1,25|--duration 450s|#--data turns: no equal", "#metadata"},
		{turns, "guidellm run --backend target=http://h -c FILE --constraint kind=max_requests,count=9", "--requests 9", ""},
		{`{"args":{"target":"http://h","profile":"poisson","rate":[1.5,3],"max_seconds":30,"disable_progress":true,"model":null}}`, "guidellm benchmark --scenario FILE",
			"sweep http://h|--rate 1.5,3|--duration 30s|--quiet", "--model"},
		{`{"target":"http://h","api_key":"sk-x","backend_kwargs":{"api_key":"sk-y"}}`, "guidellm benchmark --scenario FILE", "http://h", "sk-"},
		{`{"spec":{"backend":{"target":"http://h"}},"benchmarks":[{"profile.streams":1},{"profile.rate":3}]}`, "guidellm run -c FILE", "#each sets something else", ""},
	} {
		if err := os.WriteFile(file, []byte(c.scenario), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Of(strings.Fields(strings.ReplaceAll(c.line, "FILE", file)))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		said := strings.Join(got.Args, " ") + "\n#" + strings.Join(got.Notes, "\n#")
		for want := range strings.SplitSeq(c.has, "|") {
			if part, note := strings.CutPrefix(want, "#"); !strings.Contains(said, part) || note && !strings.Contains(strings.Join(got.Notes, "\n"), part) {
				t.Errorf("%s has no %q:\n%s", c.line, want, said)
			}
		}
		if c.not != "" && strings.Contains(said, strings.TrimPrefix(c.not, "#")) {
			t.Errorf("%s has %q:\n%s", c.line, c.not, said)
		}
	}
	if err := os.WriteFile(file, []byte("- a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Of([]string{"guidellm", "run", "-c", file}); err == nil || !strings.Contains(err.Error(), "is one object") {
		t.Errorf("a list: %v", err)
	}
}

func TestInferencePerfFilesThatCantBeRead(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"- a\n": "is one object", "a: [\n": "x.yml:", "api: {type: chat}\n---\napi: {type: chat}\n": "is one object"} {
		file := filepath.Join(dir, "x.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Of([]string{"inference-perf", "--config-file", file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, args := range [][]string{{"-c", filepath.Join(dir, "none.yml")}, {"-c"}, {"--config_file="}} {
		if got, err := Of(append([]string{"inference-perf"}, args...)); err == nil {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// docs/expressions.md of inference-perf: what its random variables mean, and their means.
func TestExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"512": "512", "Normal(512, 128)": "normal:512,128", "Uniform(64, 256)": "uniform:64,256", "LogNormal(6, 0.5)": "lognormal:457.1,243.6", "Exponential(1/300)": "exponential:300",
		"Min(100, Max(10, Normal(50, 10)))": "normal:50,10,min=10,max=100,clip", "Min(LogNormal(6, 0.5), 4096)": "lognormal:457.1,243.6,max=4096,clip", " Max( 1 , Exponential(1/8) )": "exponential:8,min=1,clip",
		"Poisson(64)": "", "128 + Poisson(64)": "", "Normal(512, 128) + Normal(0, 16)": "", "Min(Uniform(1, 9), 5)": "", "Gamma(2, 100)": "", "Normal(": "", "": "", "Min(1, 2)": "", "Exponential(0)": "",
		"1/0": "",
	} {
		if got, ok := expression(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}

func FuzzInferencePerfFile(f *testing.F) {
	files, _ := filepath.Glob("testdata/inference-perf/*.yml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "x.yml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Of([]string{"inference-perf", "-c", path}); err == nil && len(got.Args) < 2 {
			t.Errorf("%q", got)
		}
	})
}

func TestLLMPerf(t *testing.T) {
	testPeers(t, []peer{
		{"python token_benchmark_ray.py --model m", "--concurrency 10|--requests 10|--duration 90s|--input-tokens normal:550,150|--output-tokens normal:150,80|--api openai-chat", "",
			"token_benchmark_ray.py, its ArgumentParser"},
		{"OPENAI_API_KEY=sk-x OPENAI_API_BASE=http://h:9/v1 python token_benchmark_ray.py --model m", "bench http://h:9/v1|#OPENAI_API_KEY: name the variable", "#sk-x|#no address", "README.md: its environment"},
		{`python token_benchmark_ray.py --model m --stddev-output-tokens 0 --timeout 600 --additional-sampling-params {"temperature":0} --metadata a=1,b=2 --llm-api litellm`,
			`--output-tokens 150|--duration 600s|--parameters {"temperature":0}|--tag a=1|--tag b=2|#--llm-api litellm`, "", "the same"},
	})
}

func TestGenAIBench(t *testing.T) {
	const any = "genai-bench benchmark --api-base http://h --api-model-name m --max-time-per-run 5 --max-requests-per-run 9 "
	const g, e, r = any + "--task text-to-text ", any + "--task text-to-embeddings --api-backend openai ", any + "--task text-to-rerank --api-backend vllm "
	testPeers(t, []peer{
		{g + "--api-backend vllm --traffic-scenario D(100,20) --num-concurrency 4", `bench http://h|--duration 5m|--requests 9|--input-tokens 100|--output-tokens 20|--concurrency 4|--ignore-eos|--parameters {"temperature": 0}|#counted once a second`, "",
			"the help of 0.0.5: minutes; openai_user.py:101 temperature, :112 ignore_eos; manage_run_time in cli/utils.py"},
		{g + "--api-backend openai --traffic-scenario N(480,240)/(300,150)", "sweep http://h|--concurrency 1,2,4,8,16,32,64,128,256|--input-tokens normal:480,240,clip|--output-tokens normal:300,150,min=2,clip", "--ignore-eos", "the help: num-concurrency; openai_user.py:114"},
		{g + "--api-backend sglang --traffic-scenario U(100,200) --num-concurrency 1 --num-concurrency 2", "--concurrency 1,2|--input-tokens uniform:1,100|--output-tokens uniform:1,200", "", "scenarios/text.py:92: from 1 on where no least is said"},
		{g + "--api-backend sglang --traffic-scenario U(50,100)/(20,30) --traffic-scenario D(7,8)", "--input-tokens uniform:50,100|--output-tokens uniform:20,30|#--traffic-scenario D(7,8): one is taken here", "", "scenarios/text.py:113"},
		{g + "--api-backend sglang --num-concurrency 1 --traffic-scenario U(1,512)/(0,512)", "--input-tokens uniform:1,512|--output-tokens uniform:1,512", "", "scenarios/text.py:83: `or 1`; docs of its migration"},
		{g + `--api-backend openai --num-concurrency 1 --additional-request-params {"ignore_eos":true}`, "#ignore_eos in the body", "--ignore-eos", "openai_user.py:110-115"},
		{g + "--api-backend vllm", "--input-tokens normal:480,240,clip|--output-tokens normal:300,150,min=2,clip|#D(100,100), D(100,1000), D(2000,200), D(7800,200): one is taken", "", "validation.py:43: default scenarios"},
		{g + "--api-backend vllm --prefix-len 8 --spawn-rate 5 --iteration-type batch_size --batch-size 4", "#--prefix-len 8|#--spawn-rate: no equal|#--iteration-type batch_size: without effect|#--batch-size 4: without effect", "--batch", "validation.py:232-238"},
		{g + `--api-backend vllm --num-concurrency 1 --additional-request-params {"temperature":0.5,"ignore_eos":false,"system_message":"s"}`, `--ignore-eos|--parameters {"temperature":0.5}|#ignore_eos in the body|#system_message in the body`, "",
			"sampling/text.py:92: ignore_eos is set of each made prompt; openai_user.py:86, :121"},
		{g + "--api-backend vllm --num-concurrency 1 --dataset-path t.txt", "--workload t.txt|#drawn at random", "--ignore-eos|--input-tokens|--output-tokens", "validation.py:161; sampling/text.py:88"},
		{g + "--api-backend vllm --num-concurrency 1 --dataset-path t.txt --traffic-scenario D(100,20)", "--input-tokens 100|--ignore-eos|#at most the words", "--workload", "sampling/text.py _sample_text"},
		{e + "--batch-size 1 --batch-size 8 --num-concurrency 4 --traffic-scenario E(64) --traffic-scenario E(128)", `sweep http://h|--api embeddings|--concurrency 1|--vary batch=1,8|--input-tokens 64,128|--parameters {"encoding_format": "float"}|#--num-concurrency 4: without effect`, "--batch|#--traffic-scenario",
			"validation.py:224-230: the iteration is batch_size, num_concurrency [1]; docs/user-guide/run-benchmark.md"},
		{e + "--batch-size 8 --traffic-scenario E(64)", "bench http://h|--concurrency 1|--batch 8|--input-tokens 64", "--vary", "the same"},
		{e, "sweep http://h|--vary batch=1,2,4,8,24,48,96|--input-tokens 64,128,256,512,1024", "--batch", "validation.py:41, :58: defaults"},
		{r + "--batch-size 20 --traffic-scenario R(128,50)", "bench http://h|--api rerank|--concurrency 1|--batch 20|--input-tokens 128|#`query: 50`", "--output-tokens|--parameters", "scenarios/text.py:181"},
		{any + "--task text-to-image --api-backend openai --num-concurrency 2 --traffic-scenario I(512,256,3)", `--api images|--parameters {"size": "512x256", "n": 3}`, "--ignore-eos|--images", "sampling/text.py _sample_image_generation_request"},
		{any + "--task image-text-to-text --api-backend vllm --num-concurrency 2 --traffic-scenario I(512,256)", "--api openai-chat|--images 1x512x256|#as long as the model likes", "--ignore-eos", "openai_user.py:112: ignore_eos where a length is asked for; ImageModality.sample has none"},
		{any + "--task text-to-speech --api-backend openai --num-concurrency 2 --traffic-scenario A(500)", "--api speech|#a text of 500 letters", "--output-tokens", "scenarios/multimodal.py"},
		{any + "--task text-to-text --api-backend vllm --num-concurrency 2 --traffic-scenario E(500)", "#--traffic-scenario E(500): no equal", "--input-tokens", "sampling/text.py _validate_scenario"},
		{any + "--task text-to-embeddings --api-backend cohere --batch-size 2", "#--api-backend cohere: no equal", "--api", "its own /v2/embed"},
	})
}
