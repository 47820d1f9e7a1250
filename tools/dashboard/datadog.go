package dashboard

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/service/telemetry"
)

// Datadog writes a dashboard to import. Its routes and models are template
// variables.
func Datadog(w io.Writer) error {
	var groups []object
	for _, r := range rows {
		var widgets []object
		for i := range r.panels {
			p := &r.panels[i]
			if p.view == left {
				continue // Datadog's own SLOs show it
			}
			widgets = append(widgets, object{"definition": object{"type": "timeseries", "title": p.title, "show_legend": true, "requests": p.datadog()}})
		}
		groups = append(groups, object{"definition": object{"type": "group", "layout_type": "ordered", "title": r.title, "widgets": widgets}})
	}
	variable := func(name string) object {
		return object{"name": name, "prefix": name, "available_values": []string{}, "default": "*"}
	}
	return write(w, object{"title": "tokenmeter", "description": "Inference servers as their users see them.", "layout_type": "ordered",
		"widgets": groups, "template_variables": []object{variable("route"), variable("model")}})
}

// datadog is what a panel asks Datadog.
func (p *panel) datadog() []object {
	scope := "*"
	if p.metric.OfRequests() {
		scope = "$route,$model"
	}
	by := ""
	if len(p.by) > 0 {
		by = " by {" + strings.Join(p.by, ",") + "}"
	}
	count := func(m *telemetry.Metric) string {
		return fmt.Sprintf("sum:%s{%s}%s.as_count()", m.Dotted(), scope, by)
	}
	per := func(m *telemetry.Metric) string {
		return fmt.Sprintf("sum:%s{%s}%s.as_rate()", m.Dotted(), scope, by)
	}
	queries := map[string]string{}
	formula := "a"
	switch p.view {
	case rate:
		queries["a"] = per(p.metric)
	case share:
		queries["a"], queries["b"], formula = count(p.metric), count(p.of), "a / b"
	case now:
		queries["a"] = fmt.Sprintf("sum:%s{%s}%s", p.metric.Dotted(), scope, by)
	case budget:
		queries["a"], queries["b"], formula = count(p.metric), count(p.of), "(1 - a / b) / (1 - c)"
		queries["c"] = fmt.Sprintf("max:%s{%s}%s", telemetry.SLOTarget.Dotted(), scope, by)
	case quantiles:
		for name, q := range map[string]string{"p50": "p50", "p95": "p95", "p99": "p99"} {
			queries[name] = fmt.Sprintf("%s:%s{%s}", q, p.metric.Dotted(), scope)
		}
	}
	var list []object
	for _, name := range []string{"a", "b", "c", "p50", "p95", "p99"} {
		if q, ok := queries[name]; ok {
			list = append(list, object{"data_source": "metrics", "name": name, "query": q})
		}
	}
	formulas := []object{{"formula": formula}}
	if p.view == quantiles {
		formulas = []object{{"formula": "p50"}, {"formula": "p95"}, {"formula": "p99"}}
	}
	return []object{{"response_format": "timeseries", "display_type": "line", "formulas": formulas, "queries": list}}
}
