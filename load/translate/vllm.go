package translate

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
)

// vllm is `vllm bench serve`.
// Source: vllm/benchmarks/serve.py and datasets (arg_utils.py, random.py), 2026-08.
var vllm = &tool{
	names:    []string{"vllm bench serve"},
	shortens: true,
	table: servingTable + `endpoint-type input-len output-len +metadata=tag !no-stream !no-oversample- !skip-chat-template !enable-multimodal-chat-
		!disable-shuffle custom-output-len num-warmups=warmup !append-result~ label=name request-id-prefix~ ready-check-timeout-sec=wait-ready:s !skip-tokenizer-init~
		!plot-timeline- timeline-itl-thresholds~ !plot-dataset-stats- timed-trace-chunk-hash-size timed-trace-sec-multiplier !self-timed !no-self-timed
		prefix-repetition-prefix-len prefix-repetition-suffix-len prefix-repetition-num-prefixes prefix-repetition-output-len
		ramp-up-strategy ramp-up-start-rps ramp-up-end-rps random-batch-size=batch !insecure=insecure
		asr-max-audio-len-sec- asr-min-audio-len-sec- bfcl-categories- blazedit-max-distance- blazedit-min-distance- chat-template-kwargs-
		!custom-ensure-client-side-data- hf-name- hf-output-len hf-split- hf-subset- logprobs- lora-assignment- !no-reranker- probe-request-rate-
		random-mm-base-items-per-request random-mm-bucket-config random-mm-limit-mm-per-prompt random-mm-num-mm-items-range-ratio spec-bench-category-
		spec-bench-output-len speed-bench-category- speed-bench-dataset-subset- speed-bench-output-len timed-trace-label-hash-ids-
		timed-trace-label-input-length- timed-trace-label-output-length- timed-trace-label-timestamp-`,
	flags: servingFlags,
	end:   vllmEnd,
}

// benchmarkServing is what it came from, benchmark_serving.py, and TensorRT-LLM's copy.
// Source: vllm/benchmarks/benchmark_serving.py, 0.8; tensorrt_llm/serve/scripts/benchmark_serving.py, 1.2.
var benchmarkServing = &tool{
	names:    []string{"benchmark_serving.py", "tensorrt_llm.serve.scripts.benchmark_serving"},
	shortens: true,
	table: servingTable + `endpoint-type num-warmups +metadata=tag !non-streaming=no-stream !random-ids- !tokenize-on-client- !no-test-input download-path- download-timeout~
		custom-tokenizer-`,
	flags: servingFlags,
	end: func(c *call) {
		set := c.serving("sharegpt")
		if ratio := c.given["random-range-ratio"]; set == "random" && ratio != "" {
			if ratioOf(ratio, "input") >= 1 { // which only the older rule takes: fixed lengths
				c.set("input-tokens", c.or("1024", "random-input-len"))
				c.set("output-tokens", c.or("128", "random-output-len"))
			} else {
				c.note("--random-range-ratio %s: lengths about the given one, as in vLLM since 0.8.5; before that, and in InferenceX's script, they lie between %s of it and all of it", ratio, ratio)
			}
		}
		c.usually(`"temperature": 0`)
		if c.has("no-test-input") {
			c.set("warmup", "0")
		} else {
			c.set("warmup", c.or("1", "num-warmups")) // a request that tries the server out
		}
	},
}

// servingTable is what they share, and have had from the first.
const servingTable = `backend base-url host port endpoint dataset-name dataset-path=workload max-concurrency=concurrency model=model served-model-name
	tokenizer=tokenizer !use-beam-search- num-prompts=requests request-rate burstiness seed=seed !trust-remote-code~ !disable-tqdm=quiet
	!profile=server-profile !save-result~ !save-detailed~ +header +goodput +lora-modules- result-dir=out result-filename !ignore-eos=ignore-eos
	percentile-metrics~ metric-percentiles~ tokenizer-mode~ random-input-len random-output-len random-range-ratio sharegpt-output-len
	sonnet-input-len sonnet-output-len sonnet-prefix-len `

var servingFlags = map[string]func(*call, string){
	"base-url": address, "endpoint": endpoint, "header": vllmHeader, "extra-body": body,
	"goodput":     limits(map[string]string{"ttft": "ttft", "tpot": "tpot", "e2el": "e2e"}),
	"temperature": number("temperature"), "top-p": number("top_p"), "top-k": number("top_k"), "min-p": number("min_p"),
	"frequency-penalty": number("frequency_penalty"), "presence-penalty": number("presence_penalty"), "repetition-penalty": number("repetition_penalty"),
	"result-filename":   says("--result-filename: a run is a folder; export --as vllm writes such a file"),
	"random-prefix-len": prefix("random-prefix-len"),
}

const servingAPIs = "openai-chat=openai-chat vllm=openai-completions openai=openai-completions vllm-rs=openai-completions lmdeploy=openai-completions " +
	"scalellm=openai-completions sglang=openai-completions tgi=tgi openai-embeddings=embeddings vllm-rerank=rerank openai-audio=transcription"

func vllmEnd(c *call) {
	switch c.serving("random") {
	case "random", "random-mm":
		c.on("ignore-eos") // of an API of OpenAI's form, as all but tgi are
	}
	if c.arg("api") == "openai-completions" { // so that the model's own has no say
		c.usually(`"repetition_penalty": 1.0`)
	}
	c.byDefault("warmup", "0", "num-warmups")
	c.note("TTFT counts from when a request was due and ends with the first token, not with a role chunk: report --lens vllm,vllm-rust shows the others")
}

// serving is what these tools do without being told; dataset is the one they take unasked.
// The one that it takes is returned.
func (c *call) serving(dataset string) string {
	c.hostAndPort("8000")
	c.api("backend", c.or("openai", "endpoint-type", "backend"), servingAPIs)
	if c.arg("api") == "tgi" { // which is always sent these, as it takes no temperature of 0
		for _, field := range []string{`"do_sample": true`, `"temperature": 0.01`, `"top_p": 0.99`} {
			c.usually(field)
		}
	}
	c.served()
	dataset = c.or(dataset, "dataset-name")
	c.batched(dataset)
	c.load()
	switch dataset {
	case "random", "random-mm", "random-rerank":
		c.made()
		ratio := c.or("0", "random-range-ratio")
		input := c.or("1024", "input-len", "random-input-len")
		if n, err := strconv.Atoi(input); err == nil && dataset == "random-rerank" {
			query := n/2 - 1
			input = strconv.Itoa(n - query - 1)
			c.note("a query of %d tokens goes before each document's %s there: a workload file has `query: %d`; of flags it has 16 tokens here", query, input, query)
		}
		c.set("input-tokens", around(input, ratioOf(ratio, "input")))
		if dataset != "random-rerank" {
			c.set("output-tokens", around(c.or("128", "output-len", "random-output-len"), ratioOf(ratio, "output")))
		}
		if dataset == "random-mm" {
			c.randomPictures()
		}
	case "custom":
		if c.arg("api") == "openai-completions" && !c.has("skip-chat-template") {
			c.note("--dataset-name custom: each text is put into the model's chat template there before it goes to /v1/completions; with --api openai-chat the server does so, and here it goes as it stands")
		}
		if n := c.or("256", "output-len", "custom-output-len"); n != "-1" {
			c.set("output-tokens", n)
		}
		c.dataset(dataset)
	case "sonnet":
		c.made()
		c.set("input-tokens", c.or("550", "input-len", "sonnet-input-len"))
		c.set("output-tokens", c.or("150", "output-len", "sonnet-output-len"))
		prefix("sonnet-prefix-len")(c, c.or("200", "sonnet-prefix-len"))
	case "prefix_repetition":
		c.made()
		c.prefixed(c.or("256", "prefix-repetition-suffix-len"), c.or("128", "output-len", "prefix-repetition-output-len"),
			c.or("256", "prefix-repetition-prefix-len"), c.or("10", "prefix-repetition-num-prefixes"))
	case "timed_trace":
		c.on("ignore-eos")
		if c.selfTimed() {
			c.slowed("timed-trace-sec-multiplier")
		}
		c.traceFile("s", c.or("16", "timed-trace-chunk-hash-size"))
	case "custom_image", "custom_audio", "spec_bench", "speed_bench", "hf":
		if n := c.fixedAnswers(dataset); n != "" && n != "-1" {
			c.set("output-tokens", n)
		}
		c.dataset(dataset)
	default:
		if dataset == "sharegpt" {
			if n := c.or("", "output-len", "sharegpt-output-len"); n != "" {
				c.set("output-tokens", n)
			}
			c.note("conversations whose first turn has less than 4 tokens or more than 1,024, or more than 2,048 with its answer, are left out there, and sent here")
		}
		c.dataset(dataset)
	}
	return dataset
}

// fixedAnswers is the length of all answers of a set.
// Source: get_samples and add_dataset_parser in vllm/benchmarks/datasets/datasets.py, 0.33.0.
func (c *call) fixedAnswers(dataset string) string {
	switch dataset {
	case "spec_bench":
		return c.or("256", "output-len", "spec-bench-output-len")
	case "speed_bench":
		return c.or("4096", "speed-bench-output-len")
	case "hf":
		return c.or("", "output-len", "hf-output-len")
	}
	return c.or("256", "output-len", "custom-output-len")
}

// batched: the number of prompts is that of texts, several of which make a request.
// Source: RandomDataset.sample in vllm/benchmarks/datasets/datasets.py, 0.33.0.
func (c *call) batched(dataset string) {
	n, errN := strconv.Atoi(c.or("1000", "num-prompts"))
	batch, errBatch := strconv.Atoi(c.arg("batch"))
	if errN == nil && errBatch == nil && batch > 1 && n > 0 && (dataset == "random" || dataset == "random-rerank") {
		c.given["num-prompts"] = strconv.Itoa((n + batch - 1) / batch)
		c.set("requests", c.given["num-prompts"])
	}
}

// randomPictures are those of random-mm: of one size by a flag here, of several in a file.
// Source: RandomMultiModalDataset in vllm/benchmarks/datasets/datasets.py, 0.33.0.
func (c *call) randomPictures() {
	items := c.or("1", "random-mm-base-items-per-request")
	if items == "0" {
		return
	}
	var sizes, videos []string
	for key := range strings.SplitSeq(c.or("{(256, 256, 1): 0.5, (720, 1280, 1): 0.5}", "random-mm-bucket-config"), "(") {
		var height, width, frames int
		var share float64
		if n, _ := fmt.Sscanf(strings.ReplaceAll(key, " ", ""), "%d,%d,%d):%g", &height, &width, &frames, &share); n < 4 || share == 0 {
			continue
		}
		if size := fmt.Sprintf("%dx%d", width, height); frames > 1 {
			videos = append(videos, size)
		} else {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 1 && len(videos) == 0 {
		c.set("images", items+"x"+sizes[0])
	} else {
		c.note("--random-mm-bucket-config: %s pictures with each prompt there, none here; a workload file has `images`, and sizes beside each other as a mix: %s",
			items, strings.Join(append(sizes, videos...), ", "))
	}
	for _, name := range []string{"random-mm-num-mm-items-range-ratio", "random-mm-limit-mm-per-prompt"} {
		if v := c.or("0", name); plain(v) != "0" {
			c.note("--%s %s: no equal here", name, v)
		}
	}
}

// served is the name of the model that requests carry. The other one is then the tokenizer's.
func (c *call) served() {
	if name := c.or("", "served-model-name"); name != "" {
		c.set("model", name)
		c.byDefault("tokenizer", c.or(name, "model"), "tokenizer")
	}
}

func (c *call) hostAndPort(port string) {
	if c.url == "" && c.has("host", "port") {
		address(c, net.JoinHostPort(c.or("localhost", "host"), c.or(port, "port")))
	}
}

func vllmHeader(c *call, v string) {
	name, value, _ := strings.Cut(v, "=")
	c.set("header", name+": "+value)
}

// prefix is a beginning that prompts share.
func prefix(flag string) func(*call, string) {
	return func(c *call, v string) {
		if v != "0" {
			c.note("--%s %s: no equal here; a workload file has `prefix`, texts that requests share (docs/workloads.md)", flag, v)
		}
	}
}

// load is how many requests are sent, and when.
func (c *call) load() {
	c.byDefault("requests", "1000", "num-prompts")
	if strings.HasPrefix(c.arg("requests"), "-") {
		c.unset("requests")
		c.given["num-prompts"] = ""
		c.note("--num-prompts -1: each of the file's is sent once there; --requests says how many here")
	}
	if c.selfTimed() {
		c.atItsTimes()
		if c.has("ramp-up-strategy") || c.or("inf", "request-rate") != "inf" {
			c.note("a rate beside the times of a file is ignored there, and left out here")
		}
		return
	}
	if c.has("ramp-up-strategy") {
		c.rampUp()
		return
	}
	switch rate := c.or("inf", "request-rate"); {
	case rate != "inf":
		c.set("rate", rate)
		c.bursts()
	case !c.has("max-concurrency"):
		c.set("concurrency", c.or("1000", "num-prompts"))
		c.note("without a rate and a cap every request is sent at once: a closed loop of as many streams")
	}
}

// selfTimed reports whether a set's own times are played: vLLM's timed_trace unless told
// otherwise, and SGLang's mooncake.
// Source: main_async in vllm/benchmarks/serve.py 0.33; benchmark in sglang/benchmark/serving.py 0.5.23.
func (c *call) selfTimed() bool {
	switch c.or("", "dataset-name") {
	case "timed_trace":
		return !c.has("no-self-timed")
	case "mooncake":
		return c.or("sglang", "backend") == "sglang" || c.has("use-trace-timestamps")
	}
	return false
}

// slowed plays a trace so many times as slowly as a flag of the tool says.
func (c *call) slowed(flag string) {
	if x, err := strconv.ParseFloat(c.or("1", flag), 64); err == nil && x > 0 && x != 1 {
		c.set("speedup", fmt.Sprintf("%g", 1/x))
	}
}

// bursts is how gaps are drawn: by a gamma distribution, whose shape of 1 is Poisson's.
func (c *call) bursts() {
	switch b := plain(c.or("1", "burstiness")); b {
	case "1":
		c.set("arrival", "poisson")
	case "+Inf":
	default:
		c.set("arrival", "gamma")
		c.set("burstiness", b)
	}
}

// rampPieces are into how many stages a ramp is cut.
const rampPieces = 8

// rampUp is a rate that grows from request to request; here it grows with time, in pieces of
// as many requests each, for as long as these need.
// Source: _get_current_request_rate and get_request in vllm/benchmarks/serve.py, 0.33.0.
func (c *call) rampUp() {
	from, _ := strconv.ParseFloat(c.or("0", "ramp-up-start-rps"), 64)
	to, _ := strconv.ParseFloat(c.or("0", "ramp-up-end-rps"), 64)
	n, _ := strconv.ParseFloat(c.or("1000", "num-prompts"), 64)
	strategy := c.or("", "ramp-up-strategy")
	if from <= 0 || to <= 0 || n <= 0 {
		c.note("--ramp-up-strategy %s: it needs rates above 0, --ramp-up-start-rps is %g and --ramp-up-end-rps %g", strategy, from, to)
		return
	}
	at := func(share float64) float64 {
		if strategy == "exponential" {
			return from * math.Pow(to/from, share)
		}
		return from + (to-from)*share
	}
	var stages []string
	short := func(x float64) string { return plain(fmt.Sprintf("%.4g", x)) }
	for i := range rampPieces {
		begins, ends := at(float64(i)/rampPieces), at(float64(i+1)/rampPieces)
		stages = append(stages, short(n/rampPieces*2/(begins+ends))+"s@"+short(begins)+".."+short(ends))
	}
	// Of random arrivals fewer may have come by then: the last rate goes on until all were sent.
	stages = append(stages, short(4*math.Sqrt(n)/to)+"s@"+short(to))
	c.set("stages", strings.Join(stages, ","))
	c.bursts()
	c.note("--ramp-up-strategy %s: the rate grows with each request there, with time here, in %d pieces of as many requests", strategy, rampPieces)
}

// prefixed is a workload file: flags have no prefix that requests share.
func (c *call) prefixed(input, output, prefix, count string) {
	c.set("workload", "shared-prefix.yaml")
	c.note("shared-prefix.yaml is yours to write: {input: %q, output: %q, prefix: {tokens: %q, count: %s}}", input, output, prefix, count)
}

// made leaves out the file of a set whose prompts are made of a length: it has the words
// that these are cut from, where it is read at all.
func (c *call) made() {
	if file := c.arg("workload"); file != "" {
		c.unset("workload")
		c.note("%s: at most the words come from it there; prompts are made of their length, and ours are of words of their own", file)
	}
}

// dataset says what becomes of a set of prompts that is not made.
func (c *call) dataset(name string) {
	switch name {
	case "sharegpt", "custom":
		if !c.has("dataset-path") {
			c.note("--dataset-name %s: name the file with --workload; nothing is fetched", name)
		}
		if !c.has("disable-shuffle") {
			c.note("the set's texts are in random order there, and here in the file's")
		}
	default:
		switch name {
		case "hf":
			c.unset("workload") // no file: the name of a set that the tool fetches
		}
		c.note("--dataset-name %s: no equal here; --workload takes files, traces and %s", name, "made texts")
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
	return fmt.Sprintf("uniform:%d,%d", max(int(math.Floor(n*(1-ratio))), 1), int(math.Ceil(n*(1+ratio))))
}
