package dashboard

import (
	"encoding/json"
	"fmt"
	"io"

	"tokenmeter/service/telemetry"
)

type object = map[string]any

// Grafana writes a dashboard to import. Its data source, routes and models are
// variables.
func Grafana(w io.Writer) error {
	const filter = `{route=~"$route", model=~"$model"}`
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var panels []object
	id, y := 0, 0
	for _, r := range rows {
		id++
		panels = append(panels, object{"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []any{}, "gridPos": object{"h": 1, "w": 24, "x": 0, "y": y}})
		y++
		for i := range r.panels {
			p := &r.panels[i]
			id++
			var targets []object
			for k, t := range p.promQL("$__rate_interval", filter) {
				targets = append(targets, object{"refId": string(rune('A' + k)), "expr": t.expr, "legendFormat": t.legend, "datasource": source})
			}
			defaults := object{"unit": p.grafanaUnit(), "custom": object{"lineWidth": 1, "fillOpacity": 0, "showPoints": "never", "spanNulls": false}}
			panels = append(panels, object{"id": id, "type": "timeseries", "title": p.title, "description": p.says(), "datasource": source, "targets": targets,
				"fieldConfig": object{"defaults": defaults, "overrides": []any{}},
				"options":     object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}},
				"gridPos":     object{"h": 8, "w": 12, "x": 12 * (i % 2), "y": y + 8*(i/2)}})
		}
		y += 8 * ((len(r.panels) + 1) / 2)
	}
	variable := func(name string) object {
		query := fmt.Sprintf("label_values(%s, %s)", telemetry.Requests.Name, name)
		return object{"name": name, "type": "query", "datasource": source, "query": object{"query": query, "refId": name}, "definition": query,
			"includeAll": true, "multi": true, "allValue": ".*", "refresh": 2, "sort": 1, "current": object{"text": "All", "value": "$__all"}}
	}
	return write(w, object{
		"uid": "tokenmeter", "title": "tokenmeter", "tags": []string{"tokenmeter", "llm"}, "schemaVersion": 39, "version": 1, "editable": true,
		"refresh": "30s", "time": object{"from": "now-3h", "to": "now"}, "timezone": "", "panels": panels,
		"templating": object{"list": []any{object{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source", "current": object{}}, variable("route"), variable("model")}},
	})
}

func (p *panel) grafanaUnit() string {
	if p.unit == "" {
		return "short"
	}
	return p.unit
}

// says is what a panel shows, for those who wonder.
func (p *panel) says() string {
	if p.about != "" {
		return p.about
	}
	return p.metric.Help
}

func write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
