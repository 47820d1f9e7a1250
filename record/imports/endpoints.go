package imports

import (
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// readEndpoints reads performance/result_summary.json of MLPerf Endpoints, whose times
// are nanoseconds. Source: mlcommons/endpoints, src/inference_endpoint/metrics/report.py.
func readEndpoints(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	var o object
	if err := in.whole(&o); err != nil {
		return m, err
	}
	t := newTold(in, 0)
	for series, our := range map[string]string{"ttft": "ttft_ms", "tpot": "tpot_ms", "latency": "e2e_ms",
		"output_sequence_lengths": "output_tokens", "input_sequence_lengths": "input_tokens"} {
		scale := 1e-6
		if series == "output_sequence_lengths" || series == "input_sequence_lengths" {
			scale = 1
		}
		for key, stat := range map[string]string{"avg": "mean", "std_dev": "sd", "min": "min", "max": "max", "median": "p50"} {
			t.stat(our, stat, t.number(o, series, key), scale)
		}
		for key, stat := range map[string]string{"50": "p50", "50.0": "p50", "90": "p90", "90.0": "p90", "95": "p95", "95.0": "p95", "99": "p99", "99.0": "p99", "99.9": "p999"} {
			t.stat(our, stat, t.number(o, series, "percentiles", key), scale)
		}
	}
	completed, failed := t.whole(t.number(o, "n_samples_completed")), t.whole(t.number(o, "n_samples_failed"))
	t.Total, t.Failed = t.whole(t.number(o, "n_samples_issued")), failed
	if n, ok := completed.Get(); ok && failed.OK() {
		t.OK = timeline.Some(max(n-failed.Or(0), 0)) // failures are completed too
	}
	if state := text(o, "state"); state == "interrupted" || o["complete"] == false {
		m.Partial = true
		in.note("Endpoints' own report: the run was interrupted or its figures are incomplete; what was still open is in none of them")
	}
	window := t.number(o, "duration_ns")
	if of := t.number(o, "legacy_loadgen_window_duration_ns"); of.OK() {
		window = of // what qps and tps are of, where it is told
	}
	t.Throughput.WindowS = timeline.Map(window, func(ns float64) float64 { return ns / 1e9 })
	t.Throughput.SuccessOutputTPS = t.number(o, "tps")
	if qps := t.number(o, "qps"); failed == timeline.Some(int64(0)) {
		t.Throughput.RequestsPerS = qps
	}
	endpointsLoad(t, o, &m.Load)
	err := t.into(&m)
	return m, err
}

// endpointsLoad is the load that the run was configured with; of max_throughput all is sent at
// once, whatever its target_qps. Source: LoadPattern in config/settings.py.
func endpointsLoad(t *told, o object, l *run.Load) {
	config, _ := o["run_config"].(object)
	pattern, _ := config["load_pattern"].(object)
	switch text(pattern, "type") {
	case "poisson":
		l.Kind, l.Arrival, l.RatePerS = "open", "poisson", t.number(pattern, "target_qps")
	case "concurrency", "agentic_inference": // whose conversations are so many at once
		l.Kind, l.Concurrency = "closed", t.whole(t.number(pattern, "target_concurrency"))
	case "max_throughput":
		l.Kind = "open"
	}
}
