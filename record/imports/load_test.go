package imports

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// llmd is a report of llm-d with some text in its run and its load.
func llmd(when, load string) string {
	return `{"version":"0.2","run":{"uid":"u","time":{` + when + `}},"scenario":{"load":{"standardized":{"tool":"vllm",` + load + `}}},"results":{"request_performance":{"aggregate":{"latency":{"request_latency":{"mean":1,"units":"s"}}}}}}`
}

// What the load was is taken from what each tool writes of it, and not known where it
// writes nothing.
func TestLoads(t *testing.T) {
	const aiperf = `{"schema_version":"1.5","request_latency":{"unit":"ms","avg":5},"request_count":{"avg":2},"input_config":{"phases":[`
	const vllm = `{"ttfts":[0.1],"itls":[[0.05]],"input_lens":[1],"output_lens":[2],"start_times":[0]`
	const older = `{"request_throughput":{"unit":"requests/sec","avg":2},"request_latency":{"unit":"ms","avg":5},"request_count":{"unit":"requests","avg":2},"input_config":{"loadgen":`
	const endpoints = `{"n_samples_issued":2,"n_samples_completed":2,"duration_ns":5000000000,"ttft":{"avg":3},"run_config":{"load_pattern":`
	rate, streams := timeline.Some[float64], timeline.Some[int64]
	for _, c := range []struct {
		from, file string
		want       run.Load
	}{
		// aiperf/config/phases.py
		{"aiperf", aiperf + `{"kind":"warmup","type":"concurrency","concurrency":2},{"kind":"profiling","type":"poisson","rate":4.0}]}}`,
			run.Load{Kind: "open", Arrival: "poisson", RatePerS: rate(4)}},
		{"aiperf", aiperf + `{"kind":"profiling","type":"concurrency","concurrency":8}]}}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		{"aiperf", aiperf + `{"kind":"profiling","type":"fixed_schedule"}]}}`, run.Load{Kind: "open"}},
		{"aiperf", aiperf + `{"type":"concurrency","concurrency":1},{"type":"concurrency","concurrency":4}]}}`, run.Load{}},
		{"aiperf", aiperf + `]}}`, run.Load{}},
		{"aiperf", `{"metadata":{"request_start_ns":1e9,"request_end_ns":2e9,"benchmark_phase":"profiling"},"metrics":{}}`, run.Load{}},
		{"aiperf", aiperf + `{"type":"gamma","rate":4.0,"smoothness":0.5}]}}`, run.Load{Kind: "open", Arrival: "gamma", Burstiness: rate(0.5), RatePerS: rate(4)}},
		// aiperf/common/config of 0.2 to 0.8: loadgen_config.py, user_config.py validate_timing_mode
		{"aiperf", older + `{"concurrency":8,"request_rate_mode":"concurrency_burst"}},"was_cancelled":false}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		{"aiperf", older + `{"request_rate":4.0}},"was_cancelled":false}`, run.Load{Kind: "open", Arrival: "poisson", RatePerS: rate(4)}},
		{"aiperf", older + `{"request_rate":4.0,"concurrency":8,"request_rate_mode":"constant"}},"was_cancelled":false}`, run.Load{Kind: "open", Arrival: "constant", RatePerS: rate(4), Concurrency: streams(8)}},
		{"aiperf", older + `{"request_rate":4.0,"arrival_pattern":"gamma","arrival_smoothness":2}},"schema_version":"1.0"}`, run.Load{Kind: "open", Arrival: "gamma", Burstiness: rate(2), RatePerS: rate(4)}},
		{"aiperf", older + `{"concurrency":8},"input":{"fixed_schedule":true}},"was_cancelled":false}`, run.Load{Kind: "open"}},
		{"aiperf", older + `{"concurrency":8},"input":{"custom_dataset_type":"mooncake_trace"}},"was_cancelled":false}`, run.Load{}},
		{"aiperf", older + `{"concurrency":[8,16]}},"was_cancelled":false}`, run.Load{}},
		// vllm/benchmarks/serve.py: a ramp demands a rate of inf, which without a limit is all at once
		{"vllm", vllm + `,"request_rate":4}`, run.Load{Kind: "open", RatePerS: rate(4)}},
		{"vllm", vllm + `,"request_rate":4,"burstiness":1.0}`, run.Load{Kind: "open", RatePerS: rate(4), Arrival: "poisson"}},
		{"vllm", vllm + `,"request_rate":4,"burstiness":0.5,"max_concurrency":8}`, run.Load{Kind: "open", RatePerS: rate(4), Arrival: "gamma", Burstiness: rate(0.5), Concurrency: streams(8)}},
		{"vllm", vllm + `,"request_rate":"inf","burstiness":1.0,"max_concurrency":8}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		// guidellm/scheduler/strategies.py: AsyncConstantStrategy, AsyncPoissonStrategy
		{"guidellm", `{"benchmarks":[{"config":{"strategy":{"type_":"poisson","rate":4.0,"max_concurrency":10240}}}]}`, run.Load{Kind: "open", RatePerS: rate(4), Arrival: "poisson"}},
		{"guidellm", `{"benchmarks":[{"config":{"strategy":{"type_":"constant","rate":4.0}}}]}`, run.Load{Kind: "open", RatePerS: rate(4), Arrival: "constant"}},
		{"guidellm", `{"benchmarks":[{"config":{"strategy":{"type_":"concurrent","streams":4}}}]}`, run.Load{Kind: "closed", Concurrency: streams(4)}},
		{"vllm", vllm + `,"request_rate":"inf","max_concurrency":null,"ramp_up_strategy":"linear","ramp_up_start_rps":1,"ramp_up_end_rps":8}`, run.Load{Kind: "open"}},
		{"vllm", vllm + `,"request_rate":"inf","max_concurrency":null}`, run.Load{Kind: "open"}},
		{"vllm", vllm + `,"request_rate":"inf","max_concurrency":8}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		// sglang/benchmark/serving.py 0.5.23: "trace" where use_trace_timestamps
		{"vllm", vllm + `,"request_rate":"trace","max_concurrency":64}`, run.Load{Kind: "open", Arrival: "trace", Concurrency: streams(64)}},
		{"vllm", vllm + `,"request_rate":"trace","max_concurrency":null}`, run.Load{Kind: "open", Arrival: "trace"}},
		{"vllm", vllm + `}`, run.Load{}},
		// llmdbenchmark/analysis/benchmark_report/native_to_br0_2.py import_vllm_benchmark: request_rate and max_concurrency
		{"llm-d", llmd(`"duration":"PT1S"`, `"rate_qps":10.0,"concurrency":64`), run.Load{Kind: "open", RatePerS: rate(10), Concurrency: streams(64)}},
		{"llm-d", llmd(`"duration":"PT1S"`, `"rate_qps":null,"concurrency":64`), run.Load{Kind: "closed", Concurrency: streams(64)}},
		// src/inference_endpoint/config/settings.py of mlcommons/endpoints: LoadPattern
		{"mlperf-endpoints", endpoints + `{"type":"poisson","target_qps":4.0,"target_concurrency":null,"use_legacy_loadgen_qps_metrics":true}}}`, run.Load{Kind: "open", Arrival: "poisson", RatePerS: rate(4)}},
		{"mlperf-endpoints", endpoints + `{"type":"concurrency","target_qps":null,"target_concurrency":8}}}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		{"mlperf-endpoints", endpoints + `{"type":"agentic_inference","target_qps":null,"target_concurrency":8}}}`, run.Load{Kind: "closed", Concurrency: streams(8)}},
		{"mlperf-endpoints", endpoints + `{"type":"max_throughput","target_qps":10.0,"target_concurrency":null}}}`, run.Load{Kind: "open"}},
		{"mlperf-endpoints", endpoints + `null}}`, run.Load{}},
		// inference_perf/reportgen/base.py writes nothing of load.type; each request has a time for which it was scheduled
		{"inference-perf", `[{"start_time":1,"end_time":2,"info":{"output_tokens":1,"output_token_times":[1.5]}}]`, run.Load{}},
		{"inference-perf", `[{"scheduled_time":1,"start_time":1,"end_time":2,"info":{"output_tokens":1,"output_token_times":[1.5]}}]`, run.Load{}},
		{"csv", "start_s,e2e_ms\n1,5\n", run.Load{}},
	} {
		in, err := NewInput("f", strings.NewReader(c.file))
		if err != nil {
			t.Fatal(err)
		}
		from, _ := ByName(c.from)
		m, err := from.Read(in, func(*timeline.Timeline) error { return nil })
		if err != nil || !reflect.DeepEqual(m.Load, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.file, m.Load, err, c.want)
		}
	}
}

// When a run began: vLLM's date is that of its end, LoadGen's log and clocks that count from
// 1970 tell it, and others do not.
// Sources: vllm/benchmarks/serve.py 0.33, where the date is taken behind the benchmark; logs of
// mlcommons-loadgen; the start of OpenTelemetry's spans; a profile_export_aiperf.json of AIPerf 0.13.0.
func TestWhenRunsBegan(t *testing.T) {
	const requests = `"ttfts":[0.1],"itls":[[0.05]],"input_lens":[1],"output_lens":[2],"start_times":[7]`
	for _, c := range []struct{ from, file, want string }{
		{"vllm", `{"date":"20261130-130100","duration":60.5,` + requests + `}`, "2026-11-30T12:59:59.5Z"},
		{"vllm", `{"date":"20261130-130100","duration":60,"completed":2,"mean_ttft_ms":5}`, "2026-11-30T13:00:00Z"},
		{"vllm", `{` + requests + `}`, ""},
		{"mlperf", ":::MLLOG {\"key\": \"test_datetime\", \"value\": \"2026-11-30T13:46:46Z\"}\n:::MLLOG {\"key\": \"result_mean_latency_ns\", \"value\": 5}\n:::MLLOG {\"key\": \"num_errors\", \"value\": 0}\n", "2026-11-30T13:46:46Z"},
		{"aiperf", `{"metadata":{"request_start_ns":1700000000500000000,"request_end_ns":1700000001000000000,"benchmark_phase":"profiling"},"metrics":{}}`, "2023-11-14T22:13:20.5Z"},
		{"aiperf", `{"schema_version":"1.4","request_latency":{"unit":"ms","avg":5},"telemetry_data":{"summary":{"start_time":"2026-11-29T20:44:10.5"}},"start_time":"2026-11-29T20:44:16.168869","end_time":"2026-11-29T20:44:20.146096"}`, "2026-11-29T20:44:16.168869Z"},
		{"aiperf", `{"schema_version":"1.4","request_latency":{"unit":"ms","avg":5},"start_time":"2026-11-29T20:44:16"}`, "2026-11-29T20:44:16Z"}, // Python leaves out a fraction of 0
		{"aiperf", `{"schema_version":"1.4","request_latency":{"unit":"ms","avg":5},"start_time":null}`, ""},
		{"inference-perf", `[{"start_time":1000,"end_time":1002,"info":{"output_tokens":1,"output_token_times":[1001.5]}}]`, ""},
		{"llm-d", llmd(`"end":"2025-11-05T18:16:40Z","duration":"PT16M40S"`, `"concurrency":1`), "2025-11-05T18:00:00Z"},
		{"llm-d", llmd(`"start":"2025-11-05T17:00:00Z","end":"2025-11-05T18:16:40Z","duration":"PT16M40S"`, `"concurrency":1`), "2025-11-05T17:00:00Z"},
		{"llm-d", llmd(`"end":"2025-11-05T18:16:40Z"`, `"concurrency":1`), ""},
		{"csv", "start_s,e2e_ms\n0,5\n", ""},
	} {
		in, err := NewInput("f", strings.NewReader(c.file))
		if err != nil {
			t.Fatal(err)
		}
		from, _ := ByName(c.from)
		m, err := from.Read(in, func(*timeline.Timeline) error { return nil })
		if err != nil {
			t.Fatal(c.file, err)
		}
		began := m.Started
		if at := in.Began(); !at.IsZero() {
			began = at
		}
		got := ""
		if !began.IsZero() {
			got = began.Format(time.RFC3339Nano)
		}
		if got != c.want {
			t.Errorf("%s began at %q, want %q", c.file, got, c.want)
		}
	}
}

// GuideLLM 0.6.0 sent 197 requests in 6 s that were to be 10 a second, and 0.5.2 sent 70: more
// by chance stay the rate that was asked for, whichever tool tells it. Chance makes more of a gamma
// process of a small shape, whose count has the variance of Poisson's over the shape.
func TestMoreThanTheRateAskedFor(t *testing.T) {
	starts := func(n int) (at []float64) {
		for i := range n {
			at = append(at, 100+6*float64(i)/float64(n-1))
		}
		return at
	}
	list := func(n int, one func(start float64) string) string {
		var all []string
		for _, s := range starts(n) {
			all = append(all, one(s))
		}
		return strings.Join(all, ",")
	}
	files := map[string]func(n int) string{
		"vllm": func(n int) string {
			same := func(what string) string { return list(n, func(float64) string { return what }) }
			return `{"ttfts":[` + same("0.1") + `],"itls":[` + same("[0.05]") + `],"input_lens":[` + same("1") + `],"output_lens":[` + same("2") +
				`],"start_times":[` + list(n, func(s float64) string { return fmt.Sprint(s) }) + `],"request_rate":10`
		},
		"genai-perf": func(n int) string {
			return `{"experiments":[{"experiment":{"mode":"request_rate","value":10},"requests":[` + list(n, func(s float64) string {
				return fmt.Sprintf(`{"timestamp":%.0f,"response_timestamps":[%.0f]}`, s*1e9, s*1e9+1e8)
			}) + `]}]`
		},
		"guidellm": func(n int) string {
			return `{"benchmarks":[{"config":{"strategy":{"type_":"poisson","rate":10.0}},"requests":{"successful":[` + list(n, func(s float64) string {
				return fmt.Sprintf(`{"info":{"timings":{"request_start":%f,"request_end":%f}}}`, s, s+0.1)
			}) + `]}}]`
		},
		// by figures of the whole run
		"aiperf": func(n int) string {
			return fmt.Sprintf(`{"schema_version":"1.5","request_latency":{"unit":"ms","avg":5},"request_count":{"avg":%d},"request_throughput":{"avg":%f},`+
				`"input_config":{"phases":[{"type":"poisson","rate":10.0}]}`, n, float64(n)/6)
		},
	}
	check := func(from, file string, kept bool) {
		t.Helper()
		in, err := NewInput("f", strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		tool, _ := ByName(from)
		m, err := tool.Read(in, func(*timeline.Timeline) error { return nil })
		said := strings.Contains(strings.Join(in.Notes, "\n"), "were asked for")
		if err != nil || m.Load.Kind != "open" || m.Load.RatePerS.OK() != kept || said == kept {
			t.Errorf("%s, %.80s: %+v, %q, %v", from, file, m.Load, in.Notes, err)
		}
	}
	for from, file := range files {
		for n, kept := range map[int]bool{197: false, 70: true, 3: true} {
			check(from, file(n)+"}", kept)
		}
	}
	check("vllm", files["vllm"](110)+`,"burstiness":0.1}`, true) // 60 ± 24
	check("vllm", files["vllm"](110)+`,"burstiness":1}`, false)  // 60 ± 8
}
