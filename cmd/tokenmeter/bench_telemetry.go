//go:build !lean

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/load/bench"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/mlflow"
	"tokenmeter/service/telemetry/otel"
	"tokenmeter/service/telemetry/prometheus"
	"tokenmeter/service/traffic"
)

// How often figures go to a collector, how long the last ones may take, and how long
// the page stays for whoever had read it before.
const (
	telemetryEvery = 5 * time.Second
	telemetryEnd   = 5 * time.Second
	telemetryStays = 20 * time.Second
)

// telemetry is where the figures of a run go while it goes on: the same table of
// metrics as the daemon's, with the source bench.
type telemetry struct {
	sinks  traffic.Sinks
	page   *prometheus.Exporter // nil: no page
	read   atomic.Bool          // somebody reads the page
	server *http.Server
	otel   []*otel.Exporter
	writes []*prometheus.Writer
	logs   []*mlflow.Logger
	key    string            // of collectors; empty: none
	extra  map[string]string // headers of OTLP that the environment names
}

// tells reports whether somebody is told of requests while the run goes on.
func (c *benchCmd) tells() bool { return len(c.Telemetry) > 0 }

// checkTelemetry says what is wrong with --telemetry.
func (c *benchCmd) checkTelemetry(check *checker) {
	pages := 0
	for _, to := range c.Telemetry {
		if strings.Contains(to, "://") {
			if u, err := url.Parse(to); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				check.addf("--telemetry %q is no URL of a collector; give one like http://localhost:4318", to)
			} else if u.User != nil {
				check.addf("--telemetry: a URL with a password goes into outputs; let a collector nearby add it")
			}
			continue
		}
		if pages++; pages > 1 {
			check.addf("--telemetry %q: one page is enough, every Prometheus can read it", to)
		}
		if _, _, err := net.SplitHostPort(to); err != nil {
			check.addf("--telemetry %q is neither the URL of a collector, like http://localhost:4318, nor an address for a page, like localhost:9465", to)
		}
	}
}

// telemetry begins to tell of the plan's requests, and returns what ends it, with the
// run that was measured, or nil. A run without it is left alone.
func (c *benchCmd) telemetry(a *app, plan *bench.Plan) (end func(*run.Run), err error) {
	if !c.tells() {
		return func(*run.Run) {}, nil
	}
	t, objectives := &telemetry{}, plan.Objectives
	if t.key, err = c.telemetryKey(a); err != nil {
		return nil, err
	}
	t.extra = collectorHeaders(a)
	for _, to := range c.Telemetry {
		switch {
		case isRemoteWrite(to):
			t.write(to, objectives)
		case isMLflow(to):
			t.log(a, to, plan, objectives)
		case strings.Contains(to, "://"):
			err = t.send(to, objectives)
		default:
			err = t.listen(a, to, objectives)
		}
		if err != nil {
			t.close(a, nil)
			return nil, fmt.Errorf("--telemetry %s: %w", to, err)
		}
	}
	labels := traffic.Labels{Source: traffic.Bench, Route: "bench", Upstream: hostOf(plan.Client.BaseURL), Model: printable.Text(plan.Model), API: plan.Client.API.Name}
	before := plan.Each
	plan.Each = func(e bench.Ended) bool {
		t.sinks.Done(finished(e.Timeline, labels))
		return before == nil || before(e)
	}
	return func(of *run.Run) { t.close(a, of) }, nil
}

// finished is the request as exporters take it. They keep what they are given; the run
// uses a timeline again.
func finished(tl *timeline.Timeline, labels traffic.Labels) *traffic.Request {
	own := *tl
	own.Events = timeline.Events{}
	own.Events.Reserve(tl.Events.Len())
	for ev := range tl.Events.All() {
		own.Events.Append(ev)
	}
	labels.Model = cmp.Or(labels.Model, printable.Text(tl.Model))
	took := time.Duration(max(tl.CloseUS.Or(0), tl.Events.LastUS())) * time.Microsecond
	return &traffic.Request{Timeline: &own, At: time.Now().Add(-took), Record: metric.ScalarsOf(&own), Labels: labels}
}

// send sends to a collector, by the names of the conventions as they are now.
func (t *telemetry) send(to string, objectives []objective.Objective) error {
	headers := maps.Clone(t.extra)
	if t.key != "" {
		headers = map[string]string{"Authorization": "Bearer " + t.key}
	}
	out, err := otel.New(context.Background(), otel.Options{Endpoint: to, Headers: headers, Every: telemetryEvery, Timeout: telemetryEnd, Next: true, Version: fullVersion()}, objectives)
	if err != nil {
		return err
	}
	t.otel, t.sinks = append(t.otel, out), append(t.sinks, out)
	return nil
}

// metrics makes what a page shows and remote writes send, once.
func (t *telemetry) metrics(objectives []objective.Objective) {
	if t.page == nil {
		t.page = prometheus.New(prometheus.Options{}, objectives)
		t.sinks = append(t.sinks, t.page)
	}
}

// write writes to a Prometheus that takes remote writes.
func (t *telemetry) write(to string, objectives []objective.Objective) {
	t.metrics(objectives)
	t.writes = append(t.writes, t.page.Write(prometheus.Remote{URL: to, Key: t.key, Every: telemetryEvery, Timeout: telemetryEnd, Version: fullVersion()}))
}

// isRemoteWrite tells the receivers of Prometheus, Mimir, Cortex and Thanos by their paths.
func isRemoteWrite(to string) bool {
	u, err := url.Parse(to)
	return err == nil && slices.ContainsFunc([]string{"/api/v1/write", "/api/v1/push", "/api/prom/push", "/api/v1/receive"}, func(end string) bool { return strings.HasSuffix(u.Path, end) })
}

// telemetryKey is the key of collectors.
func (c *benchCmd) telemetryKey(a *app) (string, error) {
	if c.TelemetryKeyEnv == "" {
		return "", nil
	}
	key, err := secret.FromVariable(c.TelemetryKeyEnv, a.env)
	if err != nil {
		return "", fmt.Errorf("--telemetry-key-env: %w", err)
	}
	if strings.ContainsFunc(key, unicode.IsControl) {
		return "", fmt.Errorf("--telemetry-key-env: %s holds what no header can", c.TelemetryKeyEnv)
	}
	return key, nil
}

// collectorHeaders are those that OpenTelemetry's own variables name, the one for
// metrics first.
func collectorHeaders(a *app) map[string]string {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"} {
		if text, ok := a.env(name); ok && text != "" {
			return otel.HeadersOf(text)
		}
	}
	return nil
}

// listen serves a page for Prometheus.
func (t *telemetry) listen(a *app, to string, objectives []objective.Objective) error {
	ln, err := net.Listen("tcp", to)
	if err != nil {
		return err
	}
	t.metrics(objectives)
	pages := http.NewServeMux()
	pages.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		t.read.Store(true)
		t.page.ServeHTTP(w, r)
	})
	t.server = &http.Server{Handler: pages, ReadHeaderTimeout: telemetryEnd, MaxHeaderBytes: 64 << 10}
	t.server.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			t.page.Gone(conn.RemoteAddr().String())
		}
	}
	go func() { _ = t.server.Serve(ln) }()
	a.note("metrics of the run: http://%s/metrics", ln.Addr())
	return nil
}

// close sends what waits, and leaves the page open until those who read it have read
// the last figures.
func (t *telemetry) close(a *app, of *run.Run) {
	last := func(send func(context.Context) error) error { // each has its own time: a receiver that hangs costs no other
		ctx, stop := context.WithTimeout(context.Background(), telemetryEnd)
		defer stop()
		return send(ctx)
	}
	for _, out := range t.otel {
		_ = last(func(ctx context.Context) error { out.Close(ctx); return nil }) // counted
		if n := out.Dropped() + out.Failed(); n > 0 {
			a.warn("the collector of --telemetry was not told all: %d requests dropped, %d sends failed; the run itself lacks nothing", out.Dropped(), out.Failed())
		}
	}
	if t.page == nil {
		return
	}
	if len(t.writes)+len(t.logs) > 0 {
		t.page.Close() // its distributions have all that ended
	}
	for _, out := range t.writes {
		if err := last(out.Close); err != nil {
			a.warn("a receiver of --telemetry has not got the last figures: %v (%d writes failed); the run itself lacks nothing", err, out.Failed())
		}
	}
	for _, log := range t.logs {
		_ = last(func(ctx context.Context) error { t.ended(ctx, a, log, of); return nil })
	}
	if t.server == nil { // the page was for the writes alone, and is closed
		return
	}
	if !t.page.End() && t.read.Load() {
		a.note("waiting for a last reading of the metrics, for at most %s; Ctrl-C leaves", telemetryStays)
		asked, leave := interruptible(func() {})
		defer leave()
		ctx, stop := context.WithTimeout(asked, telemetryStays)
		defer stop()
		if !t.page.Linger(ctx) {
			a.warn("the metrics were not read once more: who reads them lacks the last figures")
		}
	}
	_ = t.server.Close()
	t.page.Close()
}
