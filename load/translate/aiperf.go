package translate

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// aiperf is NVIDIA AIPerf, by the help of 0.13.0.
var aiperf = &tool{
	names: []string{"aiperf profile"},
	switches: []string{"streaming", "use-server-token-count", "use-legacy-max-tokens", "no-gpu-telemetry", "no-server-metrics", "fixed-schedule",
		"verbose", "v", "extra-verbose", "vv", "export-http-trace", "show-trace-timing", "apply-chat-template", "force-min-tokens"},
	lists: []string{"goodput", "server-metrics", "server-metrics-formats", "gpu-telemetry"},
	flags: aiperfFlags,
	end: func(c *call) {
		aiperfEnd(c)
		if c.has("request-rate") {
			c.set("arrival", c.or("poisson", "arrival-pattern", "request-rate-mode"))
			if v := c.or("", "arrival-smoothness", "vllm-burstiness"); v != "" {
				c.set("burstiness", v)
			}
		}
	},
}

// genAIPerf is what AIPerf came from. Source: genai-perf's README, 0.0.16.
var genAIPerf = &tool{
	names:    []string{"genai-perf profile"},
	switches: append(aiperf.switches, "server-metrics"),
	lists:    aiperf.lists,
	flags: func() map[string]func(*call, string) {
		flags := maps.Clone(aiperfFlags)
		flags["service-kind"], flags["backend"] = same, same
		flags["measurement-interval"], flags["p"] = says("--measurement-interval: a run has --duration or --requests, and no windows"), says("-p: a run has --duration or --requests, and no windows")
		flags["stability-percentage"] = says("--stability-percentage: --until-precision ends a run when it is sure enough")
		flags["profile-export-file"] = says("--profile-export-file: a run is a folder")
		return flags
	}(),
	end: func(c *call) {
		aiperfEnd(c)
		c.note("genai-perf's TTFT does not see reasoning: that is ttfo here")
	},
}

var aiperfFlags = map[string]func(*call, string){
	"model": to("model"), "m": to("model"), "model-names": to("model"), "url": address, "u": address, "tokenizer": to("tokenizer"),
	"endpoint-type": apis("--endpoint-type %s: no equal here; --api names what there is", map[string]string{
		"chat": "openai-chat", "completions": "openai-completions", "responses": "openai-responses", "messages": "anthropic",
		"embeddings": "embeddings", "huggingface_generate": "tgi", "rankings": "rerank"}),
	"endpoint": endpointPath, "custom-endpoint": endpointPath, "streaming": same, "api-key": key,
	"concurrency": to("concurrency"), "prefill-concurrency": to("prefill-concurrency"), "request-rate": to("rate"),
	"arrival-pattern": same, "request-rate-mode": same, "arrival-smoothness": same, "vllm-burstiness": same,
	"request-count": to("requests"), "num-requests": to("requests"), "benchmark-duration": seconds("duration"), "benchmark-grace-period": seconds("grace"),
	"warmup-request-count": to("warmup"), "num-warmup-requests": to("warmup"), "warmup-duration": seconds("warmup"),
	"isl": same, "synthetic-input-tokens-mean": same, "prompt-input-tokens-mean": same,
	"isl-stddev": same, "synthetic-input-tokens-stddev": same, "prompt-input-tokens-stddev": same,
	"osl": same, "output-tokens-mean": same, "prompt-output-tokens-mean": same,
	"osl-stddev": same, "output-tokens-stddev": same, "prompt-output-tokens-stddev": same,
	"random-seed": to("seed"), "extra-inputs": extraInput, "header": to("header"), "h": to("header"),
	"goodput": limits(map[string]string{"time_to_first_token": "ttft", "inter_token_latency": "tpot", "request_latency": "e2e",
		"time_to_first_output_token": "ttfo"}),
	"request-timeout-seconds": seconds("timeout"), "input-file": to("workload"), "custom-dataset-type": same, "replay-speedup": to("speedup"),
	"fixed-schedule": same, "num-profile-runs": to("repeat"), "output-artifact-dir": to("out"), "artifact-dir": to("out"),
	"wait-for-model-timeout": seconds("wait-ready"), "concurrency-ramp-duration": seconds("ramp"), "request-rate-ramp-duration": seconds("ramp"),
	"use-server-token-count": same, "apply-chat-template": same, "no-gpu-telemetry": same, "no-server-metrics": same, "ui": same, "ui-type": same,
	"export-level": same, "workers-max": to("workers"), "session-header": to("session-header"),
	"failed-request-threshold": says("--failed-request-threshold: --max-failures P ends a run when a larger share fails"),
	"num-dataset-entries":      says("--num-dataset-entries: every made prompt is another one here, so that no cache helps"),
	"public-dataset":           says("--public-dataset: name a file with --workload; nothing is fetched"),
	"request-cancellation-rate": says(
		"--request-cancellation-rate: a workload file has `leave`, readers who go away (docs/workloads.md)"),
}

func endpointPath(c *call, v string) {
	c.note("--endpoint %s: write the path into the URL, where it is not the API's usual one", v)
}

// extraInput is name:value, or an object.
func extraInput(c *call, v string) {
	name, value, ok := strings.Cut(v, ":")
	switch {
	case strings.HasPrefix(v, "{"):
		c.fields(v)
	case v == "ignore_eos:true":
		c.on("ignore-eos")
	case !ok:
		c.note("--extra-inputs %s: no equal here", v)
	default:
		if _, err := strconv.ParseFloat(value, 64); err != nil && value != "true" && value != "false" && !strings.HasPrefix(value, "{") {
			value = strconv.Quote(value)
		}
		c.fields(fmt.Sprintf("%q: %s", name, value))
	}
}

func aiperfEnd(c *call) {
	if !c.has("streaming") {
		c.on("no-stream")
	}
	c.byDefault("api", "openai-chat", "endpoint-type")
	c.byDefault("concurrency", "1", "concurrency", "request-rate", "fixed-schedule")
	if !c.has("request-count", "num-requests", "benchmark-duration", "input-file") {
		n, _ := strconv.Atoi(c.or("1", "concurrency"))
		c.set("requests", strconv.Itoa(max(10, 2*n)))
	}
	c.byDefault("warmup", "0", "warmup-request-count", "num-warmup-requests", "warmup-duration")
	if !c.has("input-file") {
		lengths(c, "input-tokens", c.or("550", "isl", "synthetic-input-tokens-mean", "prompt-input-tokens-mean"), c.or("", "isl-stddev", "synthetic-input-tokens-stddev", "prompt-input-tokens-stddev"))
	}
	lengths(c, "output-tokens", c.or("", "osl", "output-tokens-mean", "prompt-output-tokens-mean"), c.or("", "osl-stddev", "output-tokens-stddev", "prompt-output-tokens-stddev"))
	c.note("what is called inter_token_latency there is tpot here")
}
