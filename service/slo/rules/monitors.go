package rules

import (
	"fmt"
	"io"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/service/slo"
)

// datadogMonitor is a body of POST /api/v1/monitor.
type datadogMonitor struct {
	Type    string         `json:"type"`
	Name    string         `json:"name"`
	Message string         `json:"message"`
	Query   string         `json:"query"`
	Tags    []string       `json:"tags"`
	Options datadogOptions `json:"options"`
}

type datadogOptions struct {
	Thresholds map[string]float64 `json:"thresholds"`
}

// longestDatadog is the longest window of Datadog's burn-rate monitors.
const longestDatadog = 48 * time.Hour

// DatadogMonitors writes the alerts of objectives as monitors of Datadog, a list
// with one request body each: burn rates over two windows and budgets as alerts
// of its SLOs, silence as one of the metric. Datadog gives an SLO its id when it
// is made: until ID in a query is that of the SLO that the message names,
// Datadog refuses the monitor. left is what Datadog can't say, in sentences.
func DatadogMonitors(w io.Writer, objectives []*slo.Objective) (left []string, err error) {
	list := []datadogMonitor{}
	for _, o := range objectives {
		for _, source := range o.Sources {
			frame := datadogOf(o, source).Thresholds[0].Timeframe
			for i := range o.Alerts {
				m, why := monitorOf(o, source, &o.Alerts[i], frame)
				if why != "" {
					left = append(left, fmt.Sprintf("%s (%s): no monitor for %s: %s", o.Name, source, o.Alerts[i].Name, why))
					continue
				}
				list = append(list, m)
			}
		}
	}
	return left, printable.EncodeJSON(w, "  ", list)
}

func monitorOf(o *slo.Objective, source slo.Source, a *slo.Alert, frame string) (m datadogMonitor, why string) {
	of := fmt.Sprintf("%s (%s)", o.Name, source)
	m = datadogMonitor{Type: "slo alert", Name: of + ": " + a.Name,
		Message: fmt.Sprintf("%s Put the id of the SLO %q in place of ID.", o.Compiled(), of),
		Tags:    []string{"slo:" + o.Name, "source:" + string(source), "severity:" + string(a.Severity), "tool:tokenmeter"}}
	var limit float64
	switch {
	case a.Factor > 0 && (a.Long > longestDatadog || a.Long < time.Hour):
		return m, "Datadog's long windows have 1 h to 48 h"
	case a.Factor > 0:
		limit = a.Factor
		m.Query = fmt.Sprintf("burn_rate(\"ID\").over(%q).long_window(%q).short_window(%q) > %s", frame, datadogSpan(a.Long), datadogSpan(a.Short), exact(limit))
	case a.Below != nil:
		limit = (1 - *a.Below) * 100
		m.Query = fmt.Sprintf("error_budget(\"ID\").over(%q) > %s", frame, exact(limit))
	case a.NoData > 0:
		m.Type, m.Message, limit = "query alert", o.Compiled(), 1
		m.Query = fmt.Sprintf("sum(last_%dm):default_zero(sum:tokenmeter.slo.valid{slo:%s,source:%s}.as_count()) < 1", int(a.NoData/time.Minute), o.Name, source)
	default:
		return m, "Datadog does not reckon when a budget ends"
	}
	m.Options.Thresholds = map[string]float64{"critical": limit}
	return m, ""
}

// datadogSpan writes whole hours or minutes.
func datadogSpan(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
