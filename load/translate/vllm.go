package translate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// vllm is `vllm bench serve`. Its table holds what SGLang's tool added to it, too.
// Source: vllm/benchmarks/serve.py and datasets.py.
var vllm = &tool{
	shortens: true,
	names:    []string{"vllm bench serve"},
	switches: []string{"ignore-eos", "save-result", "save-detailed", "append-result", "disable-tqdm", "profile", "insecure",
		"trust-remote-code", "disable-shuffle", "plot-timeline", "plot-dataset-stats", "disable-stream", "disable-ignore-eos", "flush-cache", "output-details", "skip-test-prompt"},
	lists: []string{"goodput"},
	flags: map[string]func(*call, string){
		"backend": vllmBackend, "endpoint-type": vllmBackend, "base-url": address, "host": same, "port": same, "endpoint": same,
		"model": to("model"), "served-model-name": to("model"), "tokenizer": to("tokenizer"),
		"dataset-name": same, "dataset-path": to("workload"),
		"random-input-len": same, "random-output-len": same, "random-range-ratio": same, "input-len": same, "output-len": same,
		"sharegpt-output-len": to("output-tokens"), "custom-output-len": to("output-tokens"),
		"num-prompts": to("requests"), "request-rate": same, "burstiness": same, "max-concurrency": to("concurrency"),
		"num-warmups": to("warmup"), "warmup-requests": to("warmup"), "seed": to("seed"), "goodput": limits(map[string]string{"ttft": "ttft", "tpot": "tpot", "e2el": "e2e"}),
		"header": vllmHeader, "extra-body": body, "extra-request-body": body, "label": to("name"),
		"temperature": parameter("temperature"), "top-p": parameter("top_p"), "top-k": parameter("top_k"), "min-p": parameter("min_p"),
		"ignore-eos": func(c *call, _ string) { c.on("ignore-eos") }, "insecure": func(c *call, _ string) { c.on("insecure") },
		"disable-stream": func(c *call, _ string) { c.on("no-stream") }, "disable-ignore-eos": same,
		"result-dir": to("out"), "output-file": says("--output-file: a run is a folder; export --as vllm writes such a file"),
		"result-filename": says("--result-filename: a run is a folder; export --as vllm writes such a file"),
		"save-result":     same, "save-detailed": same, "output-details": same, "append-result": same, "disable-tqdm": func(c *call, _ string) { c.on("quiet") },
		"percentile-metrics": same, "metric-percentiles": same, "metadata": to("tag"), "trust-remote-code": same,
		"ready-check-timeout-sec": seconds("wait-ready"), "disable-shuffle": same, "skip-test-prompt": same,
		"profile": func(c *call, _ string) { c.on("server-profile") }, "flush-cache": func(c *call, _ string) { c.on("reset-cache") },
		"ramp-up-strategy": says("--ramp-up-strategy: --stages, like 1m@1..10, is a rate that grows"),
	},
	end: vllmEnd,
}

var vllmBackend = apis("--backend %s: choose an API with --api", map[string]string{
	"openai-chat": "openai-chat", "sglang-oai-chat": "openai-chat", "vllm": "openai-completions", "openai": "openai-completions",
	"sglang-oai": "openai-completions", "vllm-rs": "openai-completions", "sglang": "sglang", "tgi": "tgi"})

func vllmHeader(c *call, v string) {
	name, value, _ := strings.Cut(v, "=")
	c.set("header", name+": "+value)
}

// parameter is a field of the request's body, a number.
func parameter(name string) func(*call, string) {
	return func(c *call, v string) { c.fields(fmt.Sprintf("%q: %s", name, v)) }
}

func vllmEnd(c *call) {
	if c.url == "" && c.has("host", "port") {
		address(c, c.or("localhost", "host")+":"+c.or("8000", "port"))
	}
	switch path := c.or("", "endpoint"); path {
	case "", "/v1/completions", "/v1/chat/completions": // as --api has it
	default:
		if c.url == "" {
			c.url = "http://localhost:8000"
		}
		c.url = strings.TrimRight(c.url, "/") + path
	}
	c.byDefault("api", "openai-completions", "backend", "endpoint-type")
	c.load()
	c.byDefault("warmup", "0", "num-warmups")
	switch name := c.or("random", "dataset-name"); name {
	case "random":
		ratio := c.or("0", "random-range-ratio")
		c.set("input-tokens", around(c.or("1024", "random-input-len", "input-len"), ratioOf(ratio, "input")))
		c.set("output-tokens", around(c.or("128", "random-output-len", "output-len"), ratioOf(ratio, "output")))
	default:
		c.dataset(name)
	}
	c.note("TTFT counts from when a request was due and ends with the first token, not with a role chunk: report --lens vllm,vllm-rust shows the others")
}

// load is how many requests are sent, and when.
func (c *call) load() {
	c.byDefault("requests", "1000", "num-prompts")
	switch rate := c.or("inf", "request-rate"); {
	case rate != "inf":
		c.set("rate", rate)
		switch b := c.or("1", "burstiness"); b {
		case "1", "1.0":
			c.set("arrival", "poisson")
		case "inf":
		default:
			c.set("arrival", "gamma")
			c.set("burstiness", b)
		}
	case !c.has("max-concurrency"):
		c.set("concurrency", c.or("1000", "num-prompts"))
		c.note("without a rate and a cap every request is sent at once: a closed loop of as many streams")
	}
}

// dataset says what becomes of a set of prompts that is not made.
func (c *call) dataset(name string) {
	switch name {
	case "sharegpt", "custom":
		if !c.has("dataset-path") {
			c.note("--dataset-name %s: name the file with --workload; nothing is fetched", name)
		}
	default:
		if name == "hf" {
			c.unset("workload") // no file: the name of a set that the tool fetches
		}
		c.note("--dataset-name %s: no equal here; --workload takes files, traces and %s", name, "made texts")
	}
}

// unset takes a flag back.
func (c *call) unset(flag string) {
	if i := slices.Index(c.args, "--"+flag); i >= 0 {
		c.args = slices.Delete(c.args, i, i+2)
	}
}

// ratioOf is a ratio, or that of one side of an object: {"input": 0.1, "output": "0.5"}.
func ratioOf(v, side string) float64 {
	if strings.HasPrefix(v, "{") {
		v = pairs(v)[side]
	}
	ratio, _ := strconv.ParseFloat(v, 64)
	return ratio
}

// around is a length, or the range about it.
func around(length string, ratio float64) string {
	n, err := strconv.ParseFloat(length, 64)
	if err != nil || ratio <= 0 {
		return length
	}
	return fmt.Sprintf("uniform:%d,%d", int(math.Floor(n*(1-ratio))), int(math.Ceil(n*(1+ratio))))
}
