// Package rules writes objectives for others to evaluate: Prometheus recording
// and alerting rules over our counters, unit tests of them for promtool, and
// Datadog's service level objectives.
package rules

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/service/slo"
)

// The counters that the rules read, with the labels slo (the objective's name,
// or its Hash), source and, for an objective with groups, group. Further labels
// are summed over.
const (
	GoodTotal  = "tokenmeter_slo_good_total"
	ValidTotal = "tokenmeter_slo_valid_total"
)

// The recorded series.
const (
	increase = "slo:tokenmeter_slo_%s:increase%s" // good or valid; 1m or 5m
	sum      = "slo:tokenmeter_slo_%s:sum%s"      // bad or valid; a window
	burn     = "slo:tokenmeter_slo_burn:ratio%s"  // a window
)

// Steps from which windows are summed: short ones from minutes, long ones from
// five minutes, so that none costs more than some thousand samples. A long
// window is up to five minutes behind.
const (
	fine    = time.Minute
	coarse  = 5 * time.Minute
	fineMax = 6 * time.Hour
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
	f.line("# Written by `tokenmeter slo rules`. The counters are %s and", GoodTotal)
	f.line("# %s of `tokenmeter serve`.", ValidTotal)
	f.line("#")
	f.line("# Increments are recorded as differences of the counters, so that they add up")
	f.line("# exactly, and windows are sums of increments: cheap, and never a mean of ratios.")
	f.line("# What had no events has no burn rate. Ranges are a second short of the window")
	f.line("# because a range holds both its ends.")
	for _, o := range objectives {
		if why := CanFollow(o); why != "" {
			f.line("# Note: %s.", why)
		}
	}
	f.line("groups:")
	// One group, in order: then no rule sees what another one said a minute ago.
	f.group("tokenmeter-slo", fine)
	f.increments(fine)
	f.increments(coarse)
	windows := windowsOf(objectives)
	for _, d := range windows {
		f.window(d)
	}
	for _, o := range objectives {
		f.objective(o, windows)
	}
	for _, o := range objectives {
		for i := range o.Alerts {
			f.alert(o, &o.Alerts[i])
		}
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

type file struct{ b strings.Builder }

func (f *file) line(format string, args ...any) {
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

// increments records by how much the counters grew from one full step of the
// clock to the next, whenever the group is evaluated in between, so that steps
// have no gap and no overlap. A counter below what it was has started anew, and
// what it shows was counted since. After a gap in scraping the first increment
// spans it, for up to an hour.
func (f *file) increments(step time.Duration) {
	name := promDuration(step)
	for _, what := range []string{"good", "valid"} {
		x := "tokenmeter_slo_" + what + "_total"
		now := fmt.Sprintf("last_over_time(%s[%s:%s])", x, name, name)
		before := fmt.Sprintf("last_over_time(%s[1h:%s] offset %s)", x, name, name)
		expr := fmt.Sprintf("sum by (slo, source, group) ((%s - %s) >= 0 or (%s < %s))", now, before, now, before)
		if step > fine { // once a step, although the group is evaluated more often
			expr = fmt.Sprintf("%s and on() (vector(time()) %% %d < %d)", expr, int(step.Seconds()), int(fine.Seconds()))
		}
		f.record(fmt.Sprintf(increase, what, name), expr)
	}
}

// windowsOf are the windows of all burn alerts, and the rolling windows.
func windowsOf(objectives []*slo.Objective) []time.Duration {
	var list []time.Duration
	for _, o := range objectives {
		list = append(list, o.BurnWindows()...)
		if o.Window.Calendar == "" {
			list = append(list, o.Window.Rolling)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *file) window(d time.Duration) {
	name, stepName := slo.WindowName(d), "5m"
	if d <= fineMax || d%coarse != 0 {
		stepName = "1m"
	}
	over := func(what string) string {
		return fmt.Sprintf("sum_over_time(%s[%s])", fmt.Sprintf(increase, what, stepName), promDuration(d-time.Second))
	}
	f.record(fmt.Sprintf(sum, "valid", name), over("valid"))
	f.record(fmt.Sprintf(sum, "bad", name), over("valid")+" - "+over("good"))
}

// objective records what is known of it without counting, and its budget.
func (f *file) objective(o *slo.Objective, windows []time.Duration) {
	label := "slo: " + o.Name
	f.record("slo:tokenmeter_slo_target:ratio", "vector("+exact(o.Target)+")", label)
	for _, d := range windows {
		if slices.Contains(o.BurnWindows(), d) || d == o.Window.Rolling {
			f.record(fmt.Sprintf(burn, slo.WindowName(d)), ratio(o, d)+" / "+exact(o.Budget), label)
		}
	}
	if o.Window.Calendar == "" {
		f.record("slo:tokenmeter_slo_budget_remaining:ratio", "1 - "+ratio(o, o.Window.Rolling)+" / "+exact(o.Budget), label)
	}
}

// selector picks an objective's series; objectives with groups are judged as a
// whole.
func selector(o *slo.Objective, name string) string {
	s := name + matcher(o)
	if len(o.By) > 0 {
		return fmt.Sprintf("sum without (group) (%s)", s)
	}
	return s
}

// matcher picks by the name or by the hash.
func matcher(o *slo.Objective) string {
	return fmt.Sprintf(`{slo=~"%s|%s"}`, strings.ReplaceAll(o.Name, ".", `[.]`), o.Hash)
}

// ratio is the share of bad events in a window; nothing where there were none.
func ratio(o *slo.Objective, d time.Duration) string {
	name := slo.WindowName(d)
	return fmt.Sprintf("%s / (%s > 0)", selector(o, fmt.Sprintf(sum, "bad", name)), selector(o, fmt.Sprintf(sum, "valid", name)))
}

// alert writes an alert, where PromQL can say it.
func (f *file) alert(o *slo.Objective, a *slo.Alert) {
	var expr, why string
	labels := []string{"slo: " + o.Name, "severity: " + string(a.Severity)}
	period := o.Window.Period()
	switch {
	case a.Factor > 0:
		long, short := slo.WindowName(a.Long), slo.WindowName(a.Short)
		limit := exact(a.Factor * o.Budget)
		expr = fmt.Sprintf("%s > %s and %s > %s", ratio(o, a.Long), limit, ratio(o, a.Short), limit)
		if a.MinEvents > 0 {
			expr += fmt.Sprintf(" and %s >= %d", selector(o, fmt.Sprintf(sum, "valid", long)), a.MinEvents)
		}
		if a.MinBad > 0 {
			expr += fmt.Sprintf(" and %s >= %d", selector(o, fmt.Sprintf(sum, "bad", long)), a.MinBad)
		}
		labels = append(labels, "long: "+long, "short: "+short, "exhaustion: "+slo.WindowName(time.Duration(float64(period)/a.Factor).Truncate(time.Minute)))
		why = fmt.Sprintf("%s burns its error budget more than %s times as fast as allowed, over %s and %s: {{ $value | humanizePercentage }} were bad. At that pace all of it is spent in %s.",
			o.Name, shown(a.Factor), long, short, slo.WindowName(time.Duration(float64(period)/a.Factor).Truncate(time.Minute)))
	case a.NoData > 0:
		expr = noData(o, a.NoData)
		why = fmt.Sprintf("Nothing of %s was counted, or nothing was scraped, for %s.", o.Name, slo.WindowName(a.NoData))
	case o.Window.Calendar != "":
		return
	case a.Below != nil:
		expr = fmt.Sprintf("1 - %s / %s < %s", ratio(o, o.Window.Rolling), exact(o.Budget), exact(*a.Below))
		why = fmt.Sprintf("{{ $value | humanizePercentage }} of the error budget of %s is left.", o.Name)
	default:
		left := fmt.Sprintf("(1 - %s / %s)", ratio(o, o.Window.Rolling), exact(o.Budget))
		hour := fmt.Sprintf("(%s / %s)", ratio(o, min(time.Hour, period)), exact(o.Budget))
		expr = fmt.Sprintf("(%s * %s / (%s > 1) < %s) or %s <= 0", left, exact(period.Seconds()), hour, exact(a.Within.Seconds()), left)
		why = fmt.Sprintf("At the present pace the error budget of %s is spent within %s.", o.Name, slo.WindowName(a.Within))
	}
	f.line("      - alert: %s", alertName(o, a))
	f.line("        expr: %s", quoted(expr))
	f.line("        labels: {%s}", strings.Join(labels, ", "))
	f.line("        annotations:")
	f.line("          summary: %s", quoted(why))
	f.line("          description: %s", quoted(o.Compiled()))
	if o.About != "" {
		f.line("          about: %s", quoted(strings.ReplaceAll(o.About, "{{", "{ {")))
	}
}

// alertName is TokenmeterSLO and what kind of alert it is; the objective is a
// label.
func alertName(o *slo.Objective, a *slo.Alert) string {
	switch {
	case a.Factor > 0:
		return "TokenmeterSLOBurn"
	case a.NoData > 0:
		return "TokenmeterSLONoData"
	case a.Below != nil:
		return "TokenmeterSLOBudgetLow"
	}
	return "TokenmeterSLOBudgetSoonSpent"
}

// noData holds when no counters were scraped, or none grew. So many increments
// must be there that a server which has just begun is not meant.
func noData(o *slo.Objective, d time.Duration) string {
	over := fmt.Sprintf("%s[%s]", fmt.Sprintf(increase, "valid", "1m")+matcher(o), promDuration(d-time.Second))
	sums, counts := fmt.Sprintf("sum_over_time(%s)", over), fmt.Sprintf("count_over_time(%s)", over)
	if len(o.By) > 0 {
		sums, counts = fmt.Sprintf("sum without (group) (%s)", sums), fmt.Sprintf("max without (group) (%s)", counts)
	}
	return fmt.Sprintf(`absent_over_time(%s%s[%s]) or (%s == 0 and %s >= %d)`, ValidTotal, matcher(o), promDuration(d), sums, counts, max(int(d/time.Minute)-1, 1))
}

// exact writes the shortest number that reads back the same.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// shown is a figure in a sentence: four digits are plenty.
func shown(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// promDuration writes whole milliseconds or seconds as Prometheus reads them.
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

// quoted is a YAML string in single quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
