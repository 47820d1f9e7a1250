package telemetry

import (
	"fmt"
	"strings"
)

// Markdown is the table as documentation: every metric with its type, labels,
// unit and meaning, and its names elsewhere.
func Markdown() string {
	var b strings.Builder
	part := func(title string, has func(*Metric) bool) {
		fmt.Fprintf(&b, "### %s\n\n| Prometheus | type | labels | unit | meaning | OTLP | Datadog |\n|---|---|---|---|---|---|---|\n", title)
		for _, m := range Table {
			if !has(m) {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` | `%s` |\n", m.Name, m.Kind, m.shownLabels(), strings.ReplaceAll(m.Unit, "_", " "),
				strings.ReplaceAll(m.Help, "|", `\|`), m.OTel(), m.Dotted())
		}
		b.WriteByte('\n')
	}
	part("Counters of finished requests", func(m *Metric) bool { return m.OfRequests() && m.Kind == Counter })
	part("Distributions of finished requests", func(m *Metric) bool { return m.OfRequests() && m.Kind == Histogram })
	part("Objectives, and the daemon itself", func(m *Metric) bool { return !m.OfRequests() })
	return strings.TrimSuffix(b.String(), "\n")
}

// shownLabels are the labels, those of requests in short.
func (m *Metric) shownLabels() string {
	all := m.Labels
	var shown []string
	if len(all) >= len(RequestLabels) && all[0] == RequestLabels[0] && all[1] == RequestLabels[1] {
		shown, all = append(shown, "*request*"), all[len(RequestLabels):]
	}
	for _, l := range all {
		shown = append(shown, "`"+l+"`")
	}
	if shown == nil {
		return "–"
	}
	return strings.Join(shown, ", ")
}
