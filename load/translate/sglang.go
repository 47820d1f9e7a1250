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
		num-prompts=requests sharegpt-output-len=output-tokens random-input-len random-output-len random-range-ratio request-rate max-concurrency=concurrency
		output-file !output-details !print-requests !disable-tqdm=quiet !disable-stream=no-stream !return-logprob- +token-ids-logprob- !return-routed-experts-
		!cache-report seed=seed !disable-ignore-eos temperature !apply-chat-template- !profile=server-profile !plot-throughput +profile-activities- !profile-by-stage-
		+profile-stages- profile-output-dir=profile-files +lora-name- !pd-separated- +profile-prefill-url- +profile-decode-url- !flush-cache=reset-cache
		flush-cache-timeout=control-limit:s warmup-requests=warmup !tokenize-prompt- gsp-num-groups gsp-prompts-per-group gsp-system-prompt-len gsp-question-len gsp-output-len !gsp-fast-prepare !gsp-send-routing-key- !gsp-ordered- !use-trace-timestamps mooncake-slowdown-factor +goodput
		!fake-prefill- tag=tag +header !random-image-count- image-count image-resolution image-format- image-content- !skip-test-prompt !trust-remote-code !ignore-eos=ignore-eos`,
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
	if !c.has("disable-ignore-eos") {
		c.on("ignore-eos")
	}
	if c.or("", "dataset-name") == "generated-shared-prefix" { // whatever --num-prompts says
		groups, each := c.numbers("gsp-num-groups", "gsp-prompts-per-group")
		c.given["num-prompts"] = fmt.Sprint(cmp.Or(groups, 64) * cmp.Or(each, 16))
		c.set("requests", c.given["num-prompts"])
	}
	c.load()
	c.byDefault("warmup", "1", "warmup-requests")
	// The temperature is always sent, and the share of the likeliest tokens that is not 1.
	sampling := fmt.Sprintf(`"temperature": %s`, c.or("0", "temperature"))
	if p := c.or("", "top-p"); p != "" {
		sampling += fmt.Sprintf(`, "top_p": %s`, p)
	}
	if backend == "sglang" || backend == "sglang-native" {
		sampling = fmt.Sprintf(`"sampling_params": {%s}`, sampling)
	}
	c.usually(sampling)
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
		c.prefixed(c.or("128", "gsp-question-len"), c.or("256", "gsp-output-len"), c.or("2048", "gsp-system-prompt-len"), c.or("64", "gsp-num-groups"))
	case "mooncake":
		if !c.has("dataset-path") {
			c.note("--dataset-name mooncake: name the file with --workload; nothing is fetched")
		}
		if x, err := strconv.ParseFloat(c.or("1", "mooncake-slowdown-factor"), 64); err == nil && x > 0 && x != 1 && c.selfTimed() {
			c.set("speedup", fmt.Sprintf("%g", 1/x))
		}
		c.note("prompts are made of the trace's hash_ids alone there, and are as long as recorded here")
	default:
		c.dataset(name)
	}
	itl := "gap between chunks"
	if strings.Contains(sampling, "sampling_params") {
		itl = "chunk's gap shared by its tokens"
	}
	c.note("an ITL there is a %s, and E2E ends with [DONE]: report --lens sglang shows them", itl)
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
