package otel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// The GenAI conventions v0.1.0 as they stand in open-telemetry/semantic-conventions-genai:
// docs/gen-ai/client-inference.md, client-embeddings.md, gen-ai-metrics.md and
// model/gen-ai/token-metrics.yaml. Every metric of a client or a server is here.
var (
	bounds1 = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	bounds2 = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	bounds3 = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	bounds4 = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
)

var conventions = []struct {
	name, unit string
	bounds     []float64 // nil: a counter
	modality   bool      // gen_ai.token.modality is required
	errors     bool      // may have error.type
}{
	{"gen_ai.client.inference.duration", "s", bounds1, false, true},
	{"gen_ai.client.inference.time_to_first_chunk", "s", bounds1, false, false},
	{"gen_ai.client.inference.time_per_output_chunk", "s", bounds1, false, false},
	{"gen_ai.client.inference.usage.input_tokens", "{token}", nil, true, false},
	{"gen_ai.client.inference.usage.output_tokens", "{token}", nil, true, false},
	{"gen_ai.client.inference.usage.cache_read.input_tokens", "{token}", nil, true, false},
	{"gen_ai.client.inference.usage.cache_write.input_tokens", "{token}", nil, true, false},
	{"gen_ai.client.inference.usage.reasoning.output_tokens", "{token}", nil, true, false},
	{"gen_ai.client.inference.operation.input_tokens", "{token}", bounds2, false, true},
	{"gen_ai.client.inference.operation.output_tokens", "{token}", bounds2, false, true},
	{"gen_ai.client.embeddings.duration", "s", bounds1, false, true},
	{"gen_ai.client.embeddings.operation.input_tokens", "{token}", bounds2, false, false},
	{"gen_ai.server.request.duration", "s", bounds1, false, true},
	{"gen_ai.server.time_to_first_token", "s", bounds3, false, false},
	{"gen_ai.server.time_per_output_token", "s", bounds4, false, false},
}

func embedded() *traffic.Request {
	r := telemetrytest.Streamed(100)
	r.Labels.API, r.API, r.Streamed, r.Asked = "embeddings", "embeddings", false, false
	return telemetrytest.Finish(r)
}

func TestEveryNameOfTheConventions(t *testing.T) {
	full := telemetrytest.Streamed(100, 130, 190)
	full.Usage.Cached, full.Usage.CacheWrite, full.Usage.Reasoning = timeline.Some(int64(4)), timeline.Some(int64(2)), timeline.Some(int64(1))
	c := listen(t)
	send(t, c, Options{Next: true}, telemetrytest.Finish(full), telemetrytest.Failed(timeline.HTTP5xx), embedded())
	sent := c.last()
	for _, want := range conventions {
		m := sent[want.name]
		if m == nil || m.Unit != want.unit {
			t.Errorf("%s in %s: sent is %v", want.name, want.unit, m)
			continue
		}
		var points [][]*commonpb.KeyValue
		if want.bounds == nil {
			if s := m.GetSum(); s == nil || !s.IsMonotonic || s.AggregationTemporality != pb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
				t.Errorf("%s is no counter", want.name)
			}
			for _, p := range m.GetSum().GetDataPoints() {
				points = append(points, p.Attributes)
			}
		} else {
			for _, p := range m.GetHistogram().GetDataPoints() {
				points = append(points, p.Attributes)
				for _, le := range want.bounds {
					if !slices.Contains(p.ExplicitBounds, le) {
						t.Errorf("%s has no bound %v", want.name, le)
					}
				}
			}
		}
		failed := false
		for _, attributes := range points {
			failed = failed || attr(attributes, "error.type") != ""
			allowed := []string{"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"}
			for _, name := range allowed {
				if attr(attributes, name) == "" {
					t.Errorf("%s has no %s", want.name, name)
				}
			}
			if want.modality && attr(attributes, "gen_ai.token.modality") == "" {
				t.Errorf("%s has no gen_ai.token.modality", want.name)
			}
			for _, a := range attributes {
				if !slices.Contains(allowed, a.Key) && !strings.HasPrefix(a.Key, "tokenmeter.") &&
					!(want.modality && a.Key == "gen_ai.token.modality") && !(want.errors && a.Key == "error.type") {
					t.Errorf("%s has the attribute %s", want.name, a.Key)
				}
			}
		}
		if want.errors && !strings.Contains(want.name, "embeddings") && !failed {
			t.Errorf("%s does not have the failed request", want.name)
		}
	}
	for name := range sent {
		if strings.HasPrefix(name, "gen_ai.") && !slices.ContainsFunc(conventions, func(c struct {
			name, unit string
			bounds     []float64
			modality   bool
			errors     bool
		}) bool {
			return c.name == name
		}) {
			t.Errorf("%s is no name of the conventions", name)
		}
	}
}

// A usage counter gets 0 of unknown modality where no usage came, failed requests among
// them; a chat's tokens may be of a picture, those of a completion are text.
func TestUsageOfTheConventions(t *testing.T) {
	complete := telemetrytest.Streamed(100, 130)
	complete.Labels.API = "openai-completions"
	silent := telemetrytest.Streamed(100, 130, 190)
	silent.Usage = timeline.Usage{}
	unread := telemetrytest.Streamed(100, 130)
	unread.Unmeasured = "encoding"
	for _, c := range []struct {
		name     string
		r        *traffic.Request
		modality string
		tokens   int64
	}{
		{"chat", telemetrytest.Streamed(100, 130, 190), "unknown", 3},
		{"completion", telemetrytest.Finish(complete), "text", 2},
		{"no usage", telemetrytest.Finish(silent), "unknown", 0},
		{"failed", telemetrytest.Failed(timeline.HTTP429), "unknown", 0},
		{"not measured", telemetrytest.Finish(unread), "", 0},
		{"embeddings", embedded(), "", 0},
	} {
		to := listen(t)
		send(t, to, Options{Next: true}, c.r)
		m := to.last()["gen_ai.client.inference.usage.output_tokens"]
		got := "nothing"
		for _, p := range m.GetSum().GetDataPoints() {
			got = fmt.Sprint(attr(p.Attributes, "gen_ai.token.modality"), " ", p.GetAsInt())
		}
		want := fmt.Sprint(c.modality, " ", c.tokens)
		if c.modality == "" {
			want = "nothing"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// Attributes of a span that depend on how the request went.
func TestSpansOfTheConventions(t *testing.T) {
	whole := telemetrytest.Streamed(100)
	whole.Asked, whole.Streamed = false, false
	whole.Usage.CacheWrite = timeline.Some(int64(7))
	broken := telemetrytest.Streamed(100, 130)
	broken.FinishReason = ""
	broken.Fail(timeline.StreamTruncated, "cut off")
	refused := telemetrytest.Failed(timeline.HTTP5xx)
	refused.HTTPStatus = 503
	c := listen(t)
	send(t, c, Options{Next: true, Spans: true, NoMetrics: true}, telemetrytest.Finish(whole), telemetrytest.Finish(broken), refused)
	spans := c.spans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, want := range []map[string]string{
		{"gen_ai.request.stream": "", "gen_ai.usage.cache_write.input_tokens": "7", "gen_ai.response.finish_reasons": "stop", "gen_ai.response.time_to_first_chunk": "", "error.type": ""},
		{"gen_ai.request.stream": "true", "gen_ai.usage.cache_write.input_tokens": "", "gen_ai.response.finish_reasons": "error", "error.type": string(timeline.StreamTruncated)},
		{"gen_ai.response.finish_reasons": "", "error.type": "http_5xx"},
	} {
		for name, value := range want {
			if got := attr(spans[i].Attributes, name); got != value {
				t.Errorf("span %d: %s is %q, want %q", i, name, got, value)
			}
		}
	}
}
