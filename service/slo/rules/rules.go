// Package rules writes objectives for others to evaluate: Prometheus recording
// and alerting rules over our counters, plain or as a resource of Kubernetes,
// unit tests of them for promtool, and Datadog's service level objectives with
// their monitors.
package rules

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/service/slo"
)

// The metrics that the rules read. Counters have the labels hash, source, group
// and run; further labels, like those of the process that was scraped, tell
// nothing apart.
const (
	BadTotal   = "tokenmeter_slo_bad_total"
	ValidTotal = "tokenmeter_slo_valid_total"
	Info       = "tokenmeter_slo_info"
	Unwritten  = "tokenmeter_history_unwritten_seconds"
)

// BudgetRemaining is recorded for each objective with a rolling window: the
// share of its budget that is left.
const BudgetRemaining = "slo:tokenmeter_budget_remaining:ratio"

// The other recorded series. Those before them were called slo:tokenmeter_slo_…
// and meant something else, so that no name has two meanings in one Prometheus.
const (
	sum    = "slo:tokenmeter_%s:sum%s"   // bad or valid; a window
	most   = "slo:tokenmeter_%s:hi"      // bad or valid, of a run: the newest it showed
	least  = "slo:tokenmeter_%s:lo"      // the oldest of the last minutes
	burn   = "slo:tokenmeter_burn:ratio" // and a window
	target = "slo:tokenmeter_target:ratio"
)

// How often rules are evaluated. Windows up to fineMax come from the counters,
// longer ones from snapshots of them, of which 28 days hold 20,000.
const (
	fine    = time.Minute
	coarse  = 2 * time.Minute
	fineMax = 6 * time.Hour
)

// Snapshots look back further than they are taken, so that evaluations may be
// missed: the end of a run is seen for an hour, its beginning for a quarter.
const (
	endSeen   = time.Hour
	beginSeen = 15 * time.Minute
)

// CanFollow says why Prometheus can't evaluate an objective; "" when it can.
func CanFollow(o *slo.Objective) string {
	switch {
	case o.Window.Calendar != "":
		return fmt.Sprintf("%s has a calendar window; its alerts are written, its budget is not: PromQL knows no calendar", o.Name)
	case len(o.Holes) > 0:
		return fmt.Sprintf("%s has corrections, which Prometheus does not know", o.Name)
	}
	return ""
}

// Prometheus writes the rule file.
func Prometheus(w io.Writer, objectives []*slo.Objective) error {
	f := &file{}
	f.about(objectives)
	f.groups(objectives)
	_, err := io.WriteString(w, f.b.String())
	return err
}

// Kubernetes writes the same rules as a PrometheusRule of the Prometheus
// Operator.
func Kubernetes(w io.Writer, objectives []*slo.Objective) error {
	f := &file{}
	f.about(objectives)
	f.line("apiVersion: monitoring.coreos.com/v1")
	f.line("kind: PrometheusRule")
	f.line("metadata:")
	f.line("  name: tokenmeter-slo")
	f.line("  labels: {app.kubernetes.io/name: tokenmeter} # what the ruleSelector of your Prometheus asks for")
	f.line("spec:")
	f.indent = "  "
	f.groups(objectives)
	_, err := io.WriteString(w, f.b.String())
	return err
}

func (f *file) about(objectives []*slo.Objective) {
	f.line("# Written by `tokenmeter slo rules`. The counters are %s and", BadTotal)
	f.line("# %s of `tokenmeter serve`.", ValidTotal)
	f.line("#")
	f.line("# A window is the difference between the most and the least that a run of the")
	f.line("# counters showed in it, summed over runs. No run ever falls, so missed scrapes")
	f.line("# and evaluations delay a figure and change none, and bad never exceeds valid.")
	f.line("# What had no events has no burn rate. Ranges are a millisecond longer than the")
	f.line("# window: Prometheus 3 leaves their beginning out, and older ones do not.")
	for _, o := range objectives {
		if why := CanFollow(o); why != "" {
			f.line("# Note: %s.", why)
		}
	}
}

// groups writes two groups: what is summed from snapshots, and the rest with the
// alerts. Rules of one group see what those above them said just now.
func (f *file) groups(objectives []*slo.Objective) {
	f.line("groups:")
	if hasLong(objectives) {
		f.group(slowGroup, coarse)
		f.snapshots()
		for _, o := range objectives {
			f.sums(o, func(d time.Duration) bool { return d > fineMax })
		}
	}
	f.group(fastGroup, fine)
	for _, o := range objectives {
		f.sums(o, func(d time.Duration) bool { return d <= fineMax })
		f.objective(o)
	}
	for _, o := range objectives {
		for i := range o.Alerts {
			f.alert(o, &o.Alerts[i])
		}
		f.absent(o)
	}
	if slices.ContainsFunc(objectives, live) {
		f.unwritten()
	}
}

// The names of the groups.
const (
	slowGroup = "tokenmeter-slo-slow"
	fastGroup = "tokenmeter-slo"
)

type file struct {
	b      strings.Builder
	indent string
}

func (f *file) line(format string, args ...any) {
	f.b.WriteString(f.indent)
	fmt.Fprintf(&f.b, format, args...)
	f.b.WriteByte('\n')
}

func (f *file) group(name string, every time.Duration) {
	f.line("  - name: %s", name)
	f.line("    interval: %s", promDuration(every))
	f.line("    rules:")
}

func (f *file) record(name, expr string, labels ...string) {
	f.line("      - record: %s", name)
	f.line("        expr: %s", quoted(expr))
	if len(labels) > 0 {
		f.line("        labels: {%s}", strings.Join(labels, ", "))
	}
}

// said is what an objective is about, and what it says.
func said(o *slo.Objective) string { return strings.TrimSpace(o.About + " " + o.Compiled()) }

// exact writes the shortest number that reads back the same.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// shown is a figure in a sentence: four digits are plenty.
func shown(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// promDuration writes whole seconds as Prometheus reads them.
func promDuration(d time.Duration) string {
	s := int64(math.Round(d.Seconds()))
	switch {
	case s%86400 == 0:
		return fmt.Sprintf("%dd", s/86400)
	case s%3600 == 0:
		return fmt.Sprintf("%dh", s/3600)
	case s%60 == 0:
		return fmt.Sprintf("%dm", s/60)
	}
	return fmt.Sprintf("%ds", s)
}

// span is a range that holds both ends of a window.
func span(d time.Duration) string { return promDuration(d) + "1ms" }

// named is the label with an objective's name, in quotes: names like null, true
// and 1e3 are none to YAML otherwise.
func named(o *slo.Objective) string { return "slo: " + quoted(o.Name) }

// quoted is a YAML string: in single quotes, or in double ones with escapes where
// a character would act on a terminal or break the line.
func quoted(text string) string {
	if printable.Text(text) != text {
		return strconv.Quote(text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
