package translate

import (
	"fmt"
	"strings"
)

// inferencePerf is inference-perf, whose settings are one file: its keys are flags with
// dots, as its own command line takes them too. Source: inference-perf's docs/config.md,
// 0.7.
var inferencePerf = &tool{
	names:    []string{"inference-perf"},
	switches: nil,
	flags: map[string]func(*call, string){
		"server.base-url": address, "server.model-name": to("model"), "server.type": same, "server.api-key": key,
		"server.ignore-eos": func(c *call, v string) {
			if v != "false" {
				c.on("ignore-eos")
			}
		},
		"api.type":      apis("api.type %s: choose an API with --api", map[string]string{"chat": "openai-chat", "completion": "openai-completions"}),
		"api.streaming": same, "load.type": same, "load.stages": inferencePerfStages, "load.num-workers": to("workers"),
		"load.worker-max-concurrency": same, "load.interval": same, "load.request-timeout": seconds("timeout"), "data.type": same, "data.path": to("workload"),
		"data.input-distribution.mean": same, "data.input-distribution.std-dev": same,
		"data.output-distribution.mean": same, "data.output-distribution.std-dev": same,
		"tokenizer.pretrained-model-name-or-path": to("tokenizer"),
		"config-file": says("--config_file: the file is not read here; give its keys as flags, like --server.base_url=… --load.stages=10@60,20@60"),
	},
	end: func(c *call) {
		if c.or("false", "api.streaming") != "true" {
			c.on("no-stream")
		}
		c.byDefault("api", "openai-completions", "api.type")
		switch kind := c.or("constant", "load.type"); kind {
		case "constant":
		case "poisson":
			c.set("arrival", "poisson")
		default:
			c.note("load.type %s: no equal here; sweep --concurrency 1,8,32 has closed loops", kind)
		}
		lengths(c, "input-tokens", c.or("", "data.input-distribution.mean"), c.or("", "data.input-distribution.std-dev"))
		lengths(c, "output-tokens", c.or("", "data.output-distribution.mean"), c.or("", "data.output-distribution.std-dev"))
		c.set("warmup", "0")
		c.note("its tokens are counted by its own tokenizer; here by the server's usage")
	},
}

// inferencePerfStages reads rate@seconds, with commas.
func inferencePerfStages(c *call, v string) {
	var stages []string
	for part := range strings.SplitSeq(v, ",") {
		rate, duration, ok := strings.Cut(part, "@")
		if !ok {
			c.note("load.stages %s: write RATE@SECONDS, with commas", v)
			return
		}
		stages = append(stages, fmt.Sprintf("%ss@%s", duration, rate))
	}
	c.set("stages", strings.Join(stages, ","))
}
