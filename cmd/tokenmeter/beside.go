//go:build !lean

package main

import (
	"net/http"
	"net/url"
	"strings"

	"tokenmeter/load/bench"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/scrape"
)

// besideFlags say what is looked at beside the requests. A lean build has none.
type besideFlags struct {
	ServerMetrics []string `name:"server-metrics" group:"target" sep:"none" placeholder:"auto|URL|TOOL|off" help:"Read what the server tells of itself meanwhile: queue, running, KV cache, its own times. auto looks for /metrics at the target, a URL names a page (repeatable: one a replica, or of a GPU exporter), nvidia-smi and amd-smi are run on this machine, off reads nothing. Default: auto. It never holds up or fails a run."`
	Hardware      string   `name:"hardware" group:"judging" placeholder:"MODEL/GPU" help:"What the server runs, like llama-3.1-8b/h100, qwen3-32b/h100x2-fp8 or 8.03B/l40s: MBU and MFU, and a warning where they are more than there is. tokenmeter explain gpus lists devices, sizes models."`
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
	full, err := client.JoinURL(cfg.BaseURL, cfg.API.Path)
	at, parseErr := url.Parse(full)
	if err != nil || parseErr != nil {
		at = &url.URL{}
	}
	own := http.Header{}
	for name, values := range cfg.Header {
		own[name] = values
	}
	if cfg.Key != "" && own.Get("Authorization") == "" {
		own.Set("Authorization", "Bearer "+cfg.Key)
	}
	named := map[string]bool{} // a page that is read twice would count everything twice
	for _, page := range pages {
		if named[page] {
			continue
		}
		named[page] = true
		p := scrape.Page{URL: page}
		if u, err := url.Parse(page); err == nil && u.Scheme == at.Scheme && u.Host == at.Host {
			p.Header = own // a key goes nowhere but to the server that it is for
		}
		watch.Pages = append(watch.Pages, p)
	}
	if auto && at.Host != "" && at.Scheme != "http+unix" && api.ProviderOf(at.Hostname()) == nil {
		root := at.Scheme + "://" + at.Host
		if path, err := client.LookupPath(cfg.BaseURL, cfg.API.Path, "/metrics"); err == nil {
			path, _, _ = strings.Cut(path, "?")
			if named[root+path] {
				return scrape.NewWatcher(watch)
			}
			below := root + strings.TrimSuffix(path, "/metrics")
			watch.Pages = append(watch.Pages, scrape.Page{URL: root + path, Else: []string{below + "/v1/metrics", below + "/prometheus/metrics"}, // NIM, trtllm-serve
				Header: own, Guessed: true})
		}
	}
	return scrape.NewWatcher(watch)
}
