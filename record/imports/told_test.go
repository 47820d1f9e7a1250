package imports

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// summaryOf imports a file of testdata that has no request.
func summaryOf(t *testing.T, name string, part int) run.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInput(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	in.Part = part
	from := Recognise(in.Head())
	if from == nil {
		t.Fatalf("%s is not recognised", name)
	}
	m, err := from.Read(in, func(*timeline.Timeline) error {
		t.Errorf("%s: a request out of nothing", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Told == nil {
		t.Fatalf("%s told nothing", name)
	}
	return m
}

// The figures that stand in the files, in our units.
func TestFiguresOfWholeRuns(t *testing.T) {
	for _, c := range []struct {
		file   string
		part   int
		metric string
		stat   string
		want   float64
	}{
		{"mlperf_log_summary.txt", 0, "ttft_ms", "mean", 918.456323},
		{"mlperf_log_summary.txt", 0, "ttft_ms", "p999", 2562.462764},
		{"mlperf_log_summary.txt", 0, "tpot_ms", "p99", 193.380124},
		{"mlperf_log_summary.txt", 0, "e2e_ms", "max", 165057.12734},
		{"mlperf_log_detail.txt", 0, "ttft_ms", "mean", 918.456323},
		{"mlperf_log_detail.txt", 0, "tpot_ms", "p99", 193.380124},
		{"mlperf_log_detail.txt", 0, "tpot_ms", "mean", 144.594078},
		{"mlperf_log_detail.txt", 0, "e2e_ms", "p50", 38401.775522},
		{"endpoints.json", 0, "ttft_ms", "p99", 200},
		{"endpoints.json", 0, "tpot_ms", "mean", 8.7},
		{"endpoints.json", 0, "output_tokens", "p50", 48},
		{"inferencex.json", 2, "ttft_ms", "mean", 250},
		{"inferencex.json", 2, "tpot_ms", "p99", 14},
		{"inferencex_agents.json", 1, "ttft_ms", "p50", 720},
		{"inferencex_agents.json", 1, "tpot_ms", "p95", 30},
		{"inferencex_agents.json", 1, "output_tokens", "mean", 500},
		{"inferencex_agents.json", 2, "e2e_ms", "mean", 12000},
		{"inferencex_agents.json", 2, "input_tokens", "p90", 50000},
		{"inferencex_api.json", 1, "ttft_ms", "mean", 94},
		{"inferencex_api.json", 1, "icl_ms", "p50", 20},
		{"inferencex_api.json", 1, "tpot_ms", "p99", 30},
		{"inferencex_api.json", 2, "ttft_ms", "p90", 1040},
		{"inferencex_api.json", 2, "input_tokens", "mean", 50000},
		{"llmd.yaml", 0, "ttft_ms", "p999", 57.014757215045425},
		{"llmd.yaml", 0, "tpot_ms", "mean", 36.8578234128654},
		{"llmd.yaml", 0, "input_tokens", "p95", 2294},
		{"llamabench.md", 2, "e2e_tps", "mean", 19904.09},
		{"llamabench.md", 2, "e2e_tps", "sd", 291.76},
		{"llamabench_terminal.txt", 2, "e2e_tps", "mean", 61.03},
		{"llamabench_terminal.txt", 4, "e2e_tps", "sd", 2.35},
		{"llamabench.csv", 1, "ttft_ms", "mean", 0.907668},
		{"llamabench.csv", 2, "e2e_ms", "sd", 0.047507},
		{"aiperf_profile.json", 0, "ttft_ms", "p99", 387.13670486},
		{"aiperf_profile.json", 0, "tpot_ms", "mean", 2.7625583311977584},
		{"vllm_summary.json", 0, "icl_ms", "p99", 12.5},
		{"vllm_summary.json", 0, "tpot_ms", "p50", 9.9},
	} {
		m := summaryOf(t, c.file, c.part)
		d := m.Told.Metrics[c.metric]
		v, _ := d.Stat(c.stat)
		if got, ok := v.Get(); !ok || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %s of %s is %v, the file says %v", c.file, c.stat, c.metric, got, c.want)
		}
	}
	m := summaryOf(t, "mlperf_log_detail.txt", 0)
	if m.Told.OK.Or(0) != 73728 || m.Told.Throughput.SystemOutputTPS.Or(0) != 24593.8 || m.Load.Kind != "open" {
		t.Errorf("%+v, %s", m.Told, m.Load.Kind)
	}
	m = summaryOf(t, "endpoints.json", 0)
	if m.Told.OK.Or(0) != 2000 || m.Told.Throughput.WindowS.Or(0) != 475.7 || m.Told.Throughput.RequestsPerS.Or(0) != 4.2 {
		t.Errorf("%+v", m.Told)
	}
	m = summaryOf(t, "inferencex.json", 1)
	if m.Load.Concurrency.Or(0) != 4 || m.Target.Model != "org/model" {
		t.Errorf("%+v", m.Load)
	}
	// Rows of agents' sessions have the whole server's rates. Of their counts, in all the 500 lines
	// that AIPerf wrote (load_records_with_accounting), 4 were of the warm-up and 6 others failed.
	m = summaryOf(t, "inferencex_agents.json", 1)
	if got := m.Told; got.OK.Or(0) != 490 || got.Failed.Or(0) != 6 || got.Total.Or(0) != 496 || got.Throughput.SuccessOutputTPS.Or(0) != 1500 ||
		got.Throughput.WindowS.Or(0) != 1800 || got.Metrics["icl_ms"].Mean.OK() {
		t.Errorf("%+v", got)
	}
	m = summaryOf(t, "inferencex_agents.json", 2) // flat, of utils/agentic/process_agentic_result.py: failures were counted nowhere
	if got := m.Told; got.OK.Or(0) != 490 || got.Failed.OK() || got.Total.OK() || got.Throughput.SystemInOutTPS.Or(0) != 101500 || got.Metrics["icl_ms"].Mean.OK() {
		t.Errorf("%+v", got)
	}
	// Rows of the public API (SemiAnalysisAI/InferenceX-app, packages/constants/src/metric-keys.ts): the
	// completed requests of agents' are the server's count.
	m = summaryOf(t, "inferencex_api.json", 1)
	if m.Name != "h200_sxm vllm dsr1 fp8 prefill_tp=8 decode_tp=8 spec_method=none isl=1024 osl=1024 conc=32 date=2026-08-08" || m.Load.Concurrency.Or(0) != 32 || m.Target.Model != "dsr1" {
		t.Errorf("%s: %+v", m.Name, m.Load)
	}
	m = summaryOf(t, "inferencex_api.json", 2)
	if got := m.Told; got.OK.OK() || got.Throughput.WindowS.Or(0) != 1800 || got.Throughput.SuccessOutputTPS.Or(0) != 1500 || got.Metrics["icl_ms"].Mean.OK() {
		t.Errorf("%s: %+v", m.Name, got)
	}
	// The first rows (utils/process_result.py at 00e51cc7) have no infmax_model_prefix.
	if m := Recognise([]byte(`{"hw":"h200","tp":8,"conc":4,"model":"m","framework":"sglang","tput_per_gpu":100.0,"mean_ttft":0.2}`)); m == nil || m.Name != "inferencex" {
		t.Errorf("a first row is of %v", m)
	}
	// vLLM divides deviations by n, which its file does not say: ours can't be told.
	m = summaryOf(t, "vllm_summary.json", 0)
	if m.Told.OK.Or(0) != 10 || m.Told.Failed.Or(0) != 1 || m.Told.Metrics["ttft_ms"].SD.OK() {
		t.Errorf("%+v", m.Told.Metrics["ttft_ms"])
	}
}

// SGLang's --output-details and older versions of vLLM list every request, not when it
// began (sglang/bench_serving.py: the dictionary result): the figures of the whole run
// are taken, however long the lists are.
func TestListsWithoutStarts(t *testing.T) {
	file := `{"backend":"sglang","request_rate":4.0,"max_concurrency":null,"duration":2.5,"completed":2,"request_throughput":0.8,
"input_lens":[10,20],"output_lens":[2,1],"mean_e2e_latency_ms":150.0,"mean_ttft_ms":125.0,"median_ttft_ms":120.0,"p99_ttft_ms":149.0,
"ttfts":[0.1,0.15],"itls":[[0.05],[]],"generated_texts":["` + strings.Repeat("x", mostFigures) + `",""],"errors":["",""]}`
	in, err := NewInput("f", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Recognise([]byte(file[:1000])).Read(in, func(*timeline.Timeline) error { t.Error("a request without a beginning"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	d := m.Told.Metrics["ttft_ms"]
	if p50, _ := d.Stat("p50"); p50.Or(0) != 120 || d.Mean.Or(0) != 125 || m.Told.OK.Or(0) != 2 || m.Told.Throughput.RequestsPerS.Or(0) != 0.8 || m.Load.RatePerS.Or(0) != 4 {
		t.Errorf("%+v", m.Told)
	}
	if notes := strings.Join(in.Notes, "; "); !strings.Contains(notes, "start_times") {
		t.Error(notes)
	}
}

// llm-d's reports are written by PyYAML: an open loop has the concurrency .inf, as in
// br_v0_2_example.yaml of llm-d-benchmark, and what nothing was measured of is .nan.
func TestYAMLWithoutNumber(t *testing.T) {
	in, err := NewInput("f", strings.NewReader(`version: '0.2'
scenario: {load: {standardized: {tool: inference-perf, rate_qps: 10, concurrency: .inf}}}
results:
  request_performance:
    aggregate:
      requests: {total: 5, failures: 0}
      latency:
        time_to_first_token: {units: s, mean: 0.25, p50: .nan, min: .inf, max: -.inf}
        request_latency: {units: s, mean: .nan}
      throughput:
        request_rate: {units: queries/s, mean: .inf}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Recognise(in.data).Read(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Load.Kind != "open" || m.Load.RatePerS.Or(0) != 10 || m.Load.Concurrency.OK() || m.Told.Throughput.RequestsPerS.OK() {
		t.Errorf("%+v, %+v", m.Load, m.Told.Throughput)
	}
	d := m.Told.Metrics["ttft_ms"]
	p50, _ := d.Stat("p50")
	if d.Mean.Or(0) != 250 || p50.OK() || d.Min.OK() || d.Max.OK() || m.Told.Metrics["e2e_ms"].Mean.OK() || m.Told.OK.Or(0) != 5 {
		t.Errorf("%+v", m.Told)
	}
}

// A file of one run says so where another part of it was asked for.
func TestOneRunInWords(t *testing.T) {
	if got := (&PartError{Name: "f", Parts: []string{"all"}}).Error(); got != "f holds one run; 1: all" {
		t.Error(got)
	}
}

// LoadGen's log tells latencies of samples; a query of Offline is of many, and MultiStream is
// judged by queries, as its summary prints. Source: loadgen/results.cc, and logs of
// mlcommons-loadgen 6.0.17, whose figures these are.
func TestLoadGensSamplesAndQueries(t *testing.T) {
	log := func(pairs ...string) string {
		var b strings.Builder
		for i := 0; i < len(pairs); i += 2 {
			fmt.Fprintf(&b, ":::MLLOG {\"key\": %q, \"value\": %s}\n", pairs[i], pairs[i+1])
		}
		return b.String() + ":::MLLOG {\"key\": \"num_errors\", \"value\": 0}\n"
	}
	for _, c := range []struct {
		name, log string
		n         int64
		p50       float64 // ms
	}{
		{"Offline", log("effective_scenario", `"Offline"`, "generated_samples_per_query", "66", "result_query_count", "1", "result_50.00_percentile_latency_ns", "363083311"), 66, 363.083311},
		{"MultiStream", log("effective_scenario", `"MultiStream"`, "generated_samples_per_query", "4", "result_query_count", "50", "result_50.00_percentile_per_query_latency_ns", "25578171",
			"result_min_query_latency_ns", "22898377", "result_min_latency_ns", "4231451", "result_50.00_percentile_latency_ns", "16889091"), 50, 25.578171},
		{"SingleStream", log("effective_scenario", `"SingleStream"`, "generated_samples_per_query", "1", "result_query_count", "80", "result_50.00_percentile_latency_ns", "7000000"), 80, 7},
		{"Server", log("effective_scenario", `"Server"`, "result_query_count", "80", "result_50.00_percentile_latency_ns", "7000000"), 80, 7},
	} {
		in, err := NewInput("f", strings.NewReader(c.log))
		if err != nil {
			t.Fatal(err)
		}
		m, err := readMLPerf(in, nil)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if d := m.Told.Metrics["e2e_ms"]; d.N != c.n || math.Abs(d.P50.Or(0)-c.p50) > 1e-9 || m.Told.Total.Or(0) != c.n || c.name == "MultiStream" && math.Abs(d.Min.Or(0)-22.898377) > 1e-9 {
			t.Errorf("%s: %d of %v, p50 %v, min %v", c.name, d.N, m.Told.Total, d.P50, d.Min)
		}
	}
}

// A run that its tool says was cut short is no whole one. Source: mlcommons/endpoints,
// metrics/report.py (state, complete); AIPerf 0.13.0, common/models/export_models.py.
func TestRunsCutShort(t *testing.T) {
	for name, c := range map[string]struct {
		read func(*Input, func(*timeline.Timeline) error) (run.Run, error)
		file string
		want bool
	}{
		"Endpoints":              {readEndpoints, `{"n_samples_issued":9,"n_samples_completed":9,"n_samples_failed":0,"state":"complete","complete":true,"ttft":{"avg":3}}`, false},
		"Endpoints' interrupted": {readEndpoints, `{"n_samples_issued":9,"n_samples_completed":5,"n_samples_failed":0,"state":"interrupted","complete":false,"ttft":{"avg":3}}`, true},
		"Endpoints' incomplete":  {readEndpoints, `{"n_samples_issued":9,"n_samples_completed":9,"n_samples_failed":0,"state":"complete","complete":false,"ttft":{"avg":3}}`, true},
		"AIPerf's":               {readAIPerf, `{"schema_version":"1.0","was_cancelled":false,"request_latency":{"unit":"ms","avg":3,"count":9}}`, false},
		"AIPerf's cancelled":     {readAIPerf, `{"schema_version":"1.0","was_cancelled":true,"request_latency":{"unit":"ms","avg":3,"count":9}}`, true},
	} {
		in, err := NewInput("f", strings.NewReader(c.file))
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.read(in, nil)
		if err != nil || m.Partial != c.want {
			t.Errorf("%s: partial %v, %v", name, m.Partial, err)
		}
	}
	// What qps and tps are of stands beside the run's length where the two differ.
	in, err := NewInput("f", strings.NewReader(`{"n_samples_issued":9,"duration_ns":1e10,"legacy_loadgen_window_duration_ns":8e9,"tps":1250}`))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := readEndpoints(in, nil); err != nil || m.Told.Throughput.WindowS.Or(0) != 8 {
		t.Errorf("%+v, %v", m.Told, err)
	}
}

// llama-bench writes a ± between mean and deviation (tools/llama-bench/llama-bench.cpp); terminals of
// other code pages make other letters of its bytes, and people write what they can type.
func TestLLAMABenchDeviations(t *testing.T) {
	for cell, want := range map[string][2]float64{
		"5.00 ± 0.10": {5, 0.1}, "5.00±0.10": {5, 0.1}, "5.00 +/- 0.10": {5, 0.1}, "5.00 +- 0.10": {5, 0.1}, "5.00 ┬▒ 0.10": {5, 0.1}, "5.00 Â± 0.10": {5, 0.1},
		"5.00 \xb1 0.10": {5, 0.1}, "5.00": {5, -1}, "5e2": {500, -1}, "five": {-1, -1}, "5.00 of 6": {-1, -1}, "-5.00 ± 0.10": {-1, -1},
	} {
		in, err := NewInput("f", strings.NewReader("| model | test | t/s |\n| --- | --- | --- |\n| m | tg5 | "+cell+" |\n"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := readLLAMABench(in, nil)
		if (err != nil) != (want[0] < 0) {
			t.Errorf("%s: %v", cell, err)
			continue
		} else if err != nil {
			continue
		}
		if d := m.Told.Metrics["e2e_tps"]; d.Mean.Or(-1) != want[0] || d.SD.Or(-1) != want[1] {
			t.Errorf("%s: %v, %v", cell, d.Mean, d.SD)
		}
	}
}
