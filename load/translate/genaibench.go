package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// genAIBench is genai-bench.
// Source: its help, cli/validation.py, scenarios/, sampling/text.py and user/openai_user.py, 0.0.5.
var genAIBench = &tool{
	names: []string{"genai-bench benchmark"},
	table: `api-backend api-base task api-model-name=model additional-request-params model-tokenizer=tokenizer model~ iteration-type num-concurrency batch-size
		traffic-scenario dataset-path max-time-per-run max-requests-per-run=requests experiment-base-dir=out experiment-folder-name~ log-dir~ server-engine~ server-version~
		server-gpu-type~ server-gpu-count=gpus metrics-time-unit~ num-workers~ master-port~ spawn-rate- metrics-refresh-interval~ !upload-results~
		auth- aws-access-key-id- aws-profile- aws-region- aws-secret-access-key- aws-session-token- azure-ad-token- azure-api-version- azure-deployment- azure-endpoint-
		cooldown-ratio- dataset-config- dataset-image-column- dataset-prompt-column- gcp-credentials-path- gcp-location- gcp-project-id- model-auth-type- profile-
		region- security-token- warmup-ratio- github-owner~ github-repo~ github-token~ namespace~ storage-auth-type~ storage-aws-access-key-id~ storage-aws-profile~
		storage-aws-region~ storage-aws-secret-access-key~ storage-aws-session-token~ storage-azure-account-key~ storage-azure-account-name~
		storage-azure-connection-string~ storage-azure-sas-token~ storage-bucket~ storage-gcp-credentials-path~ storage-gcp-project-id~ storage-prefix~
		storage-provider~`,
	flags: map[string]func(*call, string){
		"api-base": address, "api-key": key, "model-api-key": key, "additional-request-params": genAIBody,
		"max-time-per-run": func(c *call, v string) { c.set("duration", v+"m") },
		"num-concurrency":  genAIList("streams"),
		"batch-size":       genAIList("texts"),
		"traffic-scenario": genAIList("scenarios"),
		"config-file":      says("--config-file: the file is not read here; what it says besides these flags is missing"),
		"prefix-len":       prefix("prefix-len"), "prefix-ratio": prefix("prefix-ratio"),
	},
	end: func(c *call) {
		task := c.or("text-to-text", "task")
		product := task[strings.LastIndex(task, "-")+1:]
		batched := product == "embeddings" || product == "rerank"
		c.genAITask(task, product)
		c.genAIScenarios(task, product)
		c.genAILoads(batched)
		c.note("requests are counted once a second there, so that a run of fast answers has more than --max-requests-per-run")
		c.set("warmup", "0")
	},
}

// genAIList gathers what a flag that may stand several times was given.
func genAIList(name string) func(*call, string) {
	return func(c *call, v string) { c.given[name] = strings.TrimSpace(c.given[name] + " " + v) }
}

// genAIBody is an object, of which the sampler replaces ignore_eos with what it does itself.
func genAIBody(c *call, v string) {
	for _, m := range members(strings.ReplaceAll(v, "'", `"`)) {
		switch m.name {
		case "ignore_eos":
			c.note("ignore_eos in the body of each request: what it says changes nothing there, as of made prompts it is always sent to vllm and sglang, and to no other")
		case "system_message":
			c.note("system_message in the body of each request: no equal here; a workload file has `prefix`, texts that requests share (docs/workloads.md)")
		default:
			c.fields(m.text)
		}
	}
}

// genAITask is the API, and what is sent with each request.
func (c *call) genAITask(task, product string) {
	backend := c.or("", "api-backend")
	switch task {
	case "text-to-text", "image-text-to-text":
		c.api("api-backend", backend, "openai=openai-chat vllm=openai-chat sglang=openai-chat together=openai-chat azure-openai=openai-chat cohere=cohere aws-bedrock=bedrock")
		c.usually(`"temperature": 0`)
		if task == "text-to-text" && (backend == "vllm" || backend == "sglang") && !c.genAIFile() {
			c.on("ignore-eos")
		}
	case "text-to-embeddings", "text-to-rerank", "text-to-image", "text-to-speech":
		c.api("api-backend", backend, fmt.Sprintf("openai=%[1]s vllm=%[1]s sglang=%[1]s together=%[1]s azure-openai=%[1]s", strings.Replace(product, "image", "images", 1)))
		if product == "embeddings" {
			c.usually(`"encoding_format": "float"`)
		}
	default:
		c.note("--task %s: no equal here; --api, --images and --audio name what there is", task)
	}
}

// genAIFile reports whether texts are a file's as they are: so they are unless a scenario
// cuts them to lengths.
func (c *call) genAIFile() bool {
	scenarios := c.given["scenarios"]
	return scenarios == "dataset" || scenarios == "" && c.has("dataset-path", "dataset-config")
}

// genAIDefaults are the scenarios of a task that is given none, each of them a run.
var genAIDefaults = map[string]string{
	"text-to-text":       "N(480,240)/(300,150) D(100,100) D(100,1000) D(2000,200) D(7800,200)",
	"text-to-embeddings": "E(64) E(128) E(256) E(512) E(1024)",
	"text-to-rerank":     "R(64,100) R(128,100) R(256,100) R(512,100) R(1024,100) R(2096,100) R(4096,100)",
	"text-to-image":      "I(512,512) I(1024,1024) I(1024,1792)",
	"text-to-speech":     "A(100) A(500) A(1000) A(2000) A(4000)",
	"image-text-to-text": "I(512,512) I(1024,512) I(2048,2048)",
}

// genAIScenarios are what is asked for. Several make a list where one length is all that
// differs; of others the first is taken.
func (c *call) genAIScenarios(task, product string) {
	if c.genAIFile() {
		file := c.or("", "dataset-path")
		if dot := strings.LastIndex(file, "."); dot < 0 || strings.Contains(file[dot:], "/") {
			c.note("--dataset-path %s: name a file with --workload; nothing is fetched", file)
		} else {
			c.set("workload", file)
			c.note("texts are drawn at random there, again and again, and go in the file's order here")
		}
		return
	}
	if c.has("dataset-path") {
		c.note("--dataset-path: at most the words come from it there; prompts are made of their length, and ours are of words of their own")
	}
	all := strings.Fields(cmp.Or(c.given["scenarios"], genAIDefaults[task]))
	var lengths, left []string
	for i, scenario := range all {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(scenario, ")"), "(")
		length, query, _ := strings.Cut(rest, ",")
		switch {
		case kind == "E" && product == "embeddings":
			lengths = append(lengths, length)
		case kind == "R" && product == "rerank":
			lengths = append(lengths, length)
			c.note("a query of %s tokens goes before the documents there: a workload file has `query: %s`; of flags it has 16 tokens here", query, query)
		case i > 0:
			left = append(left, scenario)
		case !c.genAIScenario(kind, rest, product):
			c.note("--traffic-scenario %s: no equal here", scenario)
		}
	}
	if len(lengths) > 0 {
		c.set("input-tokens", strings.Join(lengths, ","))
		c.sweeps = c.sweeps || len(lengths) > 1
	}
	if len(left) > 0 {
		c.note("--traffic-scenario %s: one is taken here, and each is a run there; run the command once for each", strings.Join(left, ", "))
	}
}

// genAIScenario reads D(in,out), N(mean,sd)/(mean,sd) and U(least,most)/(least,most) of
// texts, I(width,height,number) of pictures and A(letters) of speech.
func (c *call) genAIScenario(kind, rest, product string) bool {
	in, out, two := strings.Cut(rest, ")/(")
	if !two {
		in, out, two = strings.Cut(rest, ",")
	}
	switch {
	case product == "text" && two && (kind == "N" || kind == "U" || kind == "D"):
		switch kind {
		case "D":
			c.set("input-tokens", in)
			c.set("output-tokens", out)
		case "N": // scenarios/text.py: at least one token in, two out
			mean, deviation, _ := strings.Cut(in, ",")
			clipped(c, "input-tokens", mean, deviation, "", "")
			mean, deviation, _ = strings.Cut(out, ",")
			clipped(c, "output-tokens", mean, deviation, "2", "")
		case "U":
			if !strings.Contains(rest, ")/(") {
				in, out = "1,"+in, "1,"+out
			}
			c.set("input-tokens", "uniform:"+leastOne(in)) // a least of 0 is none there
			c.set("output-tokens", "uniform:"+leastOne(out))
		}
	case kind == "I" && two:
		height, number, _ := strings.Cut(out, ",")
		number = cmp.Or(number, "1")
		if product == "image" {
			c.fields(fmt.Sprintf(`"size": "%sx%s", "n": %s`, in, height, number))
			c.note("what is asked for is a line of a list there, and --input-tokens of made words here")
			return true
		}
		c.set("images", number+"x"+in+"x"+height)
		c.note("pictures and words are those of its set there, and made ones here")
		c.answers()
	case kind == "A" && !two && product == "speech":
		c.note("a text of %s letters there: --input-tokens, of about four letters each, says how long it is here", in)
	default:
		return false
	}
	return true
}

// leastOne are bounds of lengths from one token on, where they begin with none.
func leastOne(bounds string) string {
	if most, ok := strings.CutPrefix(bounds, "0,"); ok {
		return "1," + most
	}
	return bounds
}

// genAILoads are the loads that are run in turn: one stream at each number of texts where
// requests have several, whatever streams were asked for, and else numbers of streams.
// Source: validate_iteration_params in cli/validation.py.
func (c *call) genAILoads(batched bool) {
	streams, texts := c.given["streams"], c.given["texts"]
	unused, list := "--batch-size "+texts, strings.Fields(cmp.Or(streams, "1 2 4 8 16 32 64 128 256"))
	if batched {
		unused, list = "--num-concurrency "+streams, strings.Fields(cmp.Or(texts, "1 2 4 8 24 48 96"))
	}
	if !strings.HasSuffix(unused, " ") {
		c.note("%s: without effect on %s there", unused, c.or("text-to-text", "task"))
	}
	if kind := c.or("", "iteration-type"); kind == "batch_size" && !batched || kind == "num_concurrency" && batched {
		c.note("--iteration-type %s: without effect there, as its task has the other", kind)
	}
	switch list = slices.Compact(list); {
	case !batched:
		c.set("concurrency", strings.Join(list, ","))
		c.sweeps = c.sweeps || len(list) > 1
	case len(list) == 1:
		c.set("concurrency", "1")
		c.set("batch", list[0])
	default:
		c.set("concurrency", "1")
		c.set("vary", "batch="+strings.Join(list, ","))
		c.sweeps = true
	}
}
