package translate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// inferencePerf is inference-perf, whose settings are one file: its keys are flags with
// dots, as its own command line takes them too.
// Source: docs/cli_flags.md and inference_perf/config (loadgen, datagen, apis, common.py), 2026-11.
var inferencePerf = &tool{
	names: []string{"inference-perf"},
	table: `server.model-name=model server.type server.ignore-eos server.cert-path=cert server.key-path=key api.streaming load.type load.interval load.num-workers
		load.worker-max-concurrency load.worker-max-tcp-connections load.request-timeout=timeout:s load.stage-teardown-grace-seconds=grace:s load.base-seed=seed data.type
		data.path=workload tokenizer.pretrained-model-name-or-path=tokenizer tokenizer.trust-remote-code log-level +a +analyze u unified-analysis-dir
		api.session-id-header-key=session-header api.session-token-header-key=session-echo api.embeddings.batch-size=batch
		data.input-distribution.mean data.input-distribution.std-dev data.input-distribution.min data.input-distribution.max data.input-distribution.type
		data.input-distribution.total-count data.output-distribution.mean data.output-distribution.std-dev data.output-distribution.min data.output-distribution.max
		data.output-distribution.type data.output-distribution.total-count storage.local-storage.path=out metrics.type report.request-lifecycle.summary
		report.request-lifecycle.per-stage report.request-lifecycle.per-request`,
	flags: map[string]func(*call, string){
		"server.base-url": address, "server.api-key": key,
		"api.type": func(c *call, v string) {
			c.api("api.type", v, "chat=openai-chat completion=openai-completions anthropic_messages=anthropic embeddings=embeddings")
		},
		"api.headers": func(c *call, v string) { c.note("--api.headers: write each as --header \"NAME: VALUE\"") },
		"load.stages": inferencePerfStages,
		"config-file": inferencePerfFile, "c": inferencePerfFile,
		"load.sweep.type": says("--load.sweep: sweep --find with an --objective finds the limit"),
	},
	end: func(c *call) {
		if v := c.or("", "api.streaming"); !c.has("api.streaming") || strings.EqualFold(v, "false") {
			c.on("no-stream")
		}
		if !strings.EqualFold(c.or("true", "server.ignore-eos"), "false") {
			c.on("ignore-eos")
		}
		c.byDefault("api", "openai-completions", "api.type")
		switch kind := c.or("constant", "load.type"); kind {
		case "constant":
		case "concurrent":
			if c.arg("stages") != "" { // of rates, which it does not have
				c.unset("stages")
				c.note("load.type concurrent: no equal here for such stages; sweep --concurrency 1,8,32 has closed loops")
			}
		case "poisson":
			c.set("arrival", "poisson")
		default:
			c.note("--load.type %s: no equal here; traces and recorded sessions are a --workload", kind)
		}
		c.byDefault("grace", "120s", "load.stage-teardown-grace-seconds")
		switch kind := c.or("mock", "data.type"); kind {
		case "random", "synthetic", "mock":
			c.distribution("input")
			c.distribution("output")
		case "shareGPT":
		default:
			c.note("--data.type %s: no equal here; --workload takes files, and a workload file has `prefix` and `turns` (docs/workloads.md)", kind)
		}
		if workers, most := c.numbers("load.num-workers", "load.worker-max-concurrency"); most > 0 {
			if workers > 0 && c.arg("stages") != "" {
				c.set("concurrency", fmt.Sprintf("%g", workers*most))
			} else {
				c.note("--load.worker_max_concurrency caps each worker; --concurrency caps all requests in flight")
			}
		}
		c.set("warmup", "0")
		c.note("its tokens are counted by its own tokenizer; here by the server's usage")
	},
}

func inferencePerfFile(c *call, _ string) {
	c.note("--config_file: the file is not read here; give its keys as flags, like --server.base_url=… --load.stages=10@60,20@60")
}

// distribution is a side's lengths: normal ones between two bounds, unless it says more.
func (c *call) distribution(side string) {
	get := func(name, fallback string) string {
		return c.or(fallback, "data."+side+"-distribution."+name)
	}
	kind := get("type", "")
	if kind+get("mean", "")+get("std-dev", "")+get("min", "")+get("max", "") == "" {
		c.note("no %s lengths were given, where the tool asks for some; ours are 256 tokens in and 128 out", side)
		return
	}
	flag, least, most := side+"-tokens", get("min", "10"), get("max", "1024")
	mean, deviation := get("mean", "512"), get("std-dev", "200")
	switch kind {
	case "fixed":
		c.set(flag, mean)
		return
	case "uniform":
		c.set(flag, "uniform:"+least+","+most)
		return
	case "", "normal":
		lengths(c, flag, mean, deviation)
	case "lognormal":
		c.set(flag, "lognormal:"+mean+","+deviation)
	default:
		c.note("--data.%s_distribution.type %s: no equal here", side, kind)
	}
	if least != most && deviation != "0" {
		c.note("%s lengths outside of %s to %s are set to these bounds there, and not here", side, least, most)
	} else if least == most {
		c.set(flag, least)
	}
}

// inferencePerfStages reads the stages as the tool's flag has them, a list of objects, or
// rate@seconds with commas.
func inferencePerfStages(c *call, v string) {
	type stage struct {
		Rate        json.Number `json:"rate"`
		Duration    json.Number `json:"duration"`
		Requests    json.Number `json:"num_requests"`
		Concurrency json.Number `json:"concurrency_level"`
	}
	var given []stage
	if json.Unmarshal([]byte(v), &given) != nil {
		given = nil
		for part := range strings.SplitSeq(v, ",") {
			rate, duration, ok := strings.Cut(part, "@")
			if !ok {
				c.note("load.stages %s: write RATE@SECONDS, with commas", v)
				return
			}
			given = append(given, stage{Rate: json.Number(rate), Duration: json.Number(duration)})
		}
	}
	var stages []string
	for i, s := range given {
		if s.Concurrency != "" {
			c.set("concurrency", s.Concurrency.String())
			c.set("requests", s.Requests.String())
			if i > 0 {
				c.note("load.stages: of several numbers of streams the last is taken; sweep --concurrency takes all")
			}
			continue
		}
		stages = append(stages, fmt.Sprintf("%ss@%s", s.Duration, s.Rate))
	}
	if len(stages) > 0 {
		c.set("stages", strings.Join(stages, ","))
	}
	if pause, _ := strconv.ParseFloat(c.or("1", "load.interval"), 64); len(stages) > 1 && pause > 0 {
		c.note("between stages it waits for the requests in flight, and load.interval seconds (%g) more; here a stage follows the other", pause)
	}
}
