package otel

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"
)

// A real OpenTelemetry Collector takes what is sent, metrics and spans, of both
// editions. tools/otelcol/build makes one.
func TestAgainstACollector(t *testing.T) {
	program := os.Getenv("OTELCOL")
	if program == "" {
		var err error
		if program, err = exec.LookPath("otelcol"); err != nil {
			t.Skip("otelcol is neither named by OTELCOL nor on PATH")
		}
	}
	address, log := begin(t, program)
	r := telemetrytest.Streamed(100, 130, 190)
	r.Trace = parent
	for _, opt := range []Options{{Spans: true}, {Spans: true, Next: true, Exponential: true}} {
		opt.Endpoint = "http://" + address
		opt.State = func(emit func(*telemetry.Metric, float64, ...string)) {
			emit(telemetry.SLOGood, 5, "x", "h", "live", "", "0a1b2c3d")
		}
		e, err := New(t.Context(), opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Done(r)
		e.Close(context.Background())
		if e.Failed() != 0 {
			t.Errorf("%d batches were refused", e.Failed())
		}
	}
	for _, want := range []string{"-> Name: gen_ai.client.operation.duration", "-> Name: gen_ai.client.token.usage", "-> Name: gen_ai.client.operation.time_to_first_chunk",
		"-> Name: gen_ai.client.operation.time_per_output_chunk", "-> Name: gen_ai.server.time_to_first_token", "-> Name: gen_ai.server.time_per_output_token",
		"-> Name: gen_ai.client.inference.duration", "-> Name: tokenmeter.ttft", "-> Name: tokenmeter.slo.good", "-> DataType: ExponentialHistogram", "-> DataType: Histogram",
		"Sum: 0.045000", "Parent ID      : 00f067aa0ba902b7", "Trace ID       : 4bf92f3577b34da6a3ce929d0e0e4736", "-> gen_ai.usage.output_tokens: Int(3)",
		"schemas/1.41.0", "-> service.name: Str(tokenmeter)"} {
		if log.has(want) {
			continue
		}
		t.Errorf("the collector does not say %q", want)
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

// output is what a program says, read while it goes on.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// has waits for a text.
func (o *output) has(text string) bool {
	for range 300 {
		if strings.Contains(o.String(), text) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func begin(t *testing.T, program string) (address string, log *output) {
	t.Helper()
	address = telemetrytest.Address(t)
	file := filepath.Join(t.TempDir(), "collector.yaml")
	text := fmt.Sprintf(`receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {debug: {verbosity: detailed, use_internal_logger: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [debug]}
    traces: {receivers: [otlp], exporters: [debug]}
`, address)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log = &output{}
	cmd := exec.Command(program, "--config", file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if !log.has("Everything is ready") {
		t.Fatalf("the collector does not get ready:\n%s", log)
	}
	return address, log
}
