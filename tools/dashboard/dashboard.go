// Package dashboard writes dashboards and scaling rules from the table of
// package telemetry: for Grafana, Datadog and KEDA or a plain autoscaler. No
// name of a metric stands here; a metric that is renamed or removed does not
// compile, or is renamed everywhere.
package dashboard

import (
	"fmt"
	"strings"

	"tokenmeter/service/telemetry"
)

// view is how a panel shows its metrics.
type view string

const (
	rate      view = "rate"      // of counters, per second, by a label
	share     view = "share"     // of one counter in another
	quantiles view = "quantiles" // p50, p95, p99 of a histogram
	now       view = "now"       // a gauge, by a label
	budget    view = "budget"    // burn rate of objectives
	left      view = "left"      // share of the budget that is left; rules of Prometheus record it
)

// panel is one picture of a dashboard.
type panel struct {
	title, about string
	view         view
	metric       *telemetry.Metric
	of           *telemetry.Metric // share: of what
	by           []string          // labels
	unit         string            // as Grafana calls it; empty: short
}

// row is a line of panels under a heading.
type row struct {
	title  string
	panels []panel
}

var rows = []row{
	{"Promises", []panel{
		{title: "Good ratio of objectives", about: "Exact: good events / valid events, by objective.", view: share, metric: telemetry.SLOGood, of: telemetry.SLOValid, by: []string{"slo"}, unit: "percentunit"},
		{title: "Burn rate", about: "How many times as fast as allowed the error budget is spent. At 1 it lasts exactly its window.", view: budget, metric: telemetry.SLOGood, of: telemetry.SLOValid, by: []string{"slo"}},
		{title: "Error budget left", about: "Over each objective's window, as the rules of tokenmeter slo rules record it. Negative: more was spent than there was.", view: left, metric: telemetry.SLOBad, of: telemetry.SLOValid, by: []string{"slo", "source"}, unit: "percentunit"},
		{title: "Requests by outcome", view: rate, metric: telemetry.Requests, by: []string{"outcome"}, unit: "reqps"},
		{title: "In flight", view: now, metric: telemetry.InFlight, by: []string{"listener"}},
	}},
	{"Latency", []panel{
		{title: telemetry.TTFT.Help, view: quantiles, metric: telemetry.TTFT, unit: "s"},
		{title: telemetry.TPOT.Help, view: quantiles, metric: telemetry.TPOT, unit: "s"},
		{title: telemetry.ICL.Help, view: quantiles, metric: telemetry.ICL, unit: "s"},
		{title: telemetry.MaxGap.Help, view: quantiles, metric: telemetry.MaxGap, unit: "s"},
		{title: telemetry.E2E.Help, view: quantiles, metric: telemetry.E2E, unit: "s"},
		{title: telemetry.DecodeSpeed.Help, view: quantiles, metric: telemetry.DecodeSpeed},
	}},
	{"Tokens", []panel{
		{title: "Output tokens per second", view: rate, metric: telemetry.OutputTokens, by: []string{"model"}},
		{title: "Input tokens per second", view: rate, metric: telemetry.InputTokens, by: []string{"model"}},
		{title: "Share of input tokens from the cache", view: share, metric: telemetry.CachedTokens, of: telemetry.InputTokens, by: []string{"model"}, unit: "percentunit"},
		{title: "Share of output tokens wasted", view: share, metric: telemetry.Wasted, of: telemetry.OutputTokens, by: []string{"route"}, unit: "percentunit"},
		{title: "Stalls per second", view: rate, metric: telemetry.Stalls, by: []string{"upstream"}},
	}},
	{"The servers, as they say themselves", []panel{
		{title: "Running", view: now, metric: telemetry.ServerRunning, by: []string{"upstream"}},
		{title: "Waiting", view: now, metric: telemetry.ServerWaiting, by: []string{"upstream"}},
		{title: "KV cache in use", view: now, metric: telemetry.ServerKV, by: []string{"upstream", "page"}, unit: "percentunit"},
		{title: "Mean times", about: "By the server's own clock: queue, prefill, decode, first token, gaps.", view: share, metric: telemetry.ServerTime, of: telemetry.ServerTimed, by: []string{"upstream", "of"}, unit: "s"},
		{title: "Prefix cache hits", view: share, metric: telemetry.ServerHits, of: telemetry.ServerLookups, by: []string{"upstream"}, unit: "percentunit"},
		{title: "Drafted tokens accepted", view: share, metric: telemetry.ServerAccepted, of: telemetry.ServerDrafted, by: []string{"upstream"}, unit: "percentunit"},
		{title: "Preemptions per second", view: rate, metric: telemetry.ServerPreempted, by: []string{"upstream"}},
		{title: "GPU utilisation", view: now, metric: telemetry.ServerGPU, by: []string{"upstream", "page"}, unit: "percentunit"},
	}},
	{"The proxy itself", []panel{
		{title: telemetry.FirstDelay.Help, view: quantiles, metric: telemetry.FirstDelay, unit: "s"},
		{title: telemetry.SlowReader.Help, view: quantiles, metric: telemetry.SlowReader, unit: "s"},
		{title: "Unmeasured requests by reason", view: rate, metric: telemetry.Unmeasured, by: []string{"reason"}, unit: "reqps"},
		{title: "Refused requests by why", view: rate, metric: telemetry.Refused, by: []string{"why"}, unit: "reqps"},
		{title: "Healthy upstreams", view: now, metric: telemetry.Healthy, by: []string{"upstream"}},
		{title: "Requests that exporters dropped", view: rate, metric: telemetry.Dropped, by: []string{"exporter"}, unit: "reqps"},
	}},
}

// budgetLeft is what the rules of package rules record.
const budgetLeft = "slo:tokenmeter_budget_remaining:ratio"

// target is one query with its legend.
type target struct{ expr, legend string }

// promQL is what a panel asks Prometheus. window is a duration, or Grafana's
// variable; filter selects series.
func (p *panel) promQL(window, filter string) []target {
	by := strings.Join(p.by, ", ")
	legend := "{{" + strings.Join(p.by, "}} {{") + "}}"
	if !p.metric.OfRequests() {
		filter = ""
	}
	grown := func(m *telemetry.Metric) string {
		return fmt.Sprintf("sum by (%s) (rate(%s%s[%s]))", by, m.Name, filter, window)
	}
	switch p.view {
	case rate:
		return []target{{grown(p.metric), legend}}
	case share:
		return []target{{fmt.Sprintf("%s / (%s > 0)", grown(p.metric), grown(p.of)), legend}}
	case left:
		return []target{{budgetLeft, legend}}
	case now:
		return []target{{fmt.Sprintf("sum by (%s) (%s%s)", by, p.metric.Name, filter), legend}}
	case budget:
		return []target{{fmt.Sprintf("(1 - %s / (%s > 0)) / (1 - max by (%s) (%s))", grown(p.metric), grown(p.of), by, telemetry.SLOTarget.Name), legend}}
	}
	var all []target
	for _, q := range []string{"0.5", "0.95", "0.99"} {
		all = append(all, target{fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(%s_bucket%s[%s])))", q, p.metric.Name, filter, window), "p" + strings.TrimPrefix(q+"0", "0.")[:2]})
	}
	return all
}
