//go:build !lean

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/imports"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

var aiperfRun = filepath.FromSlash("../../record/imports/testdata/aiperf-run")

// readingsBeside lays files of one run of AIPerf beside its requests.
func readingsBeside(t *testing.T, names ...string) *metric.ServerMetrics {
	t.Helper()
	m, err := tryBeside(t, names...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func tryBeside(t *testing.T, names ...string) (*metric.ServerMetrics, error) {
	t.Helper()
	in, err := readImport(filepath.Join(aiperfRun, "profile_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := span{fromUS: math.MaxInt64}
	m, err := imports.Recognise(in.Head()).Read(in, func(tl *timeline.Timeline) error { all.add(tl); return nil })
	if err != nil {
		t.Fatal(err)
	}
	var beside []*imports.Input
	for _, name := range names {
		b, err := readImport(filepath.Join(aiperfRun, name))
		if err != nil {
			t.Fatal(err)
		}
		beside = append(beside, b)
	}
	_, err = readServerReadings(beside, in.ZeroS, &all, &m)
	return m.ServerMetrics, err
}

// Of each of the three forms in which AIPerf 0.13.0 writes what a server told, our
// figures are AIPerf's own.
func TestServerMetricsOfAIPerfAreItsOwn(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(aiperfRun, "server_metrics_export.json"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Metrics map[string]struct {
			Series []struct {
				Stats struct{ Total, Avg, Max, Sum, Count float64 }
			}
		}
	}
	if err := json.Unmarshal(data, &said); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server_metrics_export.json", "server_metrics_export.jsonl", "server_metrics_export.parquet"} {
		m := readingsBeside(t, name)
		for theirs, ours := range map[string]string{"vllm:generation_tokens": "output_tokens", "vllm:prompt_tokens": "prompt_tokens", "vllm:request_success": "requests"} {
			want := 0.0
			for _, s := range said.Metrics[theirs].Series {
				want += s.Stats.Total
			}
			if got := m.Counters[ours].Total; got != want || want == 0 {
				t.Errorf("%s: %s grew by %v, AIPerf says %v", name, ours, got, want)
			}
		}
		for theirs, ours := range map[string]string{"vllm:time_to_first_token_seconds": "ttft", "vllm:request_prefill_time_seconds": "prefill",
			"vllm:request_decode_time_seconds": "decode", "vllm:e2e_request_latency_seconds": "e2e", "vllm:inter_token_latency_seconds": "itl"} {
			want, got := said.Metrics[theirs].Series[0].Stats, m.Times[ours]
			if float64(got.N) != want.Count || math.Abs(got.MeanMS.Or(0)-1000*want.Avg) > 1e-9 {
				t.Errorf("%s: %s %+v, AIPerf says %+v", name, ours, got, want)
			}
		}
		if got, want := m.Gauges["running"].Max, said.Metrics["vllm:num_requests_running"].Series[0].Stats.Max; got != want {
			t.Errorf("%s: at most %v running, AIPerf says %v", name, got, want)
		}
		if m.Engine != "vllm" || len(m.Sources) != 1 || m.Sources[0].URL != "http://127.0.0.1:18080/metrics" || !(m.EveryS > 0.2 && m.EveryS < 1) {
			t.Errorf("%s: %s, every %v s, %+v", name, m.Engine, m.EveryS, m.Sources)
		}
	}
}

// The exporter that AIPerf read showed two GPUs of 300 and 350 W by their meters.
func TestGPUTelemetryOfAIPerf(t *testing.T) {
	var sum metric.Summary
	sum.Throughput.SystemOutputTPS = timeline.Some(100.0)
	sum.WithServer(readingsBeside(t, "gpu_telemetry_export.jsonl", "server_metrics_export.jsonl"))
	g := sum.GPU
	if g == nil || g.GPUs.Or(0) != 2 || math.Abs(g.PowerW.Or(0)-650) > 2 || math.Abs(g.JPerOutputToken.Or(0)-6.5) > 0.02 ||
		math.Abs(g.SMActive.Mean-0.55) > 1e-9 || !(g.Utilization.Mean > 0.64 && g.Utilization.Mean < 0.71) {
		t.Errorf("%+v", g)
	}
}

// AIPerf writes the same readings in three forms: whoever names two of them would have
// counted a page twice.
func TestOnePageOfTwoFiles(t *testing.T) {
	names := []string{"server_metrics_export.json", "server_metrics_export.jsonl", "server_metrics_export.parquet"}
	for _, a := range names {
		for _, b := range names {
			if a == b {
				continue
			}
			if m, err := tryBeside(t, a, b); err == nil || !strings.Contains(err.Error(), "hold readings of the same page, http://127.0.0.1:18080/metrics: name one of them") {
				t.Errorf("%s and %s: %v, %+v", a, b, err, m)
			}
		}
	}
}
