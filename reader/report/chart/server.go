package chart

import (
	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// ServerFigures are what the server told of itself, on the time axis of the
// requests; none where it told nothing.
func ServerFigures(r *run.Run, c *gather.Gathered) (list []Figure) {
	if profiled(r) {
		list = append(list, profilerFigure(r, c))
	}
	if len(r.ServerSamples) == 0 || c.N == 0 {
		return list
	}
	every := ""
	if r.ServerMetrics != nil {
		every = "; read every " + typeset.Span(r.ServerMetrics.EveryS*1e3, typeset.Digits{Round: true})
	}
	for _, d := range serverCharts {
		values := serverColumns(c, r.ServerSamples, d.name, d.of == "" && d.unit == "%")
		switch d.of {
		case "":
		case d.name:
			values = grown(values, values)
		default:
			values = grown(values, serverColumns(c, r.ServerSamples, d.of, false))
		}
		if len(values) > 0 {
			list = append(list, seriesFigure(c, "server-"+d.name, d.title, d.unit, d.sub+every, d.class, values, false))
		}
	}
	return list
}

// serverCharts are what is drawn: a gauge, or of a counter what it grew in each
// column, as a share of another one's growth.
var serverCharts = []struct{ name, of, title, unit, sub, class string }{
	{"waiting", "", "Waiting at the server", "requests", "as the server says", "s4"},
	{"running", "", "Running at the server", "requests", "as the server says", "s5"},
	{"kv_usage", "", "KV cache in use", "%", "as the server says", "s2"},
	{"gpu_utilization", "", "GPUs busy", "%", "of the time, as their exporter says", "s1"},
	{"gpu_active", "", "GPUs active", "%", "of their cycles, as their exporter says", "s1"},
	{"gpu_power_w", "", "Power of the GPUs", "W", "as their exporter says", "s3"},
	{"prefix_hits", "prefix_queries", "Prefix cache hits", "%", "of the tokens that were looked up in each column", "s3"},
	{"preemptions", "preemptions", "Preemptions", "requests", "put back by the server in each column", "bad"},
	{"spec_accepted_tokens", "spec_draft_tokens", "Drafted tokens accepted", "%", "of those drafted in each column", "s1"},
}

// serverColumns is a value in each column of time: the last one read until its
// end, of several sources their sum, or of a share their mean in percent. Before
// the first reading it is the first; without any there are no columns.
func serverColumns(c *gather.Gathered, samples []metric.ServerSample, name string, share bool) []float64 {
	columns, last, filled := make([]float64, c.Grid.Used), map[int]float64{}, 0
	value := 0.0
	fill := func(to int) {
		for ; filled < to && filled < len(columns); filled++ {
			columns[filled] = value
		}
	}
	for _, s := range samples {
		if s.Name != name {
			continue
		}
		at := int(float64(s.AtUS) / 1e6 / c.Grid.Seconds())
		if len(last) > 0 {
			fill(at)
		}
		last[s.Source] = s.Value
		value = 0
		for _, x := range last {
			value += x
		}
		if share {
			value *= 100 / float64(len(last))
		}
		fill(at)
	}
	if len(last) == 0 {
		return nil
	}
	fill(len(columns))
	return columns
}

// grown is how much a counter grew in each column, in percent of another's growth;
// of itself, as it is. Nil where it never grew.
func grown(part, whole []float64) []float64 {
	if len(part) == 0 || len(whole) != len(part) {
		return nil
	}
	out, any := make([]float64, len(part)), false
	same := &part[0] == &whole[0]
	for i := 1; i < len(part); i++ {
		p, w := max(part[i]-part[i-1], 0), whole[i]-whole[i-1]
		any = any || w > 0
		if same {
			out[i] = p
		} else if w > 0 {
			out[i] = min(100*p/w, 100)
		}
	}
	if !any {
		return nil
	}
	return out
}
