package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// inferencePerf is inference-perf, whose settings are one file: its keys are flags with
// dots, as its own command line takes them too.
// Source: docs/cli_flags.md, docs/expressions.md, docs/goodput.md and inference_perf/config
// (config, loadgen, datagen, apis, common), 2026-11.
var inferencePerf = &tool{
	names: []string{"inference-perf"},
	table: `server.model-name=model server.type~ server.ignore-eos server.cert-path=cert server.key-path=key api.streaming load.type load.interval load.num-workers
		load.worker-max-concurrency load.worker-max-tcp-connections- load.request-timeout=timeout:s load.stage-teardown-grace-seconds=grace:s load.base-seed=seed data.type
		data.path load.trace.file data.trace.file=workload load.trace.format~ data.trace.format~
		tokenizer.pretrained-model-name-or-path=tokenizer tokenizer.trust-remote-code~ log-level~ +a~ +analyze~ u~ unified-analysis-dir~
		api.session-id-header-key=session-header api.session-token-header-key=session-echo api.embeddings.batch-size=batch api.rerank.document-count=batch
		api.response-format.type api.response-format.name api.response-format.json-schema
		data.input-distribution.mean data.input-distribution.std-dev data.input-distribution.min data.input-distribution.max data.input-distribution.type
		data.input-distribution.total-count~ data.input-distribution.variance data.output-distribution.mean data.output-distribution.std-dev
		data.output-distribution.min data.output-distribution.max data.output-distribution.type data.output-distribution.total-count~
		data.output-distribution.variance data.shared-prefix.num-unique-system-prompts data.shared-prefix.num-groups
		data.shared-prefix.num-users-per-system-prompt data.shared-prefix.num-prompts-per-group data.shared-prefix.system-prompt-len
		data.shared-prefix.question-len data.shared-prefix.output-len data.shared-prefix.seed=seed data.shared-prefix.question-distribution
		data.shared-prefix.output-distribution storage.local-storage.path=out 
		data.weka-trace-replay.max-wait-ms data.otel-trace-replay.max-wait-ms data.weka-trace-replay.trace-idle-gap-cap-seconds
		 load.sweep.num-requests- load.sweep.timeout- load.sweep.num-stages-
		load.sweep.stage-duration- load.sweep.saturation-percentile-
		api.slo-tpot-header- api.slo-ttft-header- api.slo-unit- circuit-breakers- data.conversation-replay.- data.corpus-file-path- data.multimodal.-
		data.otel-trace-replay.- data.shared-prefix.enable-multi-turn-chat- data.shared-prefix.multimodal.- data.synthetic-agentic.- data.use-chat-template-
		data.visionarena.- data.weka-trace-replay.- load.circuit-breakers- load.lora-traffic-split- load.request-retries- load.request-retry-backoff-sec- tokenizer.token-
		metrics.~ report.~ storage.~ observability.~ tokenizer.load-timeout~`,
	flags: map[string]func(*call, string){
		"server.base-url": address, "server.api-key": key, "api.type": inferencePerfAPI, "api": inferencePerfAPI, // an older form
		"api.headers":                        inferencePerfHeaders,
		"api.embeddings.dimensions":          number("dimensions"),
		"api.embeddings.encoding-format":     func(c *call, v string) { c.fields(fmt.Sprintf(`"encoding_format": %q`, v)) },
		"load.stages":                        inferencePerfStages,
		"load.sweep.type":                    says("--load.sweep.type: sweep --find with an --objective finds the limit"),
		"data.input-distribution":            func(c *call, v string) { c.expression("input", v) },
		"data.output-distribution":           func(c *call, v string) { c.expression("output", v) },
		"data.weka-trace-replay.trace-files": recordedFiles("weka-trace-replay"), "data.otel-trace-replay.trace-files": recordedFiles("otel-trace-replay"),
		"report.goodput.constraints": inferencePerfGoodput,
	},
	read: inferencePerfFile,
	end:  inferencePerfEnd,
}

func inferencePerfAPI(c *call, v string) {
	c.api("api.type", v, "chat=openai-chat completion=openai-completions anthropic_messages=anthropic embeddings=embeddings rerank=rerank")
}

func inferencePerfEnd(c *call) {
	c.byDefault("api", "openai-completions", "api.type", "api")
	c.ofData()
	answers := c.arg("api") != "embeddings" && c.arg("api") != "rerank"
	if v := c.or("", "api.streaming"); answers && (!c.has("api.streaming") || strings.EqualFold(v, "false")) {
		c.on("no-stream")
	}
	if !strings.EqualFold(c.or("true", "server.ignore-eos"), "false") {
		c.on("ignore-eos")
	}
	switch kind := c.or("constant", "load.type"); kind {
	case "constant": // of which the mean alone is constant
		if c.arg("stages") != "" {
			c.set("arrival", "poisson")
			c.note("load.type constant: gaps are random there too, with exactly rate × duration requests in a stage; here with about so many")
		}
	case "concurrent":
		if c.arg("stages") != "" { // of rates, which it does not have
			c.unset("stages")
			c.note("load.type concurrent: no equal here for such stages; sweep --concurrency 1,8,32 has closed loops")
		}
	case "poisson":
		c.set("arrival", "poisson")
		c.note("load.type poisson: how many requests a second has is drawn there, and then their gaps; here the gaps")
	case "trace_replay":
		c.replay()
	case "trace_session_replay":
		c.replaySessions()
	default:
		if c.arg("workload") == "" {
			c.note("--load.type %s: no equal here; traces and recorded sessions are a --workload", kind)
		}
	}
	c.byDefault("grace", "120s", "load.stage-teardown-grace-seconds")
	if c.or("mock", "data.type") == "shareGPT" && c.arg("workload") == "" {
		if file := c.or("", "data.path"); file != "" {
			c.set("workload", file)
		}
	}
	switch kind := c.or("mock", "data.type"); {
	case c.arg("workload") != "":
		for _, side := range []string{"input", "output"} {
			if text, why := spread(func(name, fallback string) string { return c.or(fallback, "data."+side+"-distribution."+name) }); text+why != "" || c.arg(side+"-tokens") != "" {
				c.unset(side + "-tokens")
				c.note("data.%s_distribution: no equal here; lengths are those of the file", side)
			}
		}
		if kind == "shareGPT" && (c.arg("api") == "openai-chat" || c.arg("api") == "anthropic") {
			c.set("output-tokens", "30")
			c.note("--data.type shareGPT: all turns of a conversation are one request there, the assistant's among them, with answers of 30 tokens; here its first turn is one")
		}
	case kind == "mock":
		c.set("input-tokens", "8")
		if answers {
			c.set("output-tokens", "30") // which it asks for where nothing else is said
		}
		c.note("--data.type mock: a prompt is a few words and its number there, whatever lengths are given")
	case kind == "random" || kind == "synthetic":
		c.distribution("input")
		if answers {
			c.distribution("output")
		}
	case kind == "shareGPT":
		c.note("--data.type shareGPT without data.path: fetched there; name a file of it with --workload")
	case kind == "shared_prefix" || kind == "sharedPrefix":
		c.sharedPrefix()
	default:
		c.note("--data.type %s: no equal here; --workload takes files, and a workload file has `prefix` and `turns` (docs/workloads.md)", kind)
	}
	if c.has("api.response-format.type", "api.response-format.json-schema") {
		c.responseFormat()
	}
	if workers, most := c.numbers("load.num-workers", "load.worker-max-concurrency"); most > 0 {
		c.used("load.worker-max-concurrency")
		if workers > 0 && c.arg("stages") != "" {
			c.used("load.num-workers")
			c.set("concurrency", fmt.Sprintf("%g", workers*most))
		} else {
			c.note("--load.worker-max-concurrency caps each worker; --concurrency caps all requests in flight")
		}
	}
	c.set("warmup", "0")
	c.note("its tokens are counted by its own tokenizer; here by the server's usage")
}

// ofData is the API that is spoken, which the kind of data decides. Messages are only made
// of some kinds, and of others where they have pictures, videos or sound.
// Source: get_supported_apis and load_lazy_data in inference_perf/datagen, 0.7.0.
func (c *call) ofData() {
	kind, asked := c.or("mock", "data.type"), c.arg("api")
	media := slices.ContainsFunc(slices.Collect(maps.Keys(c.given)), func(name string) bool {
		return strings.HasPrefix(name, "data.multimodal") || strings.HasPrefix(name, "data.shared-prefix.multimodal")
	})
	if media || asked != "openai-chat" && asked != "anthropic" {
		return
	}
	switch kind {
	case "shared_prefix", "sharedPrefix":
		c.set("api", "openai-completions")
		c.note("--api.type: prompts with a prefix that they share go to the completions there, as text, whatever is asked for")
	case "random", "synthetic", "conversation_replay", "cnn_dailymail":
		c.note("--api.type: data.type %s is made for the completions, and 0.7.0 refuses it for messages", kind)
	}
}

// replay plays the times of a trace. Stages say how many of its requests are sent; lengths
// are those of the trace where the data name it too.
// Source: TraceReplayLoadTimer in loadgen/load_timer.py, run_stage in loadgen/load_generator.py.
func (c *call) replay() {
	stages, times, lengths := c.arg("stages"), c.or("", "load.trace.file"), c.or("", "data.trace.file")
	c.unset("stages")
	if times == "" {
		c.note("--load.type trace_replay: name the trace with --workload")
		return
	}
	c.set("workload", times)
	if lengths != times {
		c.note("prompts and answers are those of --data.type %s there, here of the lengths in %s, which has the times", c.or("mock", "data.type"), times)
	}
	if lengths != "" || stages == "" {
		return
	}
	duration, rate, _ := strings.Cut(stages, "s@")
	x, errX := strconv.ParseFloat(duration, 64)
	y, errY := strconv.ParseFloat(rate, 64)
	if errX != nil || errY != nil {
		c.note("load.stages: each stage plays the trace anew there; here it is played once")
		return
	}
	c.set("requests", fmt.Sprintf("%.0f", math.Floor(x*y)))
}

// replaySessions plays recorded sessions, each once, with pauses that are cut.
// Source: TraceSessionReplayLoadStage in config/loadgen/config.py, SessionReplayConfig and
// WekaTraceReplayConfig in config/datagen/replay.py, 0.7.0.
func (c *call) replaySessions() {
	if c.arg("workload") == "" {
		c.note("--load.type trace_session_replay: no equal here; recorded sessions are a --workload")
		return
	}
	kind := strings.ReplaceAll(c.or("otel_trace_replay", "data.type"), "_", "-")
	longest, _ := strconv.ParseFloat(c.or("15000", "data."+kind+".max-wait-ms"), 64)
	longest /= 1000
	if kind == "weka-trace-replay" {
		idle, _ := strconv.ParseFloat(c.or("60", "data.weka-trace-replay.trace-idle-gap-cap-seconds"), 64)
		longest = min(longest, idle)
	}
	c.note("pauses are cut to %g s there; here they are played in full, but for max_gap: %gs beside file: in a workload file",
		longest, max(longest, 0.001)) // a max_gap of 0 cuts none
	c.note("each session is played once there; here they come again until --duration or --requests ends the run")
	if c.arg("concurrency") == "0" {
		c.unset("concurrency")
		c.note("concurrent_sessions 0: all sessions are open at once there; give --concurrency as many as there are")
	}
}

// responseFormat is the field that asks for an answer of a form.
func (c *call) responseFormat() {
	if c.or("json_schema", "api.response-format.type") == "json_object" {
		c.fields(`"response_format": {"type": "json_object"}`)
		return
	}
	c.fields(fmt.Sprintf(`"response_format": {"type": "json_schema", "json_schema": {"name": %q, "schema": %s}}`,
		c.or("structured_output", "api.response-format.name"), c.or("null", "api.response-format.json-schema")))
}

// inferencePerfHeaders reads an object of them.
func inferencePerfHeaders(c *call, v string) {
	var headers map[string]string
	if json.Unmarshal([]byte(v), &headers) != nil {
		c.note("--api.headers: write each as --header \"NAME: VALUE\"")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if i := slices.IndexFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, name+": ") }); i > 0 {
			c.args = slices.Delete(c.args, i-1, i+1) // of the file
		}
		c.set("header", name+": "+headers[name])
	}
}

// inferencePerfGoodput reads limits in seconds.
func inferencePerfGoodput(c *call, v string) {
	var all map[string]float64
	if json.Unmarshal([]byte(v), &all) != nil {
		c.note("--report.goodput.constraints %s: no equal here", v)
		return
	}
	ours := map[string]string{"ttft": "ttft", "tpot": "tpot", "request_latency": "e2e"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if ours[name] == "" {
			c.note("--report.goodput.constraints %s: no equal here", name)
			continue
		}
		c.good(ours[name], fmt.Sprintf("%gs", all[name]))
	}
}

// recordedFiles takes one file of recorded sessions.
func recordedFiles(kind string) func(*call, string) {
	return func(c *call, v string) {
		var files []string
		if json.Unmarshal([]byte(v), &files) != nil || len(files) != 1 {
			c.note("--data.%s.trace_files %s: no equal here; --workload takes one file", kind, v)
			return
		}
		c.set("workload", files[0])
	}
}

// distribution is a side's lengths: normal ones between two bounds, unless it says more.
func (c *call) distribution(side string) {
	if c.arg(side+"-tokens") != "" {
		return // an expression
	}
	get := func(name, fallback string) string {
		return c.or(fallback, "data."+side+"-distribution."+name)
	}
	text, why := spread(get)
	switch {
	case why != "":
		c.note("--data.%s_distribution%s", side, why)
	case text == "":
		c.note("no %s lengths were given, where the tool asks for some; ours are 256 tokens in and 128 out", side)
	default:
		c.set(side+"-tokens", text)
		c.shifted(side, text)
	}
}

// shifted says of which lengths the shape differs: those of utils/distribution.py are
// log-normal above their least, with the mean and deviation that are asked for.
func (c *call) shifted(what, text string) {
	if strings.HasPrefix(text, "lognormal") {
		c.note("%s lengths are log-normal from their least on there, and from 0 here, with the same mean and deviation", what)
	}
}

// spread is a distribution of the tool as ours, or why there is none; both are empty where
// nothing was said of it.
func spread(get func(name, fallback string) string) (text, why string) {
	kind := get("type", "")
	if kind+get("mean", "")+get("std-dev", "")+get("variance", "")+get("min", "")+get("max", "") == "" {
		return "", ""
	}
	least, most := get("min", "10"), get("max", "1024")
	mean, deviation := get("mean", "512"), get("std-dev", "200")
	if v, err := strconv.ParseFloat(get("variance", ""), 64); err == nil && v >= 0 {
		deviation = strconv.FormatFloat(math.Sqrt(v), 'g', 6, 64)
	}
	switch {
	case least == most:
		return least, ""
	case kind == "fixed" || kind != "uniform" && deviation == "0":
		return mean, ""
	case kind == "uniform":
		return "uniform:" + least + "," + most, ""
	case kind == "" || kind == "normal":
		kind = "normal"
	case kind != "lognormal":
		return "", ".type " + kind + ": no equal here"
	}
	return kind + ":" + mean + "," + deviation + ",min=" + least + ",max=" + most + ",clip", ""
}

// sharedPrefix is what a workload file says: flags have no prefix that requests share.
func (c *call) sharedPrefix() {
	const of = "data.shared-prefix."
	part := func(fallback string, names ...string) string {
		v := c.or(fallback, names...)
		var object map[string]any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &object) == nil {
			return c.spreadOf(names[0], object)
		}
		text, ok := expression(v)
		if !ok {
			c.note("--%s %s: no equal here", names[0], v)
			return fallback
		}
		return text
	}
	input, output := part("50", of+"question-distribution", of+"question-len"), part("50", of+"output-distribution", of+"output-len")
	prefix, groups := part("100", of+"system-prompt-len"), c.or("10", of+"num-unique-system-prompts", of+"num-groups")
	c.prefixed(input, output, prefix, groups)
	c.note("each prefix has %s questions there, which come again; here every question is new", c.or("10", of+"num-users-per-system-prompt", of+"num-prompts-per-group"))
}

// spreadOf is a distribution that one value holds. Of a shape that has no equal the mean
// stands for it.
func (c *call) spreadOf(name string, object map[string]any) string {
	of := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch key {
		case "distribution": // an older word for its type
			of["type"] = valueText(object[key])
		case "type", "mean", "std_dev", "variance", "min", "max":
			of[strings.ReplaceAll(key, "_", "-")] = valueText(object[key])
		case "total_count":
		default:
			c.note("--%s.%s: no equal here", name, key)
		}
	}
	text, why := spread(func(name, fallback string) string { return cmp.Or(of[name], fallback) })
	if why != "" {
		c.note("--%s%s; its mean stands for it", name, why)
		return cmp.Or(of["mean"], "512")
	}
	c.shifted(name, text)
	return text
}

// inferencePerfStages reads the stages as the tool's flag has them, a list of objects, or
// rate@seconds with commas.
func inferencePerfStages(c *call, v string) {
	given, err := stagesOf(v)
	if err != nil {
		c.note("load.stages: %s", err)
		return
	}
	for _, flag := range []string{"stages", "concurrency", "requests"} { // of others before
		c.unset(flag)
	}
	var rates, levels, requests []string
	for _, s := range given {
		for _, name := range slices.Sorted(maps.Keys(s)) {
			switch value := valueText(s[name]); name {
			case "duration":
			case "num_requests":
				requests = append(requests, value)
			case "concurrency_level", "concurrent_sessions":
				levels = append(levels, value)
			case "rate":
				if _, err := strconv.ParseFloat(value, 64); err != nil {
					c.note("load.stages: rate %s: no equal here; --stages takes ramps, 60s@1..10", value)
					continue
				}
				rates = append(rates, valueText(s["duration"])+"s@"+value)
			default:
				c.note("load.stages: %s %s: no equal here", name, value)
			}
		}
	}
	if len(levels) > 0 {
		c.set("concurrency", strings.Join(levels, ","))
		c.sweeps = len(levels) > 1
	}
	if len(requests) > 0 {
		most := slices.MaxFunc(requests, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		c.set("requests", most)
		if len(slices.Compact(slices.Clone(requests))) > 1 {
			c.note("load.stages: %s requests there, a stage each; here all stages have %s", strings.Join(requests, ", "), most)
		}
	}
	if len(rates) > 0 {
		c.set("stages", strings.Join(rates, ","))
	}
	if pause, _ := strconv.ParseFloat(c.or("1", "load.interval"), 64); len(rates) > 1 && pause > 0 {
		c.note("between stages it waits for the requests in flight, and load.interval seconds (%g) more; here a stage follows the other", pause)
	}
}

// stagesOf are the stages of such a text. The error says how to write them.
func stagesOf(v string) (stages []map[string]any, err error) {
	if json.Unmarshal([]byte(v), &stages) == nil {
		return stages, nil
	}
	stages = nil
	for part := range strings.SplitSeq(v, ",") {
		rate, duration, ok := strings.Cut(part, "@")
		if !ok {
			return nil, fmt.Errorf("%s: write RATE@SECONDS, with commas", v)
		}
		stages = append(stages, map[string]any{"rate": rate, "duration": duration})
	}
	return stages, nil
}
