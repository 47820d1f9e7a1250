package translate

import (
	"strings"
)

// llmPerf is LLMPerf's token_benchmark_ray.py.
// Source: token_benchmark_ray.py, f1d6bed.
var llmPerf = &tool{
	names:    []string{"token_benchmark_ray.py"},
	shortens: true,
	table: `model=model mean-input-tokens stddev-input-tokens mean-output-tokens stddev-output-tokens num-concurrent-requests=concurrency timeout=duration:s
		max-num-completed-requests=requests additional-sampling-params results-dir=out llm-api metadata !log-prompts~ !no-log-prompts~`,
	flags: map[string]func(*call, string){
		"additional-sampling-params": body,
		"metadata": func(c *call, v string) {
			for pair := range strings.SplitSeq(v, ",") {
				c.set("tag", pair)
			}
		},
		"llm-api": func(c *call, v string) {
			if v != "openai" {
				c.note("--llm-api %s: no equal here; --api names what there is", v)
			}
		},
	},
	end: func(c *call) {
		c.set("api", "openai-chat")
		c.byDefault("concurrency", "10", "num-concurrent-requests")
		c.byDefault("requests", "10", "max-num-completed-requests")
		c.byDefault("duration", "90s", "timeout")
		c.set("warmup", "0")
		lengths(c, "input-tokens", c.or("550", "mean-input-tokens"), c.or("150", "stddev-input-tokens"))
		lengths(c, "output-tokens", c.or("150", "mean-output-tokens"), c.or("80", "stddev-output-tokens"))
		c.note("the address is in OPENAI_API_BASE there, which is read in front of the command. Its inter-token latency holds the time to the first token: report --lens llmperf shows it")
	},
}
