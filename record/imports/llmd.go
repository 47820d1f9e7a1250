package imports

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/config"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// llmdFigures are the aggregates of a report and our names of them.
var llmdFigures = []struct {
	path []string
	our  string
}{
	{[]string{"latency", "time_to_first_token"}, "ttft_ms"},
	{[]string{"latency", "time_per_output_token"}, "tpot_ms"},
	{[]string{"latency", "inter_token_latency"}, "itl_ms"},
	{[]string{"latency", "request_latency"}, "e2e_ms"},
	{[]string{"requests", "input_length"}, "input_tokens"},
	{[]string{"requests", "output_length"}, "output_tokens"},
}

// readLLMD reads llm-d's benchmark report 0.2 and 0.2.1, YAML or JSON. Source:
// llm-d/llm-d-benchmark, llmdbenchmark/analysis/benchmark_report/schema_v0_2_1.py.
func readLLMD(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	docs, err := config.Results(in.Name, in.data)
	if err != nil {
		return m, err
	}
	var names []string
	var all []object
	for _, doc := range docs {
		if o, ok := doc.(object); ok {
			about, _ := o["run"].(object)
			all, names = append(all, o), append(names, naming(text(about, "uid"), text(about, "description")))
		}
	}
	part, err := in.part(names)
	if err != nil {
		return m, err
	}
	o := all[part]
	if v := fmt.Sprint(o["version"]); v != "0.2" && v != "0.2.1" {
		return m, in.at(max(int64(bytes.Index(in.data, []byte("version"))), 0), fmt.Errorf("version %s of the report is not known: 0.2 and 0.2.1 are", v))
	}
	t := newTold(in, 0)
	about, _ := o["run"].(object)
	m.Name = naming(text(about, "eid"), text(about, "description"))
	lasted, timed := isoSeconds(about)
	if when, ok := about["time"].(object); ok {
		if began, err := time.Parse(time.RFC3339, text(when, "start")); err == nil {
			m.Started = began.UTC()
		} else if ended, err := time.Parse(time.RFC3339, text(when, "end")); err == nil && timed && lasted < longest {
			m.Started = ended.UTC().Add(-time.Duration(lasted * float64(time.Second)))
		}
	}
	if scenario, ok := o["scenario"].(object); ok {
		if load, ok := scenario["load"].(object); ok {
			std, _ := load["standardized"].(object)
			m.Load.Concurrency, m.Load.RatePerS = t.whole(t.number(std, "concurrency")), t.number(std, "rate_qps")
			m.Target.Server = naming(text(std, "tool"), text(std, "tool_version"))
		}
		m.Target.Model = llmdModel(scenario)
	}
	switch {
	case m.Load.RatePerS.OK(): // beside which streams are a cap
		m.Load.Kind = "open"
	case m.Load.Concurrency.OK():
		m.Load.Kind = "closed"
	}
	results, _ := o["results"].(object)
	performance, _ := results["request_performance"].(object)
	aggregate, ok := performance["aggregate"].(object)
	if !ok {
		return m, in.at(0, errors.New("results.request_performance.aggregate is missing: the report has no figures of requests"))
	}
	for _, f := range llmdFigures {
		group, _ := aggregate[f.path[0]].(object)
		d, _ := group[f.path[1]].(object)
		if d == nil {
			continue
		}
		units := text(d, "units")
		scale, ok := map[string]float64{"s": 1000, "ms": 1, "s/token": 1000, "ms/token": 1, "count": 1}[units]
		if ok = ok && (units == "count") == !strings.HasSuffix(f.our, "_ms"); !ok {
			t.fail(f.path[1], fmt.Sprintf("is in %q, which is no unit of it", units))
			continue
		}
		for key, stat := range map[string]string{"mean": "mean", "stddev": "sd", "min": "min", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99p9": "p999", "max": "max"} {
			t.stat(f.our, stat, t.number(d, key), scale)
		}
	}
	t.Total, t.Failed = t.whole(t.number(aggregate, "requests", "total")), t.whole(t.number(aggregate, "requests", "failures"))
	left := t.whole(t.number(aggregate, "requests", "incomplete")).Or(0)
	if n, ok := t.Total.Get(); ok && t.Failed.OK() {
		t.OK = timeline.Some(max(n-t.Failed.Or(0)-left, 0))
	}
	for key, at := range map[string]*timeline.Opt[float64]{"input_token_rate": &t.Throughput.SystemInputTPS, "output_token_rate": &t.Throughput.SystemOutputTPS,
		"total_token_rate": &t.Throughput.SystemInOutTPS, "request_rate": &t.Throughput.RequestsPerS} {
		*at = t.number(aggregate, "throughput", key, "mean")
	}
	t.Throughput.WindowS = timeline.Maybe(lasted, timed)
	err = t.into(&m)
	return m, err
}

// llmdModel is the model of the first part of the stack that serves one.
func llmdModel(scenario object) string {
	stack, _ := scenario["stack"].([]any)
	for _, one := range stack {
		component, _ := one.(object)
		std, _ := component["standardized"].(object)
		if model, ok := std["model"].(object); ok && text(model, "name") != "" {
			return text(model, "name")
		}
	}
	return ""
}

// isoSeconds is run.time.duration: ISO 8601, of hours, minutes and seconds.
func isoSeconds(about object) (float64, bool) {
	when, _ := about["time"].(object)
	rest, ok := strings.CutPrefix(text(when, "duration"), "PT")
	if !ok || rest == "" {
		return 0, false
	}
	total := 0.0
	for rest != "" {
		i := slices.IndexFunc([]byte(rest), func(b byte) bool { return b == 'H' || b == 'M' || b == 'S' })
		if i < 0 {
			return 0, false
		}
		v, ok := jsonNumber(rest[:i])
		if !ok || v < 0 {
			return 0, false
		}
		total += v * map[byte]float64{'H': 3600, 'M': 60, 'S': 1}[rest[i]]
		rest = rest[i+1:]
	}
	return total, !math.IsInf(total, 0)
}
