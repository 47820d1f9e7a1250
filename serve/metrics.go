package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"tokenmeter/live"
	"tokenmeter/proxy"
	"tokenmeter/timeline"
)

// metrics is the seam for telemetry: the one place where figures leave the
// daemon by HTTP. It writes counters as plain Prometheus text, by hand.
func (d *Daemon) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	d.mu.Lock()
	var all []named
	for _, one := range d.doors {
		all = append(all, named{one.Name, one.proxy.Load().Stats()})
	}
	d.mu.Unlock()
	p := page{w}
	p.family("tokenmeter_proxy_in_flight", "gauge", "requests on their way")
	for _, s := range all {
		p.line("tokenmeter_proxy_in_flight", s.InFlight, "listener", s.name)
	}
	p.family("tokenmeter_proxy_requests_total", "counter", "finished requests, by outcome")
	for _, s := range all {
		for _, outcome := range timeline.Outcomes {
			if n, ok := s.Outcomes[outcome]; ok {
				p.line("tokenmeter_proxy_requests_total", n, "listener", s.name, "outcome", string(outcome))
			}
		}
	}
	p.family("tokenmeter_proxy_unmeasured_total", "counter", "requests that were passed on without being measured, by reason")
	for _, s := range all {
		for _, why := range live.Reasons {
			p.line("tokenmeter_proxy_unmeasured_total", s.Unmeasured[why], "listener", s.name, "reason", string(why))
		}
	}
	p.family("tokenmeter_proxy_refused_total", "counter", "requests that were refused, by why")
	for _, s := range all {
		for _, why := range slices.Sorted(maps.Keys(s.Refused)) {
			p.line("tokenmeter_proxy_refused_total", s.Refused[why], "listener", s.name, "why", why)
		}
	}
	p.family("tokenmeter_proxy_passed_total", "counter", "requests that are no completions")
	p.family("tokenmeter_proxy_upstream_retries_total", "counter", "requests that another upstream got, as the first could not be reached")
	for _, s := range all {
		p.line("tokenmeter_proxy_passed_total", s.Passed, "listener", s.name)
		p.line("tokenmeter_proxy_upstream_retries_total", s.Retries, "listener", s.name)
	}
	p.family("tokenmeter_upstream_healthy", "gauge", "1: requests go there")
	for _, s := range all {
		for _, u := range s.Upstreams {
			healthy := int64(0)
			if u.Healthy {
				healthy = 1
			}
			p.line("tokenmeter_upstream_healthy", healthy, "listener", s.name, "upstream", u.Name)
		}
	}
	p.objectives(d.counters.Snapshot())
	p.family("tokenmeter_config_reloads_total", "counter", "configurations that were taken")
	p.line("tokenmeter_config_reloads_total", d.reloads.Load())
	p.family("tokenmeter_config_reload_failures_total", "counter", "configurations that were not")
	p.line("tokenmeter_config_reload_failures_total", d.failed.Load())
}

type named struct {
	name string
	proxy.Stats
}

type page struct{ w io.Writer }

func (p page) family(name, kind, help string) {
	fmt.Fprintf(p.w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p page) line(name string, n int64, labels ...string) {
	fmt.Fprint(p.w, name)
	for i := 0; i < len(labels); i += 2 {
		lead := ","
		if i == 0 {
			lead = "{"
		}
		fmt.Fprintf(p.w, "%s%s=\"%s\"", lead, labels[i], escaper.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		fmt.Fprint(p.w, "}")
	}
	fmt.Fprintf(p.w, " %d\n", n)
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (p page) objectives(counts []live.Count) {
	for _, f := range []struct {
		name, help string
		of         func(live.Count) int64
	}{
		{"tokenmeter_slo_good_total", "requests that met an objective", func(c live.Count) int64 { return c.Good }},
		{"tokenmeter_slo_valid_total", "requests that an objective could judge", func(c live.Count) int64 { return c.Valid }},
		{"tokenmeter_slo_excluded_total", "requests that it could not", func(c live.Count) int64 { return c.Excluded }},
	} {
		p.family(f.name, "counter", f.help)
		for _, c := range counts {
			p.line(f.name, f.of(c), "slo", c.Key, "objective", c.Text, "listener", c.Labels.Listener, "route", c.Labels.Route,
				"upstream", c.Labels.Upstream, "model", c.Labels.Model, "api", c.Labels.API)
		}
	}
}
