package daemon

import (
	"crypto/tls"
	"net/url"
	"strings"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/service/telemetry/datadog"
	"tokenmeter/service/telemetry/otel"
	"tokenmeter/service/telemetry/prometheus"
)

// Metrics is what the page shows.
type Metrics struct {
	Native *bool          `yaml:"native" doc:"native histograms beside the classic ones, for servers that ask for them; default true"`
	Gaps   *bool          `yaml:"gaps" doc:"histograms of gaps between tokens and chunks; default true"`
	Hold   *time.Duration `yaml:"hold" doc:"how long a new counter of an objective is shown as 0, so that Prometheus sees it grow; longer than the time between scrapes; default 65s, 0s: not at all"`
	Linger *time.Duration `yaml:"linger" doc:"how long /metrics stays for a last scrape after the last request, when the daemon is stopped; default 40s, 0s: not at all"`
	Models int            `yaml:"models" doc:"distinct models that may be labels, for every exporter; more are other; default 100"`
}

// DefaultLinger is how long /metrics stays for a last scrape when the daemon ends.
const DefaultLinger = 40 * time.Second

// hold is how long a new counter is shown as 0.
func (m *Metrics) hold() time.Duration { return given(m.Hold, prometheus.DefaultHold) }

// linger is how long the page stays after the last request.
func (m *Metrics) linger() time.Duration { return given(m.Linger, DefaultLinger) }

// given is what was said, be it zero, or otherwise a default.
func given[T any](said *T, otherwise T) T {
	if said == nil {
		return otherwise
	}
	return *said
}

// OTel says where metrics and spans go by OTLP over HTTP, and which of them.
type OTel struct {
	Endpoint    string            `yaml:"endpoint" required:"true" doc:"http://HOST:4318; /v1/metrics and /v1/traces are added"`
	Headers     map[string]string `yaml:"headers" doc:"of every request; keys belong into key_env or key_file"`
	KeyEnv      string            `yaml:"key_env" doc:"environment variable that holds the collector's key"`
	KeyFile     string            `yaml:"key_file" doc:"file that holds it"`
	KeyHeader   string            `yaml:"key_header" doc:"header that carries the key; default Authorization, as Bearer"`
	CAFile      string            `yaml:"ca_file" doc:"PEM file of the authority of its certificate"`
	Every       time.Duration     `yaml:"every" doc:"between requests of metrics; default 30s"`
	Timeout     time.Duration     `yaml:"timeout" doc:"of one request; default 10s"`
	Metrics     *bool             `yaml:"metrics" doc:"default true"`
	Traces      bool              `yaml:"traces" doc:"a span a request, a child of the client's traceparent; never with texts"`
	Sample      *float64          `yaml:"sample" doc:"share of requests with a span, above 0 to 1, where the client's traceparent does not say; default 1"`
	Conventions string            `yaml:"conventions" enum:"v0.1.0|v1.41|next" doc:"names of the GenAI conventions: of v0.1.0 (the default; next is the same), or the former ones, of v1.41"`
	Histograms  string            `yaml:"histograms" enum:"explicit|exponential" doc:"default explicit, with the thresholds of objectives as edges"`
	Gaps        *bool             `yaml:"gaps" doc:"histograms of gaps between tokens and chunks; default true"`
}

// Datadog is where DogStatsD goes.
type Datadog struct {
	Address string        `yaml:"address" doc:"HOST:PORT by UDP or unix:///PATH; default 127.0.0.1:8125"`
	Tags    []string      `yaml:"tags" doc:"of every metric, like env:prod"`
	Every   time.Duration `yaml:"every" doc:"between packets; default 10s"`
	Gaps    bool          `yaml:"gaps" doc:"distributions of gaps between tokens and chunks: a value a token"`
}

func (c *checker) telemetry() {
	cfg := &c.p.Config
	c.notNegative("metrics.models", cfg.Metrics.Models)
	for at, d := range map[string]*time.Duration{"metrics.hold": cfg.Metrics.Hold, "metrics.linger": cfg.Metrics.Linger} {
		if d != nil {
			c.positive(at, *d)
		}
	}
	if o := cfg.OTel; o != nil {
		if u, err := url.Parse(o.Endpoint); o.Endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			c.addf("otel.endpoint", "this is no URL like http://127.0.0.1:4318")
		} else if u != nil && u.User != nil {
			c.addf("otel.endpoint", "keys belong into key_env or key_file")
		}
		c.p.otelKey = c.secret("otel", o.KeyEnv, o.KeyFile, "key_env", "key_file")
		c.p.otelExtra, _ = c.env("OTEL_EXPORTER_OTLP_HEADERS")
		if o.CAFile != "" {
			c.p.otelTLS = &tls.Config{RootCAs: c.authorities("otel.ca_file", o.CAFile)}
		}
		c.positive("otel.every", o.Every)
		c.positive("otel.timeout", o.Timeout)
		if o.Sample != nil && (*o.Sample <= 0 || *o.Sample > 1) {
			c.addf("otel.sample", "a share is above 0 and at most 1; without traces, say traces: false")
		}
	}
	if d := cfg.Datadog; d != nil {
		if _, _, err := datadog.Address(d.Address); err != nil {
			c.addf("datadog.address", "%s", secret.RedactURL(err.Error()))
		}
		c.positive("datadog.every", d.Every)
	}
}

// headers are those of requests to the collector, with its key; where there are none,
// those of the environment.
func (o *OTel) headers(key, environment string) map[string]string {
	if key == "" && len(o.Headers) == 0 {
		return otel.HeadersOf(environment)
	}
	all := map[string]string{}
	for name, value := range o.Headers {
		all[name] = value
	}
	switch name := strings.TrimSpace(o.KeyHeader); {
	case key == "":
	case name == "" || strings.EqualFold(name, "Authorization"):
		all["Authorization"] = "Bearer " + key
	default:
		all[name] = key
	}
	return all
}
