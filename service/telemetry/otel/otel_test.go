package otel

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/metrics/v1"
	spb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// collector decodes what comes in with OpenTelemetry's own messages.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	metrics []*metricspb.ExportMetricsServiceRequest
	traces  []*tracespb.ExportTraceServiceRequest
	header  http.Header
	status  int
}

func listen(t testing.TB) *collector {
	c := &collector{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		data, err := io.ReadAll(body)
		if c.status != http.StatusOK {
			w.WriteHeader(c.status)
			return
		}
		c.header = r.Header
		var m proto.Message
		switch r.URL.Path {
		case "/v1/metrics":
			one := &metricspb.ExportMetricsServiceRequest{}
			m, c.metrics = one, append(c.metrics, one)
		case "/v1/traces":
			one := &tracespb.ExportTraceServiceRequest{}
			m, c.traces = one, append(c.traces, one)
		default:
			t.Errorf("path %s", r.URL.Path)
			return
		}
		if err == nil {
			err = proto.Unmarshal(data, m)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// last is the newest state of each metric.
func (c *collector) last() map[string]*pb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]*pb.Metric{}
	for _, request := range c.metrics {
		for _, r := range request.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					all[m.Name] = m
				}
			}
		}
	}
	return all
}

func (c *collector) spans() (all []*spb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, request := range c.traces {
		for _, r := range request.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

func attr(list []*commonpb.KeyValue, name string) string {
	for _, a := range list {
		if a.Key == name {
			switch v := a.Value.Value.(type) {
			case *commonpb.AnyValue_StringValue:
				return v.StringValue
			case *commonpb.AnyValue_IntValue:
				return fmt.Sprint(v.IntValue)
			case *commonpb.AnyValue_DoubleValue:
				return fmt.Sprint(v.DoubleValue)
			case *commonpb.AnyValue_BoolValue:
				return fmt.Sprint(v.BoolValue)
			case *commonpb.AnyValue_ArrayValue:
				return v.ArrayValue.Values[0].GetStringValue()
			}
		}
	}
	return ""
}

func send(t *testing.T, c *collector, opt Options, requests ...*traffic.Request) *Exporter {
	t.Helper()
	objectives, err := objective.ParseAll([]string{"p99 tpot < 44ms", "p95 ttft < 333ms"})
	if err != nil {
		t.Fatal(err)
	}
	opt.Endpoint = c.URL
	e, err := New(t.Context(), opt, objectives)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		e.Done(r)
	}
	e.Close(context.Background())
	return e
}

func histogram(t *testing.T, m *pb.Metric, name, unit string) []*pb.HistogramDataPoint {
	t.Helper()
	if m == nil || m.GetHistogram() == nil {
		t.Errorf("%s was not sent as a histogram", name)
		return nil
	}
	if m.Unit != unit {
		t.Errorf("%s is in %q, want %q", name, m.Unit, unit)
	}
	return m.GetHistogram().DataPoints
}

// Tokens at 100, 130 and 190 ms; the body ended at 191 ms.
func TestNamesAndValuesOfTheConventions(t *testing.T) {
	c := listen(t)
	good := func(emit func(*telemetry.Metric, float64, ...string)) {
		emit(telemetry.SLOGood, 5, "x", "h", "live", "", "0a1b2c3d")
		emit(telemetry.InFlight, 3, "main")
	}
	send(t, c, Options{State: good, Headers: map[string]string{"X-Team": "k"}, Version: "1.2"}, telemetrytest.Streamed(100, 130, 190), telemetrytest.Failed(timeline.HTTP5xx))
	all := c.last()
	for name, want := range map[string]struct {
		unit string
		n    uint64
		sum  float64
	}{
		"gen_ai.client.operation.duration":              {"s", 1, 0.191},
		"gen_ai.client.operation.time_to_first_chunk":   {"s", 1, 0.1},
		"gen_ai.client.operation.time_per_output_chunk": {"s", 2, 0.09},
		"gen_ai.server.request.duration":                {"s", 1, 0.191},
		"gen_ai.server.time_to_first_token":             {"s", 1, 0.1},
		"gen_ai.server.time_per_output_token":           {"s", 1, 0.045},
		"tokenmeter.ttft":                               {"s", 1, 0.1},
		"tokenmeter.itl":                                {"s", 2, 0.09},
	} {
		var found *pb.HistogramDataPoint
		for _, p := range histogram(t, all[name], name, want.unit) {
			if attr(p.Attributes, "error.type") == "" {
				found = p
			}
		}
		if found == nil || found.Count != want.n || math.Abs(found.GetSum()-want.sum) > 1e-9 {
			t.Errorf("%s: %v, want %d adding up to %v", name, found, want.n, want.sum)
		}
	}
	for _, p := range histogram(t, all["gen_ai.client.token.usage"], "usage", "{token}") {
		want := map[string]float64{"input": 10, "output": 3}[attr(p.Attributes, "gen_ai.token.type")]
		if p.GetSum() != want || attr(p.Attributes, "gen_ai.operation.name") != "chat" || attr(p.Attributes, "gen_ai.provider.name") != "openai" || attr(p.Attributes, "gen_ai.request.model") != "m" {
			t.Errorf("usage %v", p)
		}
	}
	failed := 0
	for _, p := range all["gen_ai.client.operation.duration"].GetHistogram().DataPoints {
		if attr(p.Attributes, "error.type") == "http_5xx" {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d failed durations", failed)
	}
	if edges := all["gen_ai.server.time_per_output_token"].GetHistogram().DataPoints[0].ExplicitBounds; !slices.Contains(edges, 0.044) {
		t.Errorf("the threshold is no edge: %v", edges)
	}
	if edges := all["tokenmeter.ttft"].GetHistogram().DataPoints[0].ExplicitBounds; !slices.Contains(edges, 0.333) {
		t.Errorf("the threshold is no edge: %v", edges)
	}
	if m := all["tokenmeter.slo.good"]; m.GetSum() == nil || !m.GetSum().IsMonotonic || m.GetSum().DataPoints[0].GetAsDouble() != 5 {
		t.Errorf("good: %v", m)
	}
	if m := all["tokenmeter.in.flight.requests"]; m.GetGauge() == nil || m.GetGauge().DataPoints[0].GetAsDouble() != 3 {
		t.Errorf("in flight: %v", m)
	}
	requests := 0.
	for _, p := range all["tokenmeter.requests"].GetSum().DataPoints {
		requests += p.GetAsDouble()
	}
	if requests != 2 || c.header.Get("X-Team") != "k" {
		t.Errorf("%v requests; header %q", requests, c.header.Get("X-Team"))
	}
	for name := range all {
		if strings.HasPrefix(name, "gen_ai.client.inference") {
			t.Errorf("%s is of the next edition", name)
		}
	}
}

func TestNamesOfTheNextEdition(t *testing.T) {
	c := listen(t)
	send(t, c, Options{Next: true, Exponential: true}, telemetrytest.Streamed(100, 130, 190))
	all := c.last()
	for _, name := range []string{"gen_ai.client.inference.duration", "gen_ai.client.inference.time_to_first_chunk", "gen_ai.client.inference.time_per_output_chunk",
		"gen_ai.client.inference.operation.input_tokens", "gen_ai.client.inference.operation.output_tokens"} {
		if all[name].GetExponentialHistogram() == nil {
			t.Errorf("%s: %v", name, all[name])
		}
	}
	if m := all["gen_ai.client.inference.usage.output_tokens"]; m.GetSum().GetDataPoints()[0].GetAsInt() != 3 {
		t.Errorf("output tokens: %v", m)
	}
	for _, name := range []string{"gen_ai.client.operation.duration", "gen_ai.client.token.usage"} {
		if all[name] != nil {
			t.Errorf("%s is of the edition before", name)
		}
	}
}

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestSpansContinueTheTrace(t *testing.T) {
	c := listen(t)
	with := telemetrytest.Streamed(100, 130, 190)
	with.Trace = parent
	unsampled := telemetrytest.Streamed(100)
	unsampled.Trace = strings.TrimSuffix(parent, "1") + "0"
	send(t, c, Options{Spans: true, NoMetrics: true}, with, unsampled, telemetrytest.Failed(timeline.HTTP5xx))
	spans := c.spans()
	if len(spans) != 2 || len(c.metrics) != 0 {
		t.Fatalf("%d spans and %d metrics, want 2 and 0", len(spans), len(c.metrics))
	}
	s := spans[0]
	if got := fmt.Sprintf("%x %x", s.TraceId, s.ParentSpanId); got != "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7" {
		t.Errorf("trace and parent are %s", got)
	}
	if s.Name != "chat m" || s.Kind != spb.Span_SPAN_KIND_CLIENT || int64(s.StartTimeUnixNano) != telemetrytest.At.UnixNano() || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(191*time.Millisecond) {
		t.Errorf("span %q, %v, %d ns", s.Name, s.Kind, s.EndTimeUnixNano-s.StartTimeUnixNano)
	}
	for name, want := range map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.usage.input_tokens": "10",
		"gen_ai.usage.output_tokens": "3", "gen_ai.response.time_to_first_chunk": "0.1", "gen_ai.response.finish_reasons": "stop", "gen_ai.request.stream": "true",
		"server.address": "127.0.0.1", "server.port": "8000", "error.type": "", "tokenmeter.outcome": "ok", "tokenmeter.tpot": "0.045"} {
		if got := attr(s.Attributes, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if f := spans[1]; f.Status.Code != spb.Status_STATUS_CODE_ERROR || attr(f.Attributes, "error.type") != "http_5xx" || len(f.ParentSpanId) != 0 {
		t.Errorf("the failed one: %v", f)
	}
}

// Neither spans nor metrics nor logs have what others said.
func TestNoKeyAndNoTexts(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	c := listen(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	tainted := telemetrytest.Tainted(key)
	send(t, c, Options{Spans: true, Headers: map[string]string{"Authorization": "Bearer " + key}, Log: logger}, tainted)
	var text strings.Builder
	for _, m := range c.metrics {
		text.WriteString(protojson.Format(m))
	}
	for _, m := range c.traces {
		text.WriteString(protojson.Format(m))
	}
	if len(c.metrics) == 0 || len(c.traces) == 0 || strings.Contains(text.String(), "canary") {
		t.Error("the key was sent, or nothing")
	}
	c.status = http.StatusBadRequest
	if e := send(t, c, Options{Spans: true, Headers: map[string]string{"Authorization": "Bearer " + key}, Log: logger}, tainted); e.Failed() != 2 {
		t.Errorf("%d batches failed, want 2", e.Failed())
	}
	c.CloseClientConnections()
	c.Close()
	if e := send(t, c, Options{Spans: true, Timeout: 200 * time.Millisecond, Log: logger}, tainted); e.Failed() != 2 {
		t.Errorf("%d batches failed, want 2", e.Failed())
	}
	if !strings.Contains(log.String(), "could not be sent") || strings.Contains(log.String(), "canary") {
		t.Error(log.String())
	}
}

// Two processes are two sources, and the environment may name them.
func TestProcessesAreToldApart(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "gateway")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod")
	c := listen(t)
	for range 2 {
		send(t, c, Options{Version: "1.2"}, telemetrytest.Streamed(100))
	}
	ids := map[string]bool{}
	for _, m := range c.metrics {
		of := m.ResourceMetrics[0].Resource.Attributes
		ids[attr(of, "service.instance.id")] = true
		if attr(of, "service.name") != "gateway" || attr(of, "deployment.environment.name") != "prod" || attr(of, "service.version") != "1.2" {
			t.Errorf("resource %v", of)
		}
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("instances %v", ids)
	}
}

func TestEstimatesAreNoUsage(t *testing.T) {
	c := listen(t)
	r := telemetrytest.Streamed(100, 130, 190)
	r.Usage = timeline.Usage{}
	send(t, c, Options{}, telemetrytest.Finish(r))
	if m := c.last()["gen_ai.client.token.usage"]; m != nil {
		t.Errorf("usage was sent: %v", m)
	}
}

func TestEndpoints(t *testing.T) {
	for _, endpoint := range []string{"", "collector:4318", "ftp://x", "http://"} {
		if e, err := New(t.Context(), Options{Endpoint: endpoint}, nil); err == nil {
			e.Close(t.Context())
			t.Errorf("%q was taken", endpoint)
		}
	}
}

func BenchmarkDone(b *testing.B) {
	e := quiet(b)
	r := telemetrytest.Streamed(100, 130, 190)
	b.ReportAllocs()
	for b.Loop() {
		e.Done(r)
	}
}

func BenchmarkTake(b *testing.B) {
	e := quiet(b)
	r := telemetrytest.Many(1, 3)[0]
	b.ReportAllocs()
	for b.Loop() {
		e.take(r)
	}
}

func quiet(b *testing.B) *Exporter {
	c := listen(b)
	e, err := New(b.Context(), Options{Endpoint: c.URL, Spans: true}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close(context.Background()) })
	return e
}
