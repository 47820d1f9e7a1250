package foreign

import "strings"

// slothWindow is the period of sloth where its command line names no other one.
const slothWindow = "30d"

// sloth reads a specification of sloth, prometheus/v1 or the CRD of the same form.
func sloth(file node, service string, slos node) (all []Objective) {
	for _, s := range slos.list() {
		o := Objective{From: strings.Trim(service+"-"+s.text("name"), "-"), About: oneLine(s.text("description")), Window: slothWindow}
		o.lose("its window is not in the file: 30d is sloth's default")
		if x, ok := s.number("objective"); ok {
			o.Target = share(x)
		}
		sli := s.at("sli")
		if file.text("apiVersion") == "sloth.slok.dev/v1" { // camel case there
			sli = node{map[string]any{"events": map[string]any{"error_query": sli.text("events", "errorQuery")},
				"raw": sli.at("raw").v, "plugin": sli.at("plugin").v}}
		}
		switch {
		case sli.is("raw"):
			o.lose("its SLI is a ratio of the user's own (raw), which has no counterpart")
		case sli.is("plugin"):
			o.lose("its SLI is made by the plugin %s, which is not run", sli.text("plugin", "id"))
		default:
			o.measured(sli.text("events", "error_query"), "")
		}
		page, ticket := s.at("alerting", "page_alert"), s.at("alerting", "ticket_alert")
		if page.v == nil {
			page, ticket = s.at("alerting", "pageAlert"), s.at("alerting", "ticketAlert")
		}
		off := func(n node) bool { return n.text("disable") == "true" }
		switch {
		case off(page) && off(ticket):
			o.NoAlerts = true
		case off(page) || off(ticket):
			o.lose("one of its alerts is disabled; ours has all four, by default")
		}
		all = append(all, o)
	}
	return all
}

// pyrra reads a ServiceLevelObjective.
func pyrra(n node) Objective {
	spec := n.at("spec")
	o := Objective{From: n.text("metadata", "name"), About: oneLine(spec.text("description"))}
	if x, ok := spec.number("target"); ok {
		o.Target = share(x)
	}
	if w, ok := rolling(spec.text("window")); ok {
		o.Window = w
	} else {
		o.lose("its window %q is no length of time", spec.text("window"))
		o.Target = 0
	}
	i := spec.at("indicator")
	switch {
	case i.is("ratio"):
		o.measured(i.text("ratio", "errors", "metric"), "")
	case i.is("latency"):
		o.measured(i.text("latency", "success", "metric"), spec.text("latency"))
	case i.is("latencyNative"):
		name := i.text("latencyNative", "total", "metric")
		o.measured(nativeBucket(name, i.text("latencyNative", "latency")), "")
	case i.is("bool_gauge"), i.is("boolGauge"):
		o.lose("its indicator is a gauge of another system, which has no counterpart")
	default:
		o.lose("its indicator has no counterpart")
	}
	if len(i.at("ratio", "grouping").list())+len(i.at("latency", "grouping").list()) > 0 {
		o.lose("its grouping is not taken over; see by: in docs/slo.md")
	}
	o.NoAlerts = spec.text("alerting", "disabled") == "true"
	return o
}

// nativeBucket writes a native histogram and its limit as the bucket that it
// stands for.
func nativeBucket(metric, limit string) string {
	name, _, _ := strings.Cut(metric, "{")
	if s, ok := secondsOf(limit); ok {
		return strings.TrimSuffix(strings.TrimSpace(name), "_count") + `_bucket{le="` + s + `"}`
	}
	return name
}
