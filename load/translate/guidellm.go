package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// guideLLM is GuideLLM, with the flags of 0.3 to 0.6 (`benchmark`) and the kind=…,key=…
// values of 0.7 and later (`run`).
// Source: guidellm's __main__.py of 0.5, cli/run.py, benchmark/profiles/, utils/random.py and
// schemas/data/deserializers/ of 0.8.
var guideLLM = &tool{
	names: []string{"guidellm benchmark run", "guidellm benchmark", "guidellm run"},
	table: `target model=model processor=tokenizer tokenizer backend backend-type backend-kwargs request-type request-format profile rate-type rate data max-requests=requests
		max-seconds=duration:s max-errors max-error-rate=max-failures constraint warmup warmup-percent cooldown cooldown-percent random-seed=seed seed output-path=out
		output-dir=out output~ +outputs~ sample-requests~ output-sampling~ !disable-progress=quiet !disable-console-interactive=quiet !disable-console=quiet
		!disable-console-outputs=quiet !display-scheduler-stats~ rampup over-saturation !detect-saturation !default-over-saturation label=tag l=tag +override console~
		log-progress-interval~ data-finalizer- data-num-workers~ dataloader-kwargs- data-loader- data-preprocessor- data-sampler- data-samples- max-global-error-rate- processor-args~ request-formatter-kwargs-`,
	flags: map[string]func(*call, string){
		"target": address, "tokenizer": guideTokenizer, "backend": guideBackend, "backend-type": guideBackend, "request-type": guideRequest, "request-format": guideRequest,
		"data": guideData, "constraint": guideConstraint, "data-args": guideColumns("data-args"), "data-column-mapper": guideColumns("data-column-mapper"),
		"seed":                    func(c *call, v string) { c.set("seed", cmp.Or(pairs(v)["seed"], value(v, "value"))) },
		"max-errors":              says("--max-errors: --max-failures P ends a run when a larger share fails"),
		"backend-kwargs":          guideArguments,
		"backend-args":            guideArguments,
		"over-saturation":         guideSaturated,
		"detect-saturation":       guideSaturated,
		"default-over-saturation": guideSaturated,
		"metrics":                 guideMetrics,
		"scenario":                guideScenario, "config": guideScenario, "c": guideScenario,
	},
	read: guideScenarioFile,
	end:  guideEnd,
}

// guideColumns are settings of data, of which most name a file's columns.
func guideColumns(flag string) func(*call, string) {
	return func(c *call, v string) {
		c.note("--%s %s: columns: {prompt: NAME, output: NAME} beside file: in a workload file names columns; other settings have no equal here", flag, v)
	}
}

// guideMetrics has the limits of requests that count for goodput.
// Source: schemas/benchmark/goodput.py, 0.8.1.
func guideMetrics(c *call, v string) {
	p := pairs(v)
	maps.Copy(p, pairs(p["slo"]))
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch ours := strings.TrimPrefix(name, "slo."); ours {
		case "ttft_ms", "tpot_ms":
			c.good(strings.TrimSuffix(ours, "_ms"), p[name])
		case "e2el_ms":
			c.good("e2e", p[name])
		case "kind", "slo", "sample_size", "confidence", "warnings", "":
		case "prefer_response_metrics":
			if strings.EqualFold(p[name], "false") {
				c.note("--metrics prefer_response_metrics=false: no equal here; --tokenizer counts answers where a server does not")
			}
		default:
			c.note("--metrics %s: no equal here", name)
		}
	}
}

func guideArguments(c *call, v string) {
	c.note("--backend-kwargs: --header, --parameters, --timeout and --insecure have most of them")
}

func guideSaturated(c *call, _ string) {
	c.note("a run that ends where the server is overloaded: sweep --find ends where promises no longer hold")
}

func guideScenario(c *call, v string) {
	c.note("--scenario %s: no file of this name is here; what it says besides these flags is missing", v)
}

// pairs reads key=value,key=value, or an object. What has an index, as in rate[0]=1, and
// the lists of an object are one value, with commas; an object within it is JSON.
func pairs(v string) map[string]string {
	out := map[string]string{}
	var object map[string]any
	if json.Unmarshal([]byte(v), &object) == nil {
		for name, x := range object {
			if inner, ok := x.(map[string]any); ok {
				text, _ := json.Marshal(inner)
				out[name] = string(text)
				continue
			}
			if n, ok := x.(float64); ok {
				x = strconv.FormatFloat(n, 'f', -1, 64)
			}
			out[name] = strings.Join(strings.Fields(strings.Trim(fmt.Sprint(x), "[]")), ",")
		}
		return out
	}
	for part := range strings.SplitSeq(strings.Trim(v, "{} "), ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			name, value, _ = strings.Cut(part, ":")
		}
		name, _, indexed := strings.Cut(strings.Trim(name, `" `), "[")
		value = strings.Trim(value, `" `)
		if indexed && out[name] != "" {
			value = out[name] + "," + value
		}
		out[name] = value
	}
	return out
}

// value is the one with a name among pairs; all of v where there is none.
func value(v, name string) string { return cmp.Or(pairs(v)[name], v) }

func guideTokenizer(c *call, v string) { c.set("tokenizer", value(v, "model")) }

func guideBackend(c *call, v string) {
	p := pairs(v)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch x := p[name]; name {
		case "target":
			address(c, x)
		case "model":
			c.set("model", x)
		case "request_format":
			c.given["request-format"] = x
			guideRequest(c, x)
		case "timeout":
			c.seconds("timeout", x)
		case "stream":
			if strings.EqualFold(x, "false") {
				c.on("no-stream")
			}
		case "verify":
			if strings.EqualFold(x, "false") {
				c.on("insecure")
			}
		case "api_key":
			key(c, x)
		case "kind":
			if x != "openai_http" {
				c.note("--backend kind=%s: no equal here; a server is measured over HTTP", x)
			}
		case "openai_http", "validate_backend":
		case "max_tokens":
			c.set("output-tokens", x)
		default:
			c.note("--backend %s: no equal here", name)
		}
	}
}

func guideRequest(c *call, v string) {
	c.api("request-format", strings.TrimPrefix(strings.Trim(strings.ReplaceAll(v, "/", "_"), "_"), "v1_"),
		"chat_completions=openai-chat text_completions=openai-completions completions=openai-completions responses=openai-responses "+
			"embeddings=embeddings audio_transcriptions=transcription")
}

func guideData(c *call, v string) {
	p := pairs(v)
	if p["prompt_tokens"] == "" {
		guideFile(c, v, p)
		return
	}
	c.between("input-tokens", p, "prompt_tokens")
	c.between("output-tokens", p, "output_tokens")
	if p["output_tokens"] != "" {
		c.on("ignore-eos") // which it asks for with each length
	} else {
		c.answers()
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		switch name, _, _ := strings.Cut(strings.NewReplacer("prompt_", "", "output_", "").Replace(name), "["); name {
		case "tokens", "tokens_stdev", "tokens_min", "tokens_max", "kind", "samples", "source":
		default:
			c.note("--data %s: no equal here; a workload file has `prefix` and `turns` (docs/workloads.md)", name)
		}
	}
}

// guideFile is data of a file, or of a trace, whose file is in its source.
func guideFile(c *call, v string, p map[string]string) {
	source := pairs(p["source"])
	file := cmp.Or(p["path"], p["source.path"], source["path"], p["source.source"], source["source"], p["source"])
	if file == "" && p["kind"] == "" {
		file = v
	}
	if dot := strings.LastIndex(file, "."); dot < 0 || strings.Contains(file[dot:], "/") {
		c.note("--data %s: name a file with --workload; nothing is fetched", cmp.Or(file, v))
		return
	}
	c.set("workload", file)
	c.note("--data %s: a file is read; nothing is fetched. A run ends there once each of its texts was sent, if nothing ends it before; here they come again", file)
	c.given["data's kind"], c.given["data's time_scale"] = p["kind"], p["time_scale"]
	c.guideLengths(p["kind"])
	if p["kind"] == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name != "kind" && name != "time_scale" && name != "path" && name != "source" && !strings.HasPrefix(name, "source.") {
			c.note("--data %s: no equal here", name)
		}
	}
}

// guideLengths: with each length of an answer the tool asks for all of it.
// Source: backends/openai/request_handlers.py and data/preprocessors/mappers.py, 0.8.1.
func (c *call) guideLengths(kind string) {
	switch kind {
	case "trace_synthetic", "mooncake", "weka", "otel", "opentelemetry":
		c.on("ignore-eos") // their records have lengths
	default:
		c.note("rows with a length (output_tokens_count, completion_tokens_count) are sent with ignore_eos there: add --ignore-eos if the file has these")
	}
}

// between is a mean with a deviation, or what lies between two bounds: a length outside of
// them becomes the bound there. Source: IntegerRangeSampler in utils/random.py.
func (c *call) between(flag string, p map[string]string, name string) {
	mean, deviation, least, most := p[name], p[name+"_stdev"], p[name+"_min"], p[name+"_max"]
	if deviation == "" && least+most != "" {
		c.set(flag, "uniform:"+cmp.Or(least, mean)+","+cmp.Or(most, mean))
		return
	}
	clipped(c, flag, mean, deviation, least, most)
}

func guideConstraint(c *call, v string) {
	switch p := pairs(v); p["kind"] {
	case "max_requests", "max_number":
		c.given["max-requests"] = p["count"]
		c.set("requests", p["count"])
	case "max_seconds", "max_duration":
		c.given["max-seconds"] = p["seconds"]
		c.seconds("duration", p["seconds"])
	case "max_error_rate":
		c.set("max-failures", p["rate"])
	case "over_saturation":
		guideSaturated(c, v)
	default:
		c.note("--constraint %s: no equal here", v)
	}
}

// guideProfile is the profile with its settings, wherever they were given.
func (c *call) guideProfile() (string, map[string]string) {
	unsaid := "sweep"
	if c.has("scenario", "config", "c") {
		unsaid = "" // it is the scenario's
	}
	profile, p := c.or(unsaid, "profile", "rate-type"), map[string]string{}
	if strings.ContainsAny(profile, "={") {
		p = pairs(profile)
		profile = p["kind"]
	}
	over := strings.Fields(strings.ReplaceAll(c.or("", "override"), ",profile.", " profile."))
	for i := 0; i+1 < len(over); i += 2 {
		if name, ok := strings.CutPrefix(over[i], "profile."); ok {
			p[name] = over[i+1]
		} else {
			c.note("--override %s: no equal here", over[i])
		}
	}
	if len(over)%2 == 1 {
		c.note("--override %s: no equal here", over[len(over)-1])
	}
	switch {
	case profile != "":
	case p["kind"] != "":
		profile = p["kind"]
	case p["streams"] != "":
		profile = "concurrent"
	case p["sweep_size"] != "":
		profile = "sweep"
	}
	p["rate"] = cmp.Or(p["rate"], p["streams"], p["sweep_size"], c.or("", "rate"))
	return profile, p
}

// of puts words before a text; empty where that is.
func of(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}

// guideRead are the keys of a profile that have their say in the command or its notes.
var guideRead = map[string]string{
	"": "kind rate rampup_duration warmup cooldown", "concurrent": "streams", "throughput": "max_concurrency", "constant": "max_concurrency", "poisson": "max_concurrency",
	"async": "max_concurrency", "replay": "time_scale", "sweep": "sweep_size", "goodput": "target_attainment",
}

// guideUnread names the rest.
func (c *call) guideUnread(profile string, p map[string]string) {
	read := strings.Fields(guideRead[""] + " " + guideRead[profile])
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name] != "" && !slices.Contains(read, name) && (name != "schedule_turn" || p[name] != "timestamp") {
			c.note("--profile kind=%s,%s=%s: no equal here", profile, name, p[name])
		}
	}
	if scale := c.given["data's time_scale"]; scale != "" && profile != "replay" {
		c.note("--data time_scale=%s: the file's times are not played", scale)
	}
}

func guideEnd(c *call) {
	profile, p := c.guideProfile()
	rate := p["rate"]
	c.sweeps = strings.Contains(rate, ",") || profile == "sweep" || profile == "knee"
	switch profile {
	case "synchronous":
		c.set("concurrency", "1")
	case "concurrent":
		c.set("concurrency", rate)
	case "throughput":
		most := cmp.Or(p["max_concurrency"], rate, c.given["most of the environment"], "512")
		c.set("concurrency", most)
		c.note("profile throughput: a closed loop of %s streams, 512 where the tool is told no number", most)
	case "constant", "poisson", "async":
		c.set("rate", rate)
		if profile == "poisson" { // async is constant there
			c.set("arrival", profile)
		}
		if most := p["max_concurrency"]; most != "" {
			c.set("concurrency", most)
		}
	case "replay":
		scale := 1.0
		for _, text := range []string{p["time_scale"], c.given["data's time_scale"]} {
			if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 {
				scale *= x
			}
		}
		if scale != 1 {
			c.set("speedup", fmt.Sprintf("%g", 1/scale))
		}
		if kind := c.given["data's kind"]; kind != "otel" && kind != "weka" {
			c.traceFile("s", "")
		}
	case "goodput":
		c.sweeps = true
		c.on("find")
		c.set("variable", "concurrency")
		share, _ := strconv.ParseFloat(cmp.Or(p["target_attainment"], "0.95"), 64)
		c.args = append(c.args, "--objective", fmt.Sprintf("goodput >= %.6g%%", 100*share))
		c.note("profile goodput: the largest number of streams at which %g of the requests are good, which are those within --metrics slo", share)
	case "sweep", "knee":
		c.set("concurrency", "1,2,4,8,16,32,64,128,256,512")
		if profile == "knee" {
			c.note("profile knee: the tool looks for the streams beyond which throughput no longer grows; here streams are doubled, and the table shows it")
		} else {
			c.note("profile sweep: the tool takes rates (%s, with one stream and the most) between one stream and the most the server gives; here streams are doubled. sweep --find with an --objective finds the limit", cmp.Or(rate, "10"))
		}
	case "":
		c.note("the profile is the scenario's, and the scenario is not read here: add its --concurrency, or its --rate%s", of(" of ", rate))
	default:
		c.note("profile %s: no equal here", profile)
	}
	c.guideUnread(profile, p)
	c.byDefault("api", "openai-chat", "request-type", "request-format")
	c.byDefault("seed", "42", "seed", "random-seed")
	if strings.HasPrefix(c.url, "https:") && !slices.Contains(c.args, "--insecure") {
		c.note("certificates are checked there with verify=true alone; here they are, unless --insecure is given")
	}
	if ramp := c.or(p["rampup_duration"], "rampup"); ramp != "" && ramp != "0" {
		c.seconds("ramp", ramp)
		c.note("the load grows within what is measured there, before it here")
	}
	var around []string
	for _, name := range []string{"warmup", "warmup-percent", "cooldown", "cooldown-percent"} {
		if c.or("", name) != "" {
			around = append(around, "--"+name)
		}
	}
	for _, name := range []string{"warmup", "cooldown"} {
		if p[name] != "" {
			around = append(around, "--profile "+name)
		}
	}
	if len(around) > 0 {
		c.note("%s: warm-up and cool-down are shares of the run there below 1, and else its seconds or requests; --warmup and --cooldown take a number or a time, and --warmup 0 is without", strings.Join(around, ", "))
	} else {
		c.set("warmup", "0")
	}
	if profile != "replay" && !c.has("max-requests", "max-seconds") {
		c.note("without --max-requests and --max-seconds each load goes on until the data ends there, for 30 s here")
	}
	c.note("what is called time_per_output_token there holds the time to the first token too; its inter_token_latency is tpot here")
}
