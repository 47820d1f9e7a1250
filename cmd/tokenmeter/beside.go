//go:build !lean

package main

import (
	"net/url"
	"os"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/control"
	"tokenmeter/wire/client"
	"tokenmeter/wire/scrape"
)

// besideFlags say what is looked at beside the requests. A lean build has none.
type besideFlags struct {
	ServerMetrics   []string `name:"server-metrics" group:"target" sep:"none" placeholder:"auto|URL|TOOL|off" help:"Read what the server tells of itself meanwhile: queue, running, KV cache, its own times. auto looks for /metrics at the target, a URL names a page (repeatable: one a replica, or of a GPU exporter), nvidia-smi and amd-smi are run on this machine, off reads nothing. Default: auto. It never holds up or fails a run."`
	Telemetry       []string `name:"telemetry" group:"results" sep:"none" placeholder:"URL|ADDRESS" help:"Tell of the requests while the run goes on: to an OpenTelemetry Collector, http://HOST:4318, by remote write, http://HOST:9090/api/v1/write (Mimir's push and Thanos's receive too), to MLflow, http://HOST:5000/api/2.0/mlflow, or as a page for Prometheus at HOST:PORT/metrics. The metrics are those of the daemon. Repeatable."`
	TelemetryKeyEnv string   `name:"telemetry-key-env" group:"results" placeholder:"NAME" help:"The variable that holds the key of the collectors of --telemetry, which is sent as Authorization: Bearer. Without it OpenTelemetry's OTEL_EXPORTER_OTLP_HEADERS go to collectors by OTLP."`
	Hardware        string   `name:"hardware" group:"judging" placeholder:"MODEL/GPU" help:"What the server runs, like llama-3.1-8b/h100, qwen3-32b/h100x2-fp8 or 8.03B/l40s: MBU and MFU, and a warning where they are more than there is. tokenmeter explain gpus lists devices, sizes models."`

	BeforePoint  []string `name:"before-point" group:"control" sep:"none" placeholder:"COMMAND" help:"Run this in the shell before each run or point of a sweep, warm-up included. It has the point's facts as TOKENMETER_URL, _MODEL, _CONCURRENCY, _RATE, _RUN (folder), …; what it prints is in control.log there. Where it fails, the point is not measured. Repeatable."`
	AfterPoint   []string `name:"after-point" group:"control" sep:"none" placeholder:"COMMAND" help:"The same after each, when all requests have ended. Repeatable."`
	ResetCache   bool     `name:"reset-cache" group:"control" help:"Empty the server's caches of prefixes and media before each point: vLLM (started with VLLM_SERVER_DEV_MODE=1), SGLang."`
	Profile      bool     `name:"server-profile" group:"control" help:"Let the server's own profiler run while it is measured: vLLM (started with a profiler), SGLang. It slows the server down."`
	ProfileAt    string   `name:"profile-at" group:"control" placeholder:"N" help:"Start it once N requests are in flight. Default: when measuring begins."`
	ProfileFor   string   `name:"profile-for" group:"control" placeholder:"TIME" help:"Stop it after so long. Default: when the last request has ended."`
	ProfileFiles string   `name:"profile-files" group:"control" placeholder:"PATH" help:"Where the server writes the profile (PyTorch's traces, a .nsys-rep): the report names it, and links the files if this machine reaches them."`
	ControlLimit string   `name:"control-limit" group:"control" placeholder:"TIME" help:"How long each of these may take. Default: 10m."`
}

// control is what makes the control of each run, or nil.
func (c *benchCmd) control(check *checker) func(client.Config) bench.Control {
	p := control.Plan{Before: c.BeforePoint, After: c.AfterPoint, Env: os.Environ(),
		Reset: c.ResetCache, Profile: c.Profile, ProfileFiles: c.ProfileFiles}
	p.ProfileAt = int64(check.count("--profile-at", c.ProfileAt, 1))
	p.ProfileFor, _ = check.duration("--profile-for", c.ProfileFor, time.Millisecond)
	p.Limit, _ = check.duration("--control-limit", c.ControlLimit, time.Millisecond)
	for _, f := range []struct {
		flag     string
		commands []string
	}{{"--before-point", p.Before}, {"--after-point", p.After}} {
		for _, line := range f.commands {
			if strings.TrimSpace(line) == "" || strings.Contains(line, "\x00") {
				check.addf("%s: give a command, like \"systemctl restart vllm\"", f.flag)
			}
		}
	}
	if !p.Profile && (c.ProfileAt != "" || c.ProfileFor != "" || c.ProfileFiles != "") {
		check.addf("--profile-at, --profile-for and --profile-files belong to --server-profile: add it, or leave them out")
	}
	if p.Empty() {
		if c.ControlLimit != "" {
			check.addf("--control-limit bounds --before-point, --after-point, --reset-cache and --server-profile: give one of them, or leave it out")
		}
		return nil
	}
	return func(cfg client.Config) bench.Control { return control.New(p, cfg) }
}

// beside is what makes the reader of a run's server, or nil.
func (c *benchCmd) beside(check *checker) func(client.Config) bench.Beside {
	var pages []string
	auto := len(c.ServerMetrics) == 0 && c.Preflight != "none" // who forbids GETs means this one too
	for _, text := range c.ServerMetrics {
		switch u, err := url.Parse(text); {
		case text == "auto":
			auto = true
		case text == "off":
			if len(c.ServerMetrics) > 1 {
				check.addf("--server-metrics off stands alone: leave out the others, or it")
			}
			return nil
		case scrape.IsTool(text):
			pages = append(pages, text)
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			check.addf("--server-metrics: give auto, off, or the URL of a page like http://localhost:8000/metrics; or %s", strings.Join(scrape.ToolNames(), " or "))
		default:
			pages = append(pages, text)
		}
	}
	if !auto && len(pages) == 0 {
		return nil
	}
	return func(cfg client.Config) bench.Beside { return newWatcher(cfg, pages, auto) }
}

// newWatcher reads these pages and, with auto, the one that the target may have.
func newWatcher(cfg client.Config, pages []string, auto bool) bench.Beside {
	watch := scrape.Watch{TLS: cfg.TLS, Proxy: cfg.Proxy, Show: cfg.Redactor().URL}
	named := map[string]bool{} // a page that is read twice would count everything twice
	for _, page := range pages {
		if !named[page] {
			named[page] = true
			watch.Pages = append(watch.Pages, scrape.Named(page, &cfg))
		}
	}
	if auto {
		if page, ok := scrape.PageOf(&cfg); ok && !named[page.URL] {
			watch.Pages = append(watch.Pages, page)
		}
	}
	return scrape.NewWatcher(watch)
}
