package translate

import "strings"

// guideLLM is GuideLLM, with the flags of 0.3 and the kind=…,key=… values of 0.8.
// Source: guidellm's docs/getting-started/benchmark.md and its --help.
var guideLLM = &tool{
	names:    []string{"guidellm benchmark run", "guidellm benchmark"},
	switches: []string{"disable-progress", "disable-console", "disable-console-outputs", "display-scheduler-stats", "rampup"},
	flags: map[string]func(*call, string){
		"target": address, "model": to("model"), "processor": to("tokenizer"), "tokenizer": guideTokenizer, "backend": guideBackend, "backend-type": same,
		"request-type": guideRequest, "request-format": guideRequest, "profile": same, "rate-type": same, "rate": same, "data": guideData,
		"max-requests": to("requests"), "max-seconds": seconds("duration"), "constraint": guideConstraint,
		"warmup": same, "warmup-percent": same, "cooldown": same, "cooldown-percent": same,
		"random-seed": to("seed"), "output-path": to("out"), "output-dir": to("out"), "output": same, "outputs": same,
		"max-errors":        says("--max-errors: --max-failures P ends a run when a larger share fails"),
		"max-error-rate":    to("max-failures"),
		"disable-progress":  func(c *call, _ string) { c.on("quiet") },
		"backend-kwargs":    says("--backend-kwargs: --header, --parameters and --timeout have most of them"),
		"over-saturation":   says("--over-saturation: sweep --find ends where promises no longer hold"),
		"detect-saturation": says("--detect-saturation: sweep --find ends where promises no longer hold"),
	},
	end: guideEnd,
}

// pairs reads key=value,key=value.
func pairs(v string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(strings.Trim(v, "{} "), ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			name, value, _ = strings.Cut(part, ":")
		}
		out[strings.Trim(name, `" `)] = strings.Trim(value, `" `)
	}
	return out
}

func guideTokenizer(c *call, v string) {
	if p := pairs(v); p["model"] != "" {
		v = p["model"]
	}
	c.set("tokenizer", v)
}

func guideBackend(c *call, v string) {
	p := pairs(v)
	if p["target"] != "" {
		address(c, p["target"])
	}
	if p["model"] != "" {
		c.set("model", p["model"])
	}
	if p["request_format"] != "" {
		c.given["request-format"] = p["request_format"]
		guideRequest(c, p["request_format"])
	}
}

var guideAPI = apis("request format %s: choose an API with --api", map[string]string{
	"chat_completions": "openai-chat", "v1_chat_completions": "openai-chat", "text_completions": "openai-completions",
	"v1_completions": "openai-completions", "completions": "openai-completions", "responses": "openai-responses", "v1_responses": "openai-responses"})

func guideRequest(c *call, v string) {
	guideAPI(c, strings.Trim(strings.ReplaceAll(v, "/", "_"), "_"))
}

func guideData(c *call, v string) {
	p := pairs(v)
	if p["prompt_tokens"] == "" {
		if p["path"] != "" {
			v = p["path"]
		}
		c.set("workload", v)
		c.note("--data %s: a file is read; nothing is fetched", v)
		return
	}
	lengths(c, "input-tokens", p["prompt_tokens"], p["prompt_tokens_stdev"])
	lengths(c, "output-tokens", p["output_tokens"], p["output_tokens_stdev"])
}

func guideConstraint(c *call, v string) {
	switch p := pairs(v); p["kind"] {
	case "max_requests", "max_number":
		c.given["max-requests"] = p["count"]
		c.set("requests", p["count"])
	case "max_seconds", "max_duration":
		c.given["max-seconds"] = p["seconds"]
		c.set("duration", p["seconds"]+"s")
	default:
		c.note("--constraint %s: no equal here", v)
	}
}

func guideEnd(c *call) {
	profile, rate := c.or("sweep", "profile", "rate-type"), c.or("", "rate")
	if p := pairs(profile); p["kind"] != "" {
		profile = p["kind"]
		for _, name := range []string{"rate", "streams"} {
			if p[name] != "" {
				rate = p[name]
			}
		}
	}
	c.sweeps = strings.Contains(rate, ",") || profile == "sweep"
	switch profile {
	case "synchronous":
		c.set("concurrency", "1")
	case "concurrent":
		c.set("concurrency", rate)
	case "throughput":
		c.set("concurrency", "512")
		c.note("profile throughput: a closed loop of 512 streams, the tool's own cap")
	case "constant", "poisson", "async":
		c.set("rate", rate)
		if profile == "poisson" { // async is constant there
			c.set("arrival", profile)
		}
	case "sweep":
		c.set("concurrency", "1,2,4,8,16,32,64,128,256,512")
		c.note("profile sweep: the tool takes rates (ten, unless it is told how many) between one stream and the most the server gives; here streams are doubled. sweep --find with an --objective finds the limit")
	default:
		c.note("profile %s: no equal here", profile)
	}
	c.byDefault("api", "openai-chat", "request-type", "request-format")
	if c.has("warmup", "warmup-percent", "cooldown", "cooldown-percent") {
		c.note("warm-up and cool-down are shares of the run there; --warmup and --cooldown take a number or a time, and --warmup 0 is without")
	} else if !c.sweeps {
		c.set("warmup", "0")
	}
	c.note("what is called time_per_output_token there holds the time to the first token too; its inter_token_latency is tpot here")
}
