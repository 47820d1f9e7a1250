package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// isInferenceX knows rows of all ages and those of the public API by the rate of one GPU,
// which no other tool has, beside the streams; the first rows have nothing else of their own.
// Rows of agents' sessions have their figures in request_metrics.
func isInferenceX(head []byte) bool {
	return contains(`"conc"`, `"tput_per_gpu"`)(head) || contains(`"infmax_model_prefix"`, `"request_metrics"`)(head)
}

// readInferenceX reads a row of InferenceX's results, or one of a list of them, whose
// times are seconds. Sources: SemiAnalysisAI/InferenceX, utils/process_result.py, and of
// agents' sessions utils/agentic/aggregation/process_agentic_result.py, flat ones
// utils/agentic/process_agentic_result.py; of the public API, /api/v1/benchmarks,
// SemiAnalysisAI/InferenceX-app, packages/constants/src/metric-keys.ts.
func readInferenceX(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	row, at, name, err := pick(in, inferenceXRows, func(row *object) string {
		o := *row
		name := naming(text(o, "hw"), text(o, "framework"), cmp.Or(text(o, "infmax_model_prefix"), text(o, "model")), text(o, "precision"), text(o, "scenario_type"))
		for _, key := range []string{"tp", "prefill_tp", "decode_tp", "spec_method", "isl", "osl", "conc", "date"} {
			if v := o[key]; v != nil {
				name += fmt.Sprintf(" %s=%v", key, v)
			}
		}
		return name
	})
	if err != nil {
		return m, err
	}
	o, t := *row, newTold(in, at)
	m.Name, m.Target.Model, m.Target.Server = name, text(o, "model"), text(o, "framework")
	m.Load.Kind = "closed"
	m.Load.Concurrency = t.whole(t.number(o, "conc"))
	agents := text(o, "scenario_type") == "agentic-coding"
	for _, of := range []struct {
		name   string
		nested []string // in request_metrics
		our    string
		scale  float64
	}{
		{"ttft", []string{"latency", "ttft"}, "ttft_ms", 1000}, {"tpot", []string{"latency", "tpot"}, "tpot_ms", 1000}, {"e2el", []string{"latency", "e2el"}, "e2e_ms", 1000},
		{"itl", nil, "icl_ms", 1000}, {"input_tokens", []string{"tokens", "input"}, "input_tokens", 1}, {"output_tokens_actual", []string{"tokens", "output_actual"}, "output_tokens", 1},
	} {
		if agents && of.name == "itl" {
			continue // AIPerf's inter_token_latency, which is the TPOT
		}
		for key, stat := range map[string]string{"mean": "mean", "median": "p50", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p999"} {
			t.stat(of.our, stat, t.number(o, key+"_"+of.name), of.scale)
			if of.nested != nil {
				t.stat(of.our, stat, t.number(o, slices.Concat([]string{"request_metrics"}, of.nested, []string{key})...), of.scale)
			}
		}
	}
	if agents {
		t.agents(o)
	} else {
		t.in.note("rates of InferenceX are of one GPU: they are left out")
	}
	err = t.into(&m)
	return m, err
}

// inferenceXRows gives rows of the public API the form of the files' rows: figures at the
// top, hw and scenario_type.
func inferenceXRows(in *Input, read func(int64, *object) error) error {
	return objects(in, func(at int64, o *object) error {
		if figures, ok := (*o)["metrics"].(object); ok {
			row := maps.Clone(figures)
			maps.Copy(row, *o)
			row["hw"] = row["hardware"]
			if row["benchmark_type"] == "agentic_traces" {
				row["scenario_type"] = "agentic-coding"
			}
			o = &row
		}
		return read(at, o)
	})
}

// agents takes what rows of agents' sessions have of the whole server. What failed is told
// where it was counted; the older rows' total is of successful requests alone.
func (t *told) agents(o object) {
	t.OK = t.whole(t.number(o, "num_requests_successful"))
	dropped, warmup := t.whole(t.number(o, "request_accounting", "records_dropped_total")), t.whole(t.number(o, "request_accounting", "records_warmup_dropped"))
	if n, ok := dropped.Get(); ok && warmup.OK() {
		t.Failed = timeline.Some(max(n-warmup.Or(0), 0)) // a failure of the warm-up is in both
	}
	t.summed(0)
	either := func(flat string, nested ...string) timeline.Opt[float64] {
		if v := t.number(o, flat); v.OK() {
			return v
		}
		return t.number(o, append([]string{"request_metrics", "throughput"}, nested...)...)
	}
	t.Throughput.WindowS = either("duration_seconds", "duration_seconds")
	t.Throughput.SuccessOutputTPS = either("output_tput_tps", "output", "tokens_per_second")
	t.Throughput.SystemInOutTPS = either("total_tput_tps", "total", "tokens_per_second")
	if s := t.Throughput.WindowS.Or(0); s > 0 && t.OK.OK() {
		t.Throughput.RequestsPerS = timeline.Some(float64(t.OK.Or(0)) / s)
	}
}
