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
	l := list{m.Engine}
	add := func(format string, args ...any) { l = append(l, fmt.Sprintf(format, args...)) }
	if g, ok := m.Gauges["running"]; ok {
		add("%s running", typeset.Digits{}.Value(g.Mean))
	}
	if g, ok := m.Gauges["waiting"]; ok {
		add("%s waiting (at most %s)", typeset.Digits{}.Value(g.Mean), typeset.Digits{}.Value(g.Max))
	}
	if g, ok := m.Gauges["kv_usage"]; ok {
		add("KV cache %s full (at most %s)", typeset.Percent(g.Mean), typeset.Percent(g.Max))
	}
	l.add("%s prefix hits", m.PrefixHitRate, typeset.Percent)
	if n := m.Counters["preemptions"].Total; n > 0 {
		add("%s preemptions", typeset.Digits{}.Value(n))
	}
	l.add("%s of drafted tokens accepted", m.SpecAcceptance, typeset.Percent)
	return l.String() + " (as it says itself)"
}

// ofTTFT says where the time before the first token went.
func ofTTFT(r *run.Run) string {
	d := r.Decomposition
	if d == nil || d.Source == "" {
		return ""
	}
	var l list
	span := func(ms float64) string { return typeset.Span(ms, typeset.Digits{}) }
	l.add("queue %s", d.QueueMS, span)
	l.add("prefill %s", d.PrefillMS, span)
	l.add("else in the server %s", d.ServerRestMS, span)
	l.add("network and the rest %s", d.NetworkMS, span)
	if len(l) == 0 {
		return ""
	}
	by := "by the replies"
	if d.Source == "server_metrics" {
		by = "by the server's metrics"
		if n, ok := d.ServerRequests.Get(); ok && n != d.N {
			by += fmt.Sprintf(", which count %s", typeset.Plural(n, "request"))
		}
	}
	return l.String() + " (means, " + by + ")"
}
