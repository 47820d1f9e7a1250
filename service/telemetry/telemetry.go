// Package telemetry is the one table of what leaves the daemon as metrics: each
// one's name, unit, labels and meaning, and how it is read off a finished
// request. The adapters in its subfolders send what the table says, and
// dashboards and documentation are written from it, so that none of them can
// name a metric that does not exist.
package telemetry

import "strings"

// Kind is what a metric does over time.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"   // only grows
	Gauge     Kind = "gauge"     // is as it is now
	Histogram Kind = "histogram" // a distribution of single values
)

// Metric is one line of the table.
type Metric struct {
	Name string // as Prometheus has it; begins with tokenmeter_, ends in a unit
	Kind Kind
	Unit string // seconds, tokens, requests, …
	Help string // meaning, in one sentence
	// Labels in order. Those of requests first, then the metric's own.
	Labels []string
	// Buckets are the upper edges of a histogram, before those of objectives.
	Buckets []float64
	// Objective is the name by which objectives call the figure; empty: none do.
	Objective string
	// PerUnit is how many of the objective's units one of ours is: 1000 for
	// milliseconds to seconds. 0: 1.
	PerUnit float64
	// Fine histograms have a value a token, not one a request.
	Fine bool

	state bool // read when asked for
	at    int  // place in Table
}

// At is the metric's place in the Table.
func (m *Metric) At() int { return m.at }

// RequestLabels are the labels of what is counted a request. Their values come
// from the configuration and are few; a session or a task is never a label.
var RequestLabels = []string{"source", "route", "upstream", "model", "api"}

// Own is the name of the label that a metric of requests has besides
// RequestLabels; empty: none.
func (m *Metric) Own() string {
	if !m.state && len(m.Labels) > len(RequestLabels) {
		return m.Labels[len(RequestLabels)]
	}
	return ""
}

// OfRequests reports whether the metric is read off finished requests, by
// Counts or Figures. The others come from a State, when they are asked for.
func (m *Metric) OfRequests() bool {
	return !m.state
}

// Dotted is the name as Datadog has it: tokenmeter.ttft.seconds.
func (m *Metric) Dotted() string {
	return strings.ReplaceAll(strings.TrimSuffix(m.Name, "_total"), "_", ".")
}

// OTel is the name as OpenTelemetry has it, where the unit stands apart:
// tokenmeter.ttft. Translated to Prometheus it is Name again.
func (m *Metric) OTel() string {
	name := strings.TrimSuffix(m.Name, "_total")
	for _, unit := range []string{"_seconds", "_ratio", "_per_second"} {
		name = strings.TrimSuffix(name, unit)
	}
	return strings.ReplaceAll(name, "_", ".")
}

// OTelUnit is the unit as UCUM writes it.
func (m *Metric) OTelUnit() string {
	switch {
	case m.Kind == Counter:
		return "{" + strings.TrimSuffix(m.Unit, "s") + "}"
	case m.Unit == "seconds":
		return "s"
	case m.Unit == "ratio":
		return "1"
	case m.Unit == "tokens_per_second":
		return "{token}/s"
	}
	return "{" + strings.TrimSuffix(m.Unit, "s") + "}"
}
