package imports

import (
	"math"
	"strings"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// genaiBench is the file of one scenario and number of streams. It lists the requests'
// figures, too, without the moments at which they began, so that only those of the whole run
// can be taken. Source: genai_bench/metrics/metrics.py and aggregated_metrics_collector.py of
// genai-bench 0.0.5; a file of one before it knew units has seconds.
type genaiBench struct {
	Unit  string `json:"_time_unit"`
	Whole struct {
		Scenario  string   `json:"scenario"`
		Streams   *float64 `json:"num_concurrency"`
		Duration  *float64 `json:"run_duration"` // s in any unit
		Output    *float64 `json:"mean_output_throughput_tokens_per_s"`
		Input     *float64 `json:"mean_input_throughput_tokens_per_s"`
		Rate      *float64 `json:"requests_per_second"`
		Failed    *float64 `json:"num_error_requests"`
		Completed *float64 `json:"num_completed_requests"`
		// Stats are those of the requests that went well and are neither warm-up nor cool-down.
		Stats map[string]map[string]*float64 `json:"stats"`
	} `json:"aggregated_metrics"`
}

// genaiBenchFigures are its figures and our names of them. Times end where its client saw
// the usage, or [DONE], and not with the last token.
var genaiBenchFigures = map[string]string{
	"ttft": "ttft_ms", "tpot": "tpot_ms", "e2e_latency": "e2e_ms",
	"num_input_tokens": "input_tokens", "num_output_tokens": "output_tokens",
}

func readGenAIBench(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	var file genaiBench
	if err := in.whole(&file); err != nil {
		return m, err
	}
	w, t := &file.Whole, newTold(in, 0)
	figure := func(name string, v *float64) (f timeline.Opt[float64]) {
		if v != nil {
			f = t.sensible(*v, name)
		}
		return f
	}
	unit := 1000.0
	if file.Unit == "ms" {
		unit = 1
	}
	wordless := true // vectors and pictures have noughts for what only words have
	if most := w.Stats["num_output_tokens"]["max"]; most != nil {
		wordless = *most == 0
	}
	for name, our := range genaiBenchFigures {
		if wordless && our != "e2e_ms" && our != "input_tokens" {
			continue
		}
		scale := 1.0
		if strings.HasSuffix(our, "_ms") {
			scale = unit
		}
		d := w.Stats[name]
		for key, stat := range map[string]string{"min": "min", "max": "max", "mean": "mean", "stddev": "sd", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"} {
			t.stat(our, stat, figure(name, d[key]), scale)
		}
		if mean, sum := figure(name, d["mean"]).Or(0), figure(name, d["sum"]).Or(0); mean > 0 {
			n := t.Metrics[our]
			n.N = int64(math.Round(sum / mean)) // where it is told, warm-up and cool-down are in it
			t.Metrics[our] = n
		}
	}
	t.counted(timeline.Opt[int64]{})
	t.OK, t.Failed = t.whole(figure("num_completed_requests", w.Completed)), t.whole(figure("num_error_requests", w.Failed))
	t.summed(0)
	t.Throughput.WindowS, t.Throughput.RequestsPerS = figure("run_duration", w.Duration), figure("requests_per_second", w.Rate)
	if t.Failed == timeline.Some(int64(0)) { // it counts what went well alone
		t.Throughput.SystemInputTPS = figure("mean_input_throughput_tokens_per_s", w.Input)
	}
	if !wordless {
		t.Throughput.SuccessOutputTPS = figure("mean_output_throughput_tokens_per_s", w.Output)
	}
	m.Name = w.Scenario
	m.Load.Kind, m.Load.Concurrency = "closed", t.whole(figure("num_concurrency", w.Streams))
	return m, t.into(&m)
}
