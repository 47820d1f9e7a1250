package main

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/pattern"
	"tokenmeter/base/secret"
	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

const (
	defaultTimeout        = 10 * time.Minute
	defaultIdleTimeout    = 2 * time.Minute
	defaultConnectTimeout = 10 * time.Second
)

// flagObjective begins the lines about objectives, here those of a flag.
var flagObjective = pattern.Lazy("(?m)^objective ")

// plan turns the flags into a plan. The error has everything that is wrong.
func (c *benchCmd) plan(a *app) (bench.Plan, error) {
	var check checker
	c.aside = nil
	p := bench.Plan{
		Name:       c.Name,
		Version:    fullVersion(),
		Model:      c.model(),
		Command:    append([]string{"tokenmeter"}, a.args...),
		Load:       bench.Load{Arrival: c.Arrival},
		Content:    bench.Content{Prompt: c.Prompt, InputTokens: c.InputTokens, Batch: c.Batch, OutputTokens: c.OutputTokens, IgnoreEOS: c.IgnoreEOS, NoStream: c.NoStream},
		Conditions: bench.Conditions{AllowLowN: c.AllowLowN, AllowISLDrift: c.AllowISLDrift, Preflight: c.Preflight},
		Output:     bench.Output{Out: c.Out, Force: c.Force, Capture: c.Capture},
	}
	c.load(&p, &check)
	c.stages(&p, &check)
	c.content(&p, &check)
	c.workload(&p, &check)
	c.target(&p, &check, a)
	p.Session = c.session(&check)
	p.Client.PerSession = c.perSession(p.Client.API, &check)
	p.Pricing = priceFlags{c.Prices, c.GPUHour, c.GPUs}.read(&check)
	p.Hardware = c.hardware(&check)
	p.Beside = c.beside(&check)
	p.Control = c.control(&check)
	c.checkTelemetry(&check)
	c.HTML.check(&check, c.Out, c.Force)
	p.RTT = c.rtt(&check)
	check.choice("--preflight", c.Preflight, "none", "get", "probe")
	c.checkShared(&check, forms...)
	p.Tags = tags(c.Tag, &check)
	if own := objectives(c.Objective, &check); own != nil { // else those of the scenario
		p.Objectives = own
	}
	return p, check.err()
}

// rtt is what --rtt asks for, or nil.
func (c *benchCmd) rtt(check *checker) *metric.RTT {
	if c.RTT == "" {
		return nil
	}
	if c.RTT == "auto" {
		if c.Proxy != "" {
			check.addf("--rtt auto measures the way to the --proxy only: give the round trip to the server, like --rtt 12ms")
		}
		return &metric.RTT{}
	}
	d, _ := check.duration("--rtt", c.RTT, 0)
	return &metric.RTT{GivenMS: timeline.Some(float64(d.Microseconds()) / 1e3)}
}

// objectives reads those of the flag --objective; nil: none, or wrong ones.
func objectives(texts []string, check *checker) []objective.Objective {
	parsed, err := objective.ParseAll(texts)
	if err != nil {
		check.add(errors.New(flagObjective().ReplaceAllString(err.Error(), "--objective ")))
	}
	for i := range parsed {
		if parsed[i].OfProxies() {
			check.addf("--objective %s: only requests through the proxy have it; here ttft is what the caller saw", parsed[i].Text)
		}
	}
	if len(parsed) == 0 || err != nil {
		return nil
	}
	return parsed
}

func (c *benchCmd) load(p *bench.Plan, check *checker) {
	p.Requests = check.count("--requests", c.Requests, 1)
	p.Duration, _ = check.duration("--duration", c.Duration, time.Millisecond)
	p.Concurrency = check.count("--concurrency", c.Concurrency, 1)
	p.Workers = check.count("--workers", c.Workers, 1)
	if strings.EqualFold(c.Rate, "inf") {
		check.addf("--rate inf: for as fast as the server can, use a closed loop with --concurrency N instead of --rate")
	} else {
		p.Rate = check.number("--rate", c.Rate, "2.5")
	}
	p.Burstiness = check.number("--burstiness", c.Burstiness, "0.5")
	p.UntilPrecision = check.share("--until-precision", c.UntilPrecision)
	check.choice("--arrival", c.Arrival, schedule.Names()...)
	if !c.searchesRate && c.Rate == "" && c.Stages == "" && c.Workload == "" && c.Scenario == "" && (c.Arrival != "" || c.Burstiness != "") {
		check.addf("--arrival and --burstiness belong to an open loop: add --rate")
	}
	if c.Warmup != "" {
		p.Warmup = warmupOf("--warmup", c.Warmup, check)
	}
	grace, given := check.duration("--grace", c.Grace, 0)
	if p.Grace = grace; given && grace == 0 {
		p.Grace = -1 // none, where 0 means the default
	}
	if c.Seed != "" {
		seed, err := strconv.ParseUint(c.Seed, 10, 64)
		if err != nil {
			check.addf("--seed %q: give a whole number from 0", c.Seed)
		}
		p.Seed = seed
	}
}

func (c *benchCmd) content(p *bench.Plan, check *checker) {
	for flag, text := range map[string]string{"--input-tokens": c.InputTokens, "--output-tokens": c.OutputTokens} {
		if text == "" {
			continue
		}
		if flag == "--input-tokens" {
			if _, err := workload.ParseShape(text, "", workload.OpenLengths); err != nil {
				check.addf("%s: %w", flag, err)
			}
		} else if _, err := workload.ParseLengths(text); err != nil {
			check.addf("%s: %w", flag, err)
		}
	}
	if c.Prompt != "" && c.Prompts != "" {
		check.addf("--prompt and --prompts exclude each other: give one of them")
	}
	if c.InputTokens != "" && (c.Prompt != "" || c.Prompts != "") {
		check.addf("--input-tokens is for made prompts: leave it out with --prompt and --prompts")
	}
	p.Extra = c.parameters(check)
	if c.Audio != "" {
		c.sounds(p, check)
		return
	}
	if c.Prompts != "" || c.Images != "" || c.Video != "" {
		c.prompts(p, check)
	}
}

func (c *benchCmd) target(p *bench.Plan, check *checker, a *app) {
	cfg := client.Config{
		Retries: check.count("--retries", c.Retries, 0), RetryBudget: check.share("--retry-budget", c.RetryBudget),
		Stream:  api.StreamOptions{KeepText: c.KeepText, AllowEmpty: c.AllowEmpty},
		Timeout: defaultTimeout, IdleTimeout: defaultIdleTimeout, ConnectTimeout: defaultConnectTimeout,
	}
	for _, t := range []struct {
		flag, text string
		into       *time.Duration
	}{
		{"--timeout", c.Timeout, &cfg.Timeout}, {"--ttft-timeout", c.TTFTTimeout, &cfg.TTFTTimeout},
		{"--idle-timeout", c.IdleTimeout, &cfg.IdleTimeout}, {"--connect-timeout", c.ConnectTimeout, &cfg.ConnectTimeout},
		{"--wait-ready", c.WaitReady, &p.WaitReady},
	} {
		if d, given := check.duration(t.flag, t.text, 0); given {
			*t.into = d
		}
	}
	if cfg.RetryBudget > 0 && cfg.Retries == 0 {
		check.addf("--retry-budget bounds --retries: add it, or leave it out")
	}
	if cfg.API = c.apiOf(check); cfg.API == nil {
		cfg.API = api.OpenAIChat
	}
	c.checkURL(cfg.API, check)
	c.reach(&cfg, check, a)
	form, err := client.ParseForm(c.Client)
	if err != nil {
		check.addf("--client: %w", err)
	}
	cfg.Form = form
	p.Client = cfg
}

func (c *benchCmd) checkURL(a *api.API, check *checker) {
	switch {
	case c.URL == "" && !c.Demo:
		check.addf("no server is named: give its URL, like http://localhost:8000, or --demo for a simulated one")
	case c.URL != "" && c.Demo:
		check.addf("--demo measures a server of its own: leave out %s", secret.RedactURL(c.URL))
	case c.URL != "":
		if _, err := client.JoinURL(c.URL, a.Path); err != nil {
			check.add(err)
		}
		if c.NoStream && client.OverWebSocket(c.URL) {
			check.addf("--no-stream: over a WebSocket every reply streams; leave it out")
		}
	}
}

func headers(lines []string, check *checker) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || name == "":
			check.addf("--header %q: write it as \"Name: value\"", secret.RedactHeaderLine(line))
		case strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(value, "\r\n\x00"):
			check.addf("--header %q: a name has no spaces and a value is one line", name)
		default:
			h.Add(name, value)
		}
	}
	return h
}

func tags(texts []string, check *checker) map[string]string {
	m := map[string]string{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		if strings.TrimSpace(name) == "" {
			check.addf("--tag %q: give a name, or name=value", text)
			continue
		}
		m[name] = value
	}
	return m
}
