//go:build !lean

package export

import (
	"fmt"
	"io"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// llmdReport is llm-d's benchmark report 0.2.1, as JSON, which is YAML too. The schema
// forbids other fields. Source: llm-d/llm-d-benchmark, llmdbenchmark/analysis/
// benchmark_report/br_v0_2_1_json_schema.json.
type llmdReport struct {
	Version string      `json:"version"`
	Run     llmdRun     `json:"run"`
	Results llmdResults `json:"results"`
}

type llmdRun struct {
	UID         string   `json:"uid"`
	Time        llmdTime `json:"time"`
	Description string   `json:"description"`
}

type llmdTime struct {
	Start    time.Time  `json:"start"`
	End      *time.Time `json:"end,omitempty"`
	Duration string     `json:"duration,omitempty"` // ISO 8601
}

type llmdResults struct {
	Performance struct {
		Aggregate struct {
			Requests struct {
				Total      timeline.Opt[int64] `json:"total,omitzero"`
				Failures   timeline.Opt[int64] `json:"failures,omitzero"`
				Incomplete timeline.Opt[int64] `json:"incomplete,omitzero"`
				Input      *llmdStatistics     `json:"input_length,omitempty"`
				Output     *llmdStatistics     `json:"output_length,omitempty"`
			} `json:"requests"`
			Latency struct {
				TTFT *llmdStatistics `json:"time_to_first_token,omitempty"`
				TPOT *llmdStatistics `json:"time_per_output_token,omitempty"`
				ITL  *llmdStatistics `json:"inter_token_latency,omitempty"`
				E2E  *llmdStatistics `json:"request_latency,omitempty"`
			} `json:"latency"`
			Throughput struct {
				Input    *llmdStatistics `json:"input_token_rate,omitempty"`
				Output   *llmdStatistics `json:"output_token_rate,omitempty"`
				Total    *llmdStatistics `json:"total_token_rate,omitempty"`
				Requests *llmdStatistics `json:"request_rate,omitempty"`
			} `json:"throughput"`
		} `json:"aggregate"`
	} `json:"request_performance"`
}

type llmdStatistics struct {
	Units  string                `json:"units"`
	Mean   float64               `json:"mean"`
	StdDev timeline.Opt[float64] `json:"stddev,omitzero"`
	Min    timeline.Opt[float64] `json:"min,omitzero"`
	P50    timeline.Opt[float64] `json:"p50,omitzero"`
	P90    timeline.Opt[float64] `json:"p90,omitzero"`
	P95    timeline.Opt[float64] `json:"p95,omitzero"`
	P99    timeline.Opt[float64] `json:"p99,omitzero"`
	P99P9  timeline.Opt[float64] `json:"p99p9,omitzero"`
	Max    timeline.Opt[float64] `json:"max,omitzero"`
}

func writeLLMD(w io.Writer, f *run.Folder) error {
	sum, err := run.Summarise(f)
	if err != nil {
		return err
	}
	out := llmdReport{Version: "0.2.1", Run: llmdRun{UID: sum.ID, Time: llmdTime{Start: sum.Started, End: sum.Finished}}}
	out.Run.Description = fmt.Sprintf("tokenmeter %s: %s, model %s", sum.Version, sum.Name, sum.Target.Model)
	if seconds, ok := sum.Throughput.WindowS.Get(); ok {
		out.Run.Time.Duration = fmt.Sprintf("PT%gS", seconds)
	}
	all := &out.Results.Performance.Aggregate
	all.Requests.Total, _, all.Requests.Failures = sum.Requests.Counts()
	if n, ended := sum.Requests.Ended().Get(); ended && all.Requests.Total.OK() {
		all.Requests.Incomplete = timeline.Some(sum.Requests.Total - n)
	}
	of := func(name, units string, scale float64) *llmdStatistics {
		return llmdOf(sum.Metrics[name], units, scale)
	}
	all.Requests.Input, all.Requests.Output = of("input_tokens", "count", 1), of("output_tokens", "count", 1)
	all.Latency.TTFT, all.Latency.E2E = of("ttft_ms", "s", 1e-3), of("e2e_ms", "s", 1e-3)
	all.Latency.TPOT, all.Latency.ITL = of("tpot_ms", "s/token", 1e-3), of("itl_ms", "s/token", 1e-3)
	t := &sum.Throughput
	all.Throughput.Input, all.Throughput.Output = llmdRate(t.SystemInputTPS, "tokens/s"), llmdRate(t.SystemOutputTPS, "tokens/s")
	all.Throughput.Total, all.Throughput.Requests = llmdRate(t.SystemInOutTPS, "tokens/s"), llmdRate(t.RequestsPerS, "queries/s")
	return printable.EncodeJSON(w, "  ", out)
}

// llmdOf is nil for an empty sample: a mean is required.
func llmdOf(d metric.Dist, units string, scale float64) *llmdStatistics {
	mean, ok := d.Mean.Get()
	if !ok {
		return nil
	}
	in := func(v timeline.Opt[float64]) timeline.Opt[float64] {
		return timeline.Map(v, func(x float64) float64 { return x * scale })
	}
	return &llmdStatistics{Units: units, Mean: mean * scale, StdDev: in(d.SD), Min: in(d.Min),
		P50: in(d.P50), P90: in(d.P90), P95: in(d.P95), P99: in(d.P99), P99P9: in(d.P999), Max: in(d.Max)}
}

func llmdRate(v timeline.Opt[float64], units string) *llmdStatistics {
	if x, ok := v.Get(); ok {
		return &llmdStatistics{Units: units, Mean: x}
	}
	return nil
}
