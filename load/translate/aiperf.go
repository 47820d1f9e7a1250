package translate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
)

// aiperf is NVIDIA AIPerf.
// Source: the help of 0.13.0; config/flags/cli_config.py, _converter_profiling.py and _converter_dataset.py there.
var aiperf = &tool{
	names: []string{"aiperf profile"},
	table: aiperfTable + `concurrency request-rate arrival-pattern request-rate-mode arrival-smoothness vllm-burstiness isl prompt-input-tokens-mean prompt-input-tokens-stddev
		isl-stddev osl prompt-output-tokens-mean prompt-output-tokens-stddev osl-stddev prefill-concurrency=prefill-concurrency benchmark-duration=duration:s
		benchmark-grace-period=grace:s warmup-duration=warmup:s request-timeout-seconds=timeout:s custom-dataset-type !fixed-schedule
		!no-fixed-schedule !fixed-schedule-auto-offset replay-speedup=speedup synthesis-speedup-ratio=speedup num-profile-runs=repeat output-artifact-dir=out
		wait-for-model-timeout=wait-ready:s wait-for-model-mode~ wait-for-model-interval~ concurrency-ramp-duration request-rate-ramp-duration user-centric-rate num-users
		!use-server-token-count~ !apply-chat-template=compensate-template !no-gpu-telemetry~ !no-server-metrics~ ui~ ui-type~ export-level~ profile-export-level~
		profile-export-prefix~ slice-duration~ log-level~ !extra-verbose~ !vv~ record-processors~ record-processor-service-count~ stats-interval~ workers-max~ max-workers~
		session-header=session-header !reset-kv-cache=reset-cache reset-kv-cache-timeout-seconds=control-limit:s !server-profiler=server-profile
		server-profiler-timeout-seconds=control-limit:s !use-legacy-max-tokens~ !per-chunk-usage- !download-video-content- transport~ transport-type~ +server-metrics-formats~
		+gpu-telemetry~ +server-metrics~ !export-http-trace~ !show-trace-timing~ !export-outputs-json~ !auto-plot~ !no-auto-plot~ !plot-required~ !ignore-trace-delays-
		!use-think-time-only- !allow-dataset-wrap- !no-allow-dataset-wrap~ !burst-phase-starts- !unsafe-override- !open-loop-replay- !no-open-loop-replay-
		!open-loop-strict- !omit-kv-hints- !force-min-tokens- !no-force-min-tokens- !uuid-and-strip- !no-sweep-table~ !network-latency-automatic- +dataset-filter-
		+stream- +otel-resource-attributes- +mlflow-tag- +mlflow-artifact-glob- +wandb-tag- seq-dist sequence-distribution random-range-ratio random-corpus-style
		request-count fixed-schedule-start-offset fixed-schedule-end-offset isl-block-size prompt-input-tokens-block-size
		dataset-sampling-strategy ` + aiperfRest,
	flags: aiperfFlags,
	end: func(c *call) {
		aiperfEnd(c)
		if c.has("request-rate") {
			pattern := c.or("poisson", "arrival-pattern", "request-rate-mode")
			smooth := c.or("", "arrival-smoothness", "vllm-burstiness")
			if smooth != "" {
				pattern = c.or("gamma", "arrival-pattern", "request-rate-mode")
				c.set("burstiness", smooth)
			}
			if pattern == "concurrency_burst" {
				c.note("--arrival-pattern concurrency_burst: is of a closed loop; beside a rate it is refused there")
			} else {
				c.set("arrival", pattern)
			}
		}
		if users, rate := c.numbers("num-users", "user-centric-rate"); users*rate > 0 {
			c.used("num-users", "user-centric-rate")
			c.set("concurrency", c.or("", "num-users"))
			c.set("pace", fmt.Sprintf("%gs", users/rate))
		} else if c.has("num-users", "user-centric-rate") {
			c.note("--num-users %s, --user-centric-rate %s: no equal here; of one number of users and a rate, --concurrency and --pace have it", c.or("", "num-users"), c.or("", "user-centric-rate"))
		}
	},
}

// genAIPerf is what AIPerf came from.
// Source: genai_perf/parser.py and config/input/config_defaults.py, 0.0.16.
var genAIPerf = &tool{
	names:    []string{"genai-perf profile"},
	shortens: true,
	table: aiperfTable + `concurrency request-rate isl osl service-kind backend request-count !generate-plots~ !output-tokens-mean-deterministic +server-metrics-url~
		+server-metrics~ +server-metrics-urls~ grpc-method- num-system-prompts- system-prompt-length- checkpoint-dir~ !enable-checkpointing~ fixed-schedule- session-concurrency- file- f- measurement-mode~ stability-percentage s measurement-interval p`,
	flags: func() map[string]func(*call, string) {
		flags := map[string]func(*call, string){
			"measurement-interval": says("--measurement-interval: a run has --duration or --requests, and no windows"), "p": says("-p: a run has --duration or --requests, and no windows"),
			"stability-percentage": says("--stability-percentage: --until-precision ends a run when it is sure enough"), "s": says("-s: --until-precision ends a run when it is sure enough"),
			"backend": func(c *call, v string) {
				c.note("--backend %s: is of --service-kind triton, whose requests have a form of their own for each", v)
			},
			"service-kind": func(c *call, v string) {
				switch v {
				case "openai":
				case "triton":
					c.note("--service-kind triton speaks KServe's gRPC there; --api triton speaks its HTTP")
				default:
					c.note("--service-kind %s: no equal here; a server is measured over HTTP", v)
				}
			},
		}
		maps.Copy(flags, aiperfFlags)
		return flags
	}(),
	end: func(c *call) {
		aiperfEnd(c)
		c.note("genai-perf's TTFT does not see reasoning: that is ttfo here")
	},
}

// aiperfTable is what both have.
const aiperfTable = `tokenizer=tokenizer tokenizer-revision~ !tokenizer-trust-remote-code~ model-selection-strategy warmup-request-count=warmup synthetic-input-tokens-mean
	synthetic-input-tokens-stddev output-tokens-mean output-tokens-stddev random-seed=seed +header +h +extra-inputs +goodput +g +url +u +model +m +model-names input-file=workload
	artifact-dir=out profile-export-file~ !streaming !verbose~ !v~ batch-size=batch batch-size-text=batch b=batch prompt-batch-size=batch num-dataset-entries num-prompts num-warmup-requests=warmup
	audio-format audio-length-mean audio-length-stddev audio-num-channels +audio-sample-rates batch-size-image image-format image-height-stddev
	image-width-stddev image-width-mean image-height-mean num-requests session-turn-delay-mean- session-delay-ratio- session-turn-delay-stddev-
	session-turns-stddev- +audio-depths- batch-size-audio- `

// aiperfRest is the rest of its parser's.
const aiperfRest = `accuracy-benchmark- !accuracy-enable-cot- accuracy-grader- accuracy-n-shots- !accuracy-no-enable-cot- accuracy-system-prompt- accuracy-tasks-
	agentic-cache-warmup-duration- agentic-warmup-grace-period- bo-constraint-mode- cache-bust- concurrency-max- concurrency-min- concurrency-steps-
	confidence-level- convergence-metric- convergence-mode- convergence-stat- convergence-threshold- conversation-turn-delay-mean-
	conversation-turn-delay-ratio- conversation-turn-delay-stddev- conversation-turn-stddev- degradation-metric-tag- degradation-stat-
	degradation-threshold- e2e-sla-ms- error-rate-sla- hf-subset- hf-weka-dataset- image-source- image-source-sampling- inter-turn-delay-cap-seconds-
	isl-max- isl-min- isl-osl-pairs- isl-steps- itl-sla-ms- max-context-length- max-idle-gap-cap-seconds- !no-parameter-sweep-same-seed-
	!no-profile-run-disable-warmup-after-first- !no-set-consistent-seed- !no-vary-seed-per-trial- num-warmup-sessions- optuna-acquisition- optuna-sampler-
	optuna-terminator- osl-max- osl-min- osl-steps- parameter-sweep-cooldown-seconds- parameter-sweep-mode- !parameter-sweep-same-seed-
	prefill-concurrency-ramp-duration- profile-run-cooldown-seconds- !profile-run-disable-warmup-after-first- prompt-corpus- request-cancellation-delay-
	request-content-type- request-rate-series- reset-kv-cache-path- search-direction- search-initial-points- search-max-iterations- search-metric-
	search-percentile-pooling- search-planner- search-random-seed- search-recipe- search-sla- search-sla-tier- search-space- search-stat- search-style-
	server-profiler-start-path- server-profiler-stop-path- !set-consistent-seed- slo-attainment-fraction- sweep-type- synthesis-max-isl-
	synthesis-max-osl- synthesis-output-len-multiplier- synthesis-prefix-len-multiplier- synthesis-prefix-root-multiplier-
	synthesis-prompt-len-multiplier- system-idle-gap-cap-seconds- system-prompt- system-prompt-file- tpot-sla-ms- trace-idle-gap-cap-seconds-
	trace-session-sample-ratio- trajectory-start-max-ratio- trajectory-start-min-ratio- ttft-sla-ms- url-strategy- variant- sweep-variant-
	!vary-seed-per-trial- video-audio-codec- video-audio-depth- video-audio-num-channels- video-audio-sample-rate- warmup-arrival-pattern-
	warmup-concurrency- warmup-concurrency-ramp-duration- warmup-grace-period- warmup-prefill-concurrency- warmup-prefill-concurrency-ramp-duration-
	warmup-request-rate- warmup-request-rate-ramp-duration- !accuracy-verbose~ api-host~ api-port~ gen-ai-provider~ mlflow-experiment~
	mlflow-parent-run-id~ mlflow-run-name~ mlflow-tracking-uri~ network-latency-mean~ network-latency-ping-interval~ otel-url~ wandb-entity~
	wandb-project~ wandb-run-name~ !zmq-dual-bind~ zmq-host~ zmq-ipc-path~ synthetic-input-tokens-block-size rankings-passages-mean
	rankings-passages-prompt-token-mean rankings-passages-prompt-token-stddev rankings-passages-stddev rankings-query-prompt-token-mean
	rankings-query-prompt-token-stddev video-duration video-format video-fps video-height video-synth-type video-width video-codec video-batch-size
	batch-size-video audio-batch-size image-batch-size`

var aiperfFlags = map[string]func(*call, string){
	"model": aiperfModel, "m": aiperfModel, "model-names": aiperfModel, "url": aiperfURL, "u": aiperfURL,
	"endpoint-type": func(c *call, v string) {
		c.api("endpoint-type", strings.ReplaceAll(v, "_", "-"), "chat=openai-chat completions=openai-completions responses=openai-responses messages=anthropic "+
			"embeddings=embeddings nim-embeddings=embeddings huggingface-generate=tgi cohere-rankings=rerank hf-tei-rankings=tei-rerank "+
			"vision=openai-chat multimodal=openai-chat image-generation=images audio-transcription=transcription")
	},
	"endpoint": endpoint, "custom-endpoint": endpoint, "api-key": key, "header": aiperfHeader, "h": aiperfHeader, "extra-inputs": extraInput,
	"goodput": aiperfLimits, "g": aiperfLimits,
	"connection-reuse-strategy": func(c *call, v string) {
		switch strings.ReplaceAll(v, "_", "-") {
		case "never":
			c.on("no-keepalive")
		case "sticky-user-sessions":
			c.set("connection", "per-session")
		}
	},
	"failed-request-threshold": func(c *call, v string) {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			c.set("max-failures", fmt.Sprintf("%g%%", 100*x))
		}
	},
	"concurrency-ramp-duration":  aiperfRamp,
	"request-rate-ramp-duration": aiperfRamp,
	"num-dataset-entries":        aiperfEntries, "num-prompts": aiperfEntries,
	"conversation-num": aiperfSessions, "num-conversations": aiperfSessions, "num-sessions": aiperfSessions,
	"conversation-turn-mean": aiperfTurns, "session-turns-mean": aiperfTurns,
	"config": aiperfConfig, "f": aiperfConfig,
	"public-dataset": says("--public-dataset: name a file with --workload; nothing is fetched"),
	"request-cancellation-rate": says(
		"--request-cancellation-rate: a workload file has `leave`, readers who go away (docs/workloads.md)"),
	"scenario":                    says("--scenario: sweep --method inferencex-agentx:aiperf-0.13 has the rules of inferencex-agentx-mvp"),
	"prefix-prompt-length":        prefix("prefix-prompt-length"),
	"prompt-prefix-length":        prefix("prompt-prefix-length"),
	"shared-system-prompt-length": prefix("shared-system-prompt-length"),
	"user-context-prompt-length":  prefix("user-context-prompt-length"),
	"prompt-prefix-pool-size":     prefix("prompt-prefix-pool-size"),
	"prefix-prompt-pool-size":     prefix("prefix-prompt-pool-size"),
	"num-prefix-prompts":          prefix("num-prefix-prompts"),
}

func aiperfTurns(c *call, v string) {
	if v != "1" {
		c.note("--conversation-turn-mean, --session-turns-mean %s: a workload file has turns: %s", v, v)
	}
}

func aiperfConfig(c *call, v string) {
	c.note("--config, -f %s: the file is not read here; what it says besides these flags is missing", v)
}

var aiperfLimits = limits(map[string]string{"time_to_first_token": "ttft", "inter_token_latency": "tpot", "request_latency": "e2e", "time_to_first_output_token": "ttfo"})

func aiperfModel(c *call, v string) {
	first, more, _ := strings.Cut(v, ",")
	if more != "" || c.arg("model") != "" {
		c.note("several models: no equal here; one is taken")
	}
	c.set("model", first)
}

func aiperfURL(c *call, v string) {
	first, others, _ := strings.Cut(v, ",")
	if c.url == "" {
		address(c, first)
		first = ""
	}
	if others = strings.Trim(first+","+others, ","); others != "" {
		c.note("--url, -u: several servers have no equal here, but for --interleave; %s is left out", others)
	}
}

func aiperfHeader(c *call, v string) {
	if strings.HasPrefix(v, "{") {
		c.note("--header: write each as --header \"NAME: VALUE\"")
		return
	}
	c.set("header", v)
}

func aiperfRamp(c *call, v string) {
	c.seconds("ramp", v)
}

func aiperfEntries(c *call, v string) {
	c.note("--num-dataset-entries, --num-prompts %s: every made prompt is another one here, so that no cache helps", v)
}

// aiperfSessions: a conversation of one turn is a request.
func aiperfSessions(c *call, v string) {
	c.set("requests", v)
	c.note("so many conversations of one turn; a workload file has `turns` (docs/workloads.md)")
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

// numbers reads two flags; 0 is none. They have had a say once they are `used`.
func (c *call) numbers(a, b string) (x, y float64) {
	x, _ = strconv.ParseFloat(c.given[a], 64)
	y, _ = strconv.ParseFloat(c.given[b], 64)
	return x, y
}

func (c *call) used(names ...string) {
	for _, name := range names {
		c.read[name] = true
	}
}

func aiperfEnd(c *call) {
	if !c.has("streaming") {
		c.on("no-stream")
	}
	c.byDefault("api", "openai-chat", "endpoint-type")
	timed := c.aiperfTimed()
	for _, pair := range [][2]string{{"concurrency", "concurrency"}, {"request-rate", "rate"}} {
		if v := c.or("", pair[0]); v != "" {
			c.set(pair[1], v)
			c.sweeps = c.sweeps || strings.Contains(v, ",")
		}
	}
	c.byDefault("concurrency", "1", "concurrency", "request-rate", "user-centric-rate")
	limited := c.has("benchmark-duration", "conversation-num", "num-conversations", "num-sessions")
	n, more, _ := strings.Cut(c.or("", "request-count", "num-requests"), ",")
	if more != "" {
		c.note("--request-count: several numbers have no equal here; one is taken")
	}
	switch {
	case n != "":
		if sessions := c.or("", "conversation-num", "num-conversations", "num-sessions"); sessions != "" {
			c.note("--conversation-num %s beside --request-count: a run ends there with what is reached first, here with the requests", sessions)
		}
		c.set("requests", n)
	case limited, timed:
	case c.has("input-file") && c.tool != "genai-perf profile":
		c.note("without a number of requests each of the file's is sent once there; --requests says how many here")
	default:
		most := 1
		for n := range strings.SplitSeq(c.or("1", "concurrency"), ",") {
			streams, _ := strconv.Atoi(n)
			most = max(most, streams)
		}
		c.set("requests", strconv.Itoa(max(10, 2*most)))
		if c.sweeps {
			c.note("ten requests, or two a stream where that is more, are sent at each point there; here as many as at the largest")
		}
	}
	c.byDefault("warmup", "0", "warmup-request-count", "num-warmup-requests", "warmup-duration")
	c.aiperfLengths()
	streams, output, ramp := c.arg("concurrency"), c.arg("output-tokens"), c.arg("ramp")
	if ramp != "" && !timed {
		c.note("the load grows within what is measured there, before it here")
	}
	if c.has("input-file") && c.aiperfSet() == "baseten_trace" && !c.has("no-force-min-tokens") {
		c.note("--force-min-tokens: each record's length is its min_tokens too there, unless told otherwise; --ignore-eos does that here")
	}
	if timed {
		c.sweeps = false // nothing is left of a list
		if !c.has("concurrency") {
			c.unset("concurrency")
		}
		c.atItsTimes()
		if c.unset("ramp"); ramp != "" {
			c.note("a ramp of %s: no equal here beside the times of a file", ramp)
		}
		if c.unset("output-tokens"); output != "" {
			c.note("--osl %s: no equal here beside the times of a file; a record's own length goes before it there too", output)
		}
		if file := c.arg("workload"); file == "" {
			c.note("--fixed-schedule: name the file with --workload")
		} else {
			if c.has("fixed-schedule-start-offset", "fixed-schedule-end-offset", "isl-block-size", "prompt-input-tokens-block-size", "synthetic-input-tokens-block-size") {
				c.set("workload", "trace.yaml")
				c.note("trace.yaml is yours to write: {file: %q%s}", file, c.aiperfPart())
				if c.has("fixed-schedule-start-offset", "fixed-schedule-end-offset") {
					c.note("offsets are the file's own times there, and count from its first record here: take that one's time off")
				}
			}
			c.note("records of one session_id or chat wait for each other there, and here where a workload file says so: {file: %q, sessions: true}", file)
			c.note("requests are sent at the file's times; if its first record has none, add --concurrency %s", cmp.Or(streams, "1"))
		}
	} else if c.has("input-file") {
		kind := c.aiperfSet()
		if n := c.or("", "isl-block-size", "prompt-input-tokens-block-size", "synthetic-input-tokens-block-size"); n != "" {
			c.note("--isl-block-size %s: a workload file has block: %s beside file: %q", n, n, c.arg("workload"))
		}
		switch kind {
		case "multi_turn", "inputs_json", "dag_jsonl":
			c.note("--custom-dataset-type %s: no equal here; --workload takes conversations as {\"messages\": …}, with turns, or sessions (docs/workloads.md)", kind)
		case "burst_gpt_trace", "raw_payload", "sagemaker_data_capture":
			c.note("--custom-dataset-type %s: the file is read here as what it looks like; --dry-run shows what is sent of it", kind)
		case "random_pool":
			c.note("--custom-dataset-type random_pool: texts are drawn at random there, again and again, and go in the file's order here")
		}
		if strings.HasPrefix(kind, "speed_bench") {
			c.note("--custom-dataset-type %s: no equal here; --workload takes the set's file, of which nothing is left out", kind)
		}
		switch c.or("sequential", "dataset-sampling-strategy") {
		case "random", "shuffle":
			c.note("--dataset-sampling-strategy: a workload file has order: random beside file: %q", c.arg("workload"))
		}
		if output != "" {
			c.note("--osl %s: a record's own length goes before it there, and behind it here", output)
		}
		if c.arg("speedup") != "" && !strings.HasPrefix(kind, "weka") && !strings.HasPrefix(kind, "tracelab") {
			c.unset("speedup")
			c.note("--replay-speedup, --synthesis-speedup-ratio: the file's times are not played, so that nothing is sped up")
		}
	}
	c.aiperfMedia()
	c.aiperfPool()
	c.aiperfUnsaid(timed)
	c.note("what is called inter_token_latency there is tpot here")
}

// aiperfPool says when made prompts come again there: of so many as conversations or requests
// are asked for, of 100 where neither is.
// Source: _resolve_entries in config/flags/_converter_dataset.py, 0.13.0; of genai-perf, which
// knows no duration, 100 whatever is asked for (config/input/config_input.py, 0.0.16).
func (c *call) aiperfPool() {
	if c.has("input-file", "public-dataset", "num-dataset-entries", "num-prompts") {
		return
	}
	pool := 100
	for _, name := range []string{"request-count", "num-requests", "conversation-num", "num-conversations", "num-sessions"} {
		if n, err := strconv.Atoi(c.given[name]); err == nil && c.tool != "genai-perf profile" {
			pool = n
		}
	}
	if n, err := strconv.Atoi(c.arg("requests")); err != nil || n > pool {
		c.note("there are %d made prompts there, which come again (--num-dataset-entries), so that a cache has them; here each is another one", pool)
	}
}

// aiperfUnsaid names flags that only a workload file has, where there is no file to write
// them beside, or its times are not those that are played.
func (c *call) aiperfUnsaid(timed bool) {
	file := c.arg("workload") != ""
	var unsaid []string
	if !file || !timed {
		unsaid = append(unsaid, "fixed-schedule-start-offset", "fixed-schedule-end-offset")
	}
	if !file {
		unsaid = append(unsaid, "isl-block-size", "prompt-input-tokens-block-size", "synthetic-input-tokens-block-size")
	}
	if order := c.or("sequential", "dataset-sampling-strategy"); order != "sequential" && (!file || timed) {
		unsaid = append(unsaid, "dataset-sampling-strategy")
	}
	for _, name := range unsaid {
		if c.has(name) {
			c.note("--%s: no equal here", name)
		}
	}
}

// aiperfPart is what a workload file says of a part of a trace, and of its blocks.
func (c *call) aiperfPart() (out string) {
	if n := c.or("", "isl-block-size", "prompt-input-tokens-block-size", "synthetic-input-tokens-block-size"); n != "" {
		out = ", block: " + n
	}
	from, to := c.numbers("fixed-schedule-start-offset", "fixed-schedule-end-offset")
	c.used("fixed-schedule-start-offset", "fixed-schedule-end-offset")
	var window []string
	if from > 0 {
		window = append(window, fmt.Sprintf("from: %gs", from/1000))
	}
	if to > 0 {
		window = append(window, fmt.Sprintf("to: %gs", to/1000))
	}
	if len(window) > 0 {
		out += ", when: {trace: {" + strings.Join(window, ", ") + "}}"
	}
	return out
}

// aiperfSet is the kind of a file; empty where none is named.
func (c *call) aiperfSet() string {
	return strings.ReplaceAll(c.or("", "custom-dataset-type"), "-", "_")
}

// aiperfTimed reports whether the times of a file are played: where that is asked for, and
// unasked of a trace with a timestamp in its first record. Both refuse a rate and users,
// so that these can only be meant for a file without times.
// Source: _maybe_auto_promote_trace in config/flags/_converter_profiling.py.
func (c *call) aiperfTimed() bool {
	if !c.has("input-file") {
		return c.has("fixed-schedule")
	}
	timed := c.has("fixed-schedule")
	switch c.aiperfSet() {
	case "mooncake_trace", "bailian_trace", "baseten_trace":
		timed = timed || !c.has("no-fixed-schedule", "scenario")
	}
	if timed && c.has("request-rate", "user-centric-rate") {
		c.note("--fixed-schedule, and the times of a file with a rate or users beside them, are refused there; here these set the times aside: leave them out to have the times played")
		return false
	}
	return timed
}

// aiperfLengths are a mean and a deviation a side, a range about the mean, or shares of pairs.
func (c *call) aiperfLengths() {
	if c.ranks() {
		c.aiperfRanked()
		return
	}
	input := "550"
	if !c.has("input-file", "seq-dist", "sequence-distribution") {
		input = c.or(input, "isl", "synthetic-input-tokens-mean", "prompt-input-tokens-mean")
	}
	output := ""
	if !c.has("seq-dist", "sequence-distribution") {
		output = c.or("", "osl", "output-tokens-mean", "prompt-output-tokens-mean")
	}
	c.sweeps = c.sweeps || strings.Contains(output, ",") || !c.has("input-file") && strings.Contains(input, ",")
	if output == "" && !c.has("input-file", "seq-dist", "sequence-distribution") && c.arg("api") != "transcription" {
		c.answers()
	}
	if pairs := c.or("", "seq-dist", "sequence-distribution"); pairs != "" {
		c.shares(pairs)
		return
	}
	if ratio := c.or("", "random-range-ratio"); ratio != "" {
		if c.or("vllm", "random-corpus-style") == "sglang" {
			lengths(c, "input-tokens", upTo(input, ratioOf(ratio, "")), "")
			lengths(c, "output-tokens", upTo(output, ratioOf(ratio, "")), "")
		} else {
			lengths(c, "input-tokens", around(input, ratioOf(ratio, "input")), "")
			lengths(c, "output-tokens", around(output, ratioOf(ratio, "output")), "")
		}
		return
	}
	if !c.has("input-file") {
		lengths(c, "input-tokens", input, c.or("", "isl-stddev", "synthetic-input-tokens-stddev", "prompt-input-tokens-stddev"))
	}
	if output != "" {
		lengths(c, "output-tokens", output, c.or("", "osl-stddev", "output-tokens-stddev", "prompt-output-tokens-stddev"))
	}
}

// shares reads ISL,OSL:PERCENT;…
func (c *call) shares(pairs string) {
	var ours []string
	for pair := range strings.SplitSeq(pairs, ";") {
		var in, out, percent float64
		if n, _ := fmt.Sscanf(pair, "%g,%g:%g", &in, &out, &percent); n < 3 || percent != math.Trunc(percent) {
			c.note("--seq-dist %s: write it as --input-tokens 40%%:512/128,60%%:4096/512, without deviations", pairs)
			return
		}
		ours = append(ours, fmt.Sprintf("%g%%:%g/%g", percent, in, out))
	}
	c.set("input-tokens", strings.Join(ours, ","))
}
