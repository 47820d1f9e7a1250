package translate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// sglang is SGLang's bench_serving. It has its flags from vLLM's tool, and other defaults.
// Source: python/sglang/benchmark/serving.py and datasets/common.py, 2026-11.
var sglang = &tool{
	names:    []string{"sglang.bench_serving", "sglang.benchmark.serving", "bench_serving.py"},
	shortens: true,
	table: `backend base-url host port ready-check-timeout-sec=wait-ready:s dataset-name dataset-path=workload model=model served-model-name tokenizer=tokenizer
		num-prompts=requests sharegpt-output-len random-input-len random-output-len random-range-ratio request-rate max-concurrency=concurrency
		output-file !output-details~ !print-requests~ !disable-tqdm=quiet !disable-stream=no-stream !return-logprob- +token-ids-logprob- !return-routed-experts-
		!cache-report seed=seed !disable-ignore-eos temperature !apply-chat-template- !profile=server-profile !plot-throughput~ +profile-activities- !profile-by-stage-
		+profile-stages- profile-output-dir=profile-files +lora-name- !pd-separated- +profile-prefill-url- +profile-decode-url- !flush-cache=reset-cache
		flush-cache-timeout=control-limit:s warmup-requests=warmup !tokenize-prompt- gsp-num-groups gsp-prompts-per-group gsp-system-prompt-len gsp-question-len gsp-output-len !gsp-fast-prepare~ !gsp-send-routing-key- !gsp-ordered- !use-trace-timestamps mooncake-slowdown-factor +goodput
		!fake-prefill- tag=tag +header !random-image-count- image-count image-resolution image-format- image-content- !skip-test-prompt~ !trust-remote-code~ !ignore-eos=ignore-eos top-p
		agentic-max-turns- dataset-offset- gsp-group-distribution- gsp-num-turns- gsp-range-ratio gsp-zipf-alpha- logprob-start-len- lora-request-distribution-
		lora-zipf-alpha- mooncake-num-rounds- mooncake-workload- profile-num-steps- profile-prefix- profile-start-step- profile-steps- prompt-suffix- !rust-client~
		rust-worker-threads~ sharegpt-context-len- speed-bench-category- speed-bench-output-len- top-logprobs-num-`,
	flags: map[string]func(*call, string){
		"base-url": address, "header": vllmHeader, "extra-request-body": body, "goodput": servingFlags["goodput"],
		"output-file": says("--output-file: a run is a folder; export --as vllm writes such a file"),
	},
	end: sglangEnd,
}

const sglangAPIs = "sglang=sglang sglang-native=sglang sglang-oai=openai-completions vllm=openai-completions lmdeploy=openai-completions " +
	"sglang-oai-chat=openai-chat vllm-chat=openai-chat lmdeploy-chat=openai-chat trt=triton sglang-embedding=embeddings vllm-embedding=embeddings"

func sglangEnd(c *call) {
	backend, port := c.or("sglang", "backend"), "30000"
	switch backend {
	case "vllm", "vllm-embedding", "trt":
		port = "8000"
	case "lmdeploy":
		port = "23333"
	}
	if c.url == "" {
		c.given["port"] = c.or(port, "port")
		c.hostAndPort(port)
	}
	if backend == "sglang" && c.or("", "dataset-name") == "image" {
		backend = "sglang-oai-chat"
		c.note("--dataset-name image: /generate takes pictures there, and the chat API here")
	}
	c.api("backend", backend, sglangAPIs)
	c.served()
	if backend == "trt" { // whose path has a model of its own
		c.byDefault("tokenizer", c.or("", "model"), "tokenizer")
		c.set("model", "ensemble")
	} else if !c.has("disable-ignore-eos") {
		c.on("ignore-eos")
	}
	if c.has("flush-cache") {
		c.byDefault("control-limit", "60s", "flush-cache-timeout")
	}
	c.byDefault("seed", "42", "seed")
	c.byDefault("wait-ready", "60s", "ready-check-timeout-sec")
	if c.or("", "dataset-name") == "generated-shared-prefix" { // whatever --num-prompts says
		groups, each := c.numbers("gsp-num-groups", "gsp-prompts-per-group")
		c.used("gsp-num-groups", "gsp-prompts-per-group")
		if n := c.or("", "num-prompts"); n != "" {
			c.note("--num-prompts %s: without effect there beside groups of prompts", n)
		}
		c.given["num-prompts"] = fmt.Sprint(cmp.Or(groups, 64) * cmp.Or(each, 16))
		c.set("requests", c.given["num-prompts"])
	}
	c.load()
	c.byDefault("warmup", "1", "warmup-requests")
	native := backend == "sglang" || backend == "sglang-native"
	c.sampling(backend, native)
	switch name := c.or("sharegpt", "dataset-name"); name {
	case "random", "random-ids", "image":
		c.made()
		if name == "image" {
			c.pictures()
		}
		ratio, _ := strconv.ParseFloat(c.or("0", "random-range-ratio"), 64)
		c.set("input-tokens", upTo(c.or("1024", "random-input-len"), ratio))
		c.set("output-tokens", upTo(c.or("1024", "random-output-len"), ratio))
	case "generated-shared-prefix":
		c.made()
		ratio, _ := strconv.ParseFloat(c.or("1", "gsp-range-ratio"), 64)
		c.prefixed(upTo(c.or("128", "gsp-question-len"), ratio), upTo(c.or("256", "gsp-output-len"), ratio), upTo(c.or("2048", "gsp-system-prompt-len"), ratio), c.or("64", "gsp-num-groups"))
	case "mooncake":
		if !c.has("dataset-path") {
			c.note("--dataset-name mooncake: name the file with --workload; nothing is fetched")
		}
		if c.selfTimed() {
			c.slowed("mooncake-slowdown-factor")
		}
		c.note("prompts are made of the trace's hash_ids alone there, and are as long as recorded here")
	default:
		if n := c.or("", "sharegpt-output-len"); n != "" { // of all sets from files
			c.set("output-tokens", n)
		}
		c.note("each of the set's texts is sent once there, %s at most; --requests says how many here, and a set that has fewer begins anew", c.arg("requests"))
		c.dataset(name)
	}
	if backend == "trt" {
		c.tensorRT()
	}
	itl := "gap between chunks"
	if native {
		itl = "chunk's gap shared by its tokens"
	}
	c.note("an ITL there is a %s, and E2E ends with [DONE]: report --lens sglang shows them", itl)
}

// sampling is what is sent of it: of /generate what is asked for, of APIs of OpenAI's form a
// temperature of 0 whatever is asked for.
// Source: async_request_… in sglang/benchmark/serving.py, 0.5.23.
func (c *call) sampling(backend string, native bool) {
	switch {
	case native:
		fields := fmt.Sprintf(`"temperature": %s`, plain(c.or("0", "temperature")))
		if p := plain(c.or("1", "top-p")); p != "1" {
			fields += fmt.Sprintf(`, "top_p": %s`, p)
		}
		c.usually(fmt.Sprintf(`"sampling_params": {%s}`, fields))
	case strings.HasPrefix(backend, "sglang-oai") && c.has("cache-report"):
		c.usually(`"return_cached_tokens_details": true`)
		c.usually(`"temperature": 0`)
	case backend != "trt" && !strings.HasSuffix(backend, "embedding"):
		c.usually(`"temperature": 0`)
	}
}

// tensorRT is the body that goes to Triton's generate_stream. The end of a text is ignored
// by an answer's least length, which is its greatest.
// Source: async_request_trt_llm in sglang/benchmark/serving.py, 0.5.23.
func (c *call) tensorRT() {
	for _, field := range []string{`"accumulate_tokens": true`, `"temperature": 0.000001`, `"top_p": 1.0`} {
		c.usually(field)
	}
	if c.has("disable-ignore-eos") {
		return
	}
	c.usually(`"end_id": 1048576`)
	if n := c.arg("output-tokens"); n != "" && !strings.Contains(n, ":") {
		c.usually(`"min_length": ` + n)
	} else {
		c.note("each answer's length is its min_length too there; here --parameters has one for all: with --random-range-ratio 1 it is carried")
	}
}

// pictures are made ones; their sides are written height first there.
func (c *call) pictures() {
	size := c.or("1080p", "image-resolution")
	switch size {
	case "4k":
		size = "2160x3840"
	case "1080p":
		size = "1080x1920"
	case "720p":
		size = "720x1280"
	case "360p":
		size = "360x640"
	}
	height, width, ok := strings.Cut(size, "x")
	if !ok || strings.Contains(width, "x") {
		c.note("--image-resolution %s: no equal here", size)
		return
	}
	c.set("images", c.or("1", "image-count")+"x"+width+"x"+height)
}

// upTo is the range of lengths below a length that a ratio opens; 0 opens all of it.
func upTo(length string, ratio float64) string {
	n, err := strconv.Atoi(length)
	if err != nil || ratio >= 1 {
		return length
	}
	return fmt.Sprintf("uniform:%d,%d", max(int(float64(n)*ratio), 1), n)
}
