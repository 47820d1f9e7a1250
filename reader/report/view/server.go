package view

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// serverSide is what the server told of itself, in a line.
func serverSide(r *run.Run) string {
	m := r.ServerMetrics
	if m == nil || m.Engine == "" {
		return ""
	}
	text := m.Engine
	add := func(format string, args ...any) { text += fmt.Sprintf(", "+format, args...) }
	if g, ok := m.Gauges["running"]; ok {
		add("%s running", typeset.Digits{}.Value(g.Mean))
	}
	if g, ok := m.Gauges["waiting"]; ok {
		add("%s waiting (at most %s)", typeset.Digits{}.Value(g.Mean), typeset.Digits{}.Value(g.Max))
	}
	if g, ok := m.Gauges["kv_usage"]; ok {
		add("KV cache %s full (at most %s)", typeset.Percent(g.Mean), typeset.Percent(g.Max))
	}
	if v, ok := m.PrefixHitRate.Get(); ok {
		add("%s prefix hits", typeset.Percent(v))
	}
	if n := m.Counters["preemptions"].Total; n > 0 {
		add("%s preemptions", typeset.Digits{}.Value(n))
	}
	if v, ok := m.SpecAcceptance.Get(); ok {
		add("%s of drafted tokens accepted", typeset.Percent(v))
	}
	return text + " (as it says itself)"
}

// ofTTFT says where the time before the first token went.
func ofTTFT(r *run.Run) string {
	d := r.Decomposition
	if d == nil || d.Source == "" {
		return ""
	}
	text := ""
	for _, part := range []struct {
		name string
		ms   interface{ Get() (float64, bool) }
	}{{"queue", d.QueueMS}, {"prefill", d.PrefillMS}, {"else in the server", d.ServerRestMS}, {"network and the rest", d.NetworkMS}} {
		if ms, ok := part.ms.Get(); ok {
			if text != "" {
				text += ", "
			}
			text += part.name + " " + typeset.Span(ms, typeset.Digits{})
		}
	}
	if text == "" {
		return ""
	}
	by := "by the replies"
	if d.Source == "server_metrics" {
		by = "by the server's metrics"
		if n, ok := d.ServerRequests.Get(); ok && n != d.N {
			by += fmt.Sprintf(", which count %s", typeset.Plural(n, "request"))
		}
	}
	return text + " (means, " + by + ")"
}
