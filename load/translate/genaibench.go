package translate

import (
	"strings"
)

// genAIBench is genai-bench.
// Source: its help, scenarios/text.py and user/openai_user.py, 0.0.5.
var genAIBench = &tool{
	names: []string{"genai-bench benchmark"},
	table: `api-backend api-base task api-model-name=model additional-request-params model-tokenizer=tokenizer model~ iteration-type num-concurrency batch-size
		traffic-scenario max-time-per-run max-requests-per-run=requests experiment-base-dir=out experiment-folder-name~ log-dir~ server-engine~ server-version~
		server-gpu-type~ server-gpu-count=gpus metrics-time-unit~ num-workers~ master-port~ spawn-rate- metrics-refresh-interval~ !upload-results~
		auth- aws-access-key-id- aws-profile- aws-region- aws-secret-access-key- aws-session-token- azure-ad-token- azure-api-version- azure-deployment- azure-endpoint-
		cooldown-ratio- dataset-config- dataset-image-column- dataset-prompt-column- gcp-credentials-path- gcp-location- gcp-project-id- model-auth-type- profile-
		region- security-token- warmup-ratio- github-owner~ github-repo~ github-token~ namespace~ storage-auth-type~ storage-aws-access-key-id~ storage-aws-profile~
		storage-aws-region~ storage-aws-secret-access-key~ storage-aws-session-token~ storage-azure-account-key~ storage-azure-account-name~
		storage-azure-connection-string~ storage-azure-sas-token~ storage-bucket~ storage-gcp-credentials-path~ storage-gcp-project-id~ storage-prefix~
		storage-provider~`,
	flags: map[string]func(*call, string){
		"api-base": address, "api-key": key, "model-api-key": key, "additional-request-params": func(c *call, v string) { c.fields(strings.ReplaceAll(v, "'", `"`)) },
		"max-time-per-run": func(c *call, v string) { c.set("duration", v+"m") },
		"num-concurrency":  func(c *call, v string) { c.more("num-concurrency", v) },
		"batch-size":       func(c *call, v string) { c.more("batch-size", v) },
		"traffic-scenario": trafficScenario,
		"iteration-type": func(c *call, v string) {
			if v == "batch_size" && !strings.HasSuffix(c.given["task"], "embeddings") && !strings.HasSuffix(c.given["task"], "rerank") {
				c.note("--iteration-type batch_size: is of embeddings and rankings alone there")
			}
		},
		"config-file":  says("--config-file: the file is not read here; what it says besides these flags is missing"),
		"dataset-path": says("--dataset-path: name a file with --workload; nothing is fetched"),
		"prefix-len":   prefix("prefix-len"), "prefix-ratio": prefix("prefix-ratio"),
	},
	end: func(c *call) {
		backend := c.or("", "api-backend")
		switch c.or("text-to-text", "task") {
		case "text-to-embeddings":
			c.set("api", "embeddings")
			c.batches("64,128,256,512,1024")
		case "text-to-rerank":
			c.set("api", "rerank")
			c.batches("")
		case "text-to-text":
			c.api("api-backend", backend, "openai=openai-chat vllm=openai-chat sglang=openai-chat together=openai-chat azure-openai=openai-chat cohere=cohere aws-bedrock=bedrock")
			c.usually(`"temperature": 0`)
		default:
			c.note("--task %s: no equal here; --api, --images and --audio name what there is", c.or("", "task"))
		}
		if c.arg("batch") == "" {
			c.set("concurrency", c.or("1,2,4,8,16,32,64,128,256", "genai's num-concurrency"))
			c.sweeps = strings.Contains(c.arg("concurrency"), ",")
			if n := c.or("", "genai's batch-size"); n != "" {
				c.note("--batch-size %s: changes nothing there but of embeddings and rankings", n)
			}
		}
		if backend == "vllm" || backend == "sglang" {
			c.on("ignore-eos")
		}
		if c.arg("input-tokens") == "" && c.arg("api") == "rerank" {
			c.note("without --traffic-scenario seven are run in turn: R(64,100) to R(4096,100)")
		} else if c.arg("input-tokens") == "" && c.arg("batch") == "" {
			c.note("without --traffic-scenario five are run in turn: N(480,240)/(300,150), D(100,100), D(100,1000), D(2000,200), D(7800,200)")
		}
		c.set("warmup", "0")
	},
}

// more keeps a value of a flag that may stand several times, with commas.
func (c *call) more(flag, v string) {
	kept := "genai's " + flag
	if before := c.given[kept]; before != "" {
		v = before + "," + v
	}
	c.given[kept] = v
}

// batches are what one stream is run with in turn, where vectors or scores are asked for;
// lengths are those that are run unasked.
// Source: validate_iteration_params and DEFAULT_… in cli/validation.py, 0.0.5.
func (c *call) batches(lengths string) {
	c.set("concurrency", "1")
	if n := c.or("", "genai's num-concurrency"); n != "" {
		c.note("--num-concurrency %s: of embeddings and rankings one stream is run, whatever is given", n)
	}
	first, rest, several := strings.Cut(c.or("1,2,4,8,24,48,96", "genai's batch-size"), ",")
	c.set("batch", first)
	if several {
		c.note("--batch-size: a run for each there; here run the command with --batch %s too", strings.ReplaceAll(rest, ",", ", "))
	}
	if c.arg("input-tokens") == "" && lengths != "" {
		c.set("input-tokens", lengths)
	}
	c.sweeps = strings.Contains(c.arg("input-tokens"), ",")
}

// trafficScenario reads D(in,out), N(mean,sd)/(mean,sd) and U(least,most)/(least,most); of
// texts to embed E(in), and of rankings R(in,query).
func trafficScenario(c *call, v string) {
	if tokens, ok := strings.CutPrefix(strings.TrimSuffix(v, ")"), "E("); ok { // of each text, in turn
		if before := c.arg("input-tokens"); before != "" {
			tokens = before + "," + tokens
		}
		c.set("input-tokens", tokens)
		return
	}
	if c.arg("input-tokens") != "" {
		c.note("--traffic-scenario %s: one is taken here; run the command once for each", v)
		return
	}
	kind, rest, _ := strings.Cut(strings.TrimSuffix(v, ")"), "(")
	in, out, two := strings.Cut(rest, ")/(")
	if !two {
		in, out, two = strings.Cut(rest, ",")
		if kind == "U" {
			in, out = "1,"+in, "1,"+out
		}
	}
	if kind == "R" && two {
		c.set("input-tokens", in[strings.Index(in, ",")+1:])
		c.note("--traffic-scenario %s: a workload file has `query: %s`; of flags it has 16 tokens here", v, out[strings.Index(out, ",")+1:])
		return
	}
	form := map[string]string{"D": "", "N": "normal:", "U": "uniform:"}
	of, known := form[kind]
	if !known || !two {
		c.note("--traffic-scenario %s: no equal here", v)
		return
	}
	c.set("input-tokens", of+in)
	c.set("output-tokens", of+out)
}
