package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tokenmeter/service/slo"
)

// notScraped is how long an objective is not seen at all before somebody is
// told, where no alert on silence says another time.
const notScraped = 15 * time.Minute

// alert writes an alert, where PromQL can say it.
func (f *file) alert(o *slo.Objective, a *slo.Alert) {
	switch {
	case a.Factor > 0:
		for _, s := range scopes(o) {
			f.burnAlert(s, a)
		}
	case a.NoData > 0:
		f.silence(o, a)
	case o.Window.Calendar != "":
	case a.Below != nil:
		s, w := whole(o), o.Window.Rolling
		f.rule("TokenmeterSLOBudgetLow", o, a.Severity, fmt.Sprintf("1 - %s / %s < %s%s", s.ratio(w), exact(o.Budget), exact(*a.Below), s.minima(w, max(a.MinEvents, o.MinEvents), a.MinBad)),
			0, fmt.Sprintf("{{ $value | humanizePercentage }} of the error budget of %s is left.", o.Name))
	default:
		s, w := whole(o), o.Window.Rolling
		enough := s.minima(w, max(a.MinEvents, o.MinEvents), a.MinBad)
		left := fmt.Sprintf("(1 - %s / %s)", s.ratio(w), exact(o.Budget))
		fast := fmt.Sprintf("(%s / %s)", s.ratio(pace(o)), exact(o.Budget))
		f.rule("TokenmeterSLOBudgetSoonSpent", o, a.Severity,
			fmt.Sprintf("(%s * %s / (%s > 1) < %s%s or %s <= 0)%s", left, exact(o.Window.Period().Seconds()), fast, exact(a.Within.Seconds()), s.minima(pace(o), a.MinEvents, a.MinBad), left, enough),
			0, fmt.Sprintf("At the present pace the error budget of %s is spent within %s.", o.Name, slo.WindowName(a.Within)))
	}
}

// burnAlert fires while the budget burns too fast over both windows.
func (f *file) burnAlert(s scope, a *slo.Alert) {
	o := s.o
	long, short, limit := slo.WindowName(a.Long), slo.WindowName(a.Short), exact(a.Factor*o.Budget)
	spent := slo.WindowName(time.Duration(float64(o.Window.Period()) / a.Factor).Truncate(time.Minute))
	name, labels := o.Name, []string{"long: " + long, "short: " + short, "exhaustion: " + spent}
	if s.sel != "" { // a label of its own, or two rules would be one to promtool
		name, labels = name+" ({{ $labels.group }})", append(labels, "scope: group")
	}
	f.rule("TokenmeterSLOBurn", o, a.Severity,
		fmt.Sprintf("%s > %s and %s > %s%s", s.ratio(a.Long), limit, s.ratio(a.Short), limit, s.minima(a.Long, a.MinEvents, a.MinBad)),
		0, fmt.Sprintf("%s burns its error budget more than %s times as fast as allowed, over %s and %s: {{ $value | humanizePercentage }} were bad. At that pace all of it is spent in %s.",
			name, shown(a.Factor), long, short, spent),
		labels...)
}

// silence fires when nothing was counted for so long, while the objective is
// shown. That it is not shown is another alert's. Neither a server that has just
// begun is meant nor one that restarts, and an objective that nobody ever asked
// is. For a time that a range can bear, a page that is missing is no news.
func (f *file) silence(o *slo.Objective, a *slo.Alert) {
	over := min(a.NoData, noTraffic)
	valid := whole(o).count("valid", over)
	info := fmt.Sprintf(`sum by (slo, source) (label_replace(max_over_time(%s{hash="%s"}[%s]), "slo", "%s", "", ""))`, Info, o.Hash, span(noTraffic), o.Name)
	f.rule("TokenmeterSLONoData", o, a.Severity, fmt.Sprintf("(%s == 0 or 0 * (%s unless %s)) and %s", valid, info, valid, info),
		a.NoData-over, fmt.Sprintf("Nothing of %s was counted for %s.", o.Name, slo.WindowName(a.NoData)))
}

// absent fires when nobody shows an objective: the daemon is away, or not
// scraped. It belongs to every objective that has alerts at all.
func (f *file) absent(o *slo.Objective) {
	if !live(o) || len(o.Alerts) == 0 && len(o.Notes) == 0 { // without both, no alerts were asked for
		return
	}
	wait, severity := notScraped, slo.Ticket
	for _, a := range o.Alerts {
		if a.NoData > 0 {
			wait, severity = a.NoData, a.Severity
		}
	}
	f.rule("TokenmeterSLONotScraped", o, severity, fmt.Sprintf("absent(%s{hash=%q})", Info, o.Hash), wait,
		fmt.Sprintf("No server shows %s, or none is scraped, for %s: neither its budget nor its alerts are known.", o.Name, slo.WindowName(wait)))
}

// unwritten fires when a daemon can't write its history: one that ends then loses
// what it counted. It is of the daemon, and so once for all objectives.
func (f *file) unwritten() {
	f.line("      - alert: TokenmeterHistoryNotWritten")
	f.line("        expr: %s", quoted(Unwritten+" > 60"))
	f.line("        labels: {severity: %s}", slo.Ticket)
	f.line("        annotations:")
	f.line("          summary: %s", quoted("The history of objectives was not written for {{ $value | humanizeDuration }}: the disk is full, or may not be written."))
	f.line("          description: %s", quoted("What was counted is in memory only: it is written when that is possible again, and lost if the daemon ends before."))
}

// live reports whether a server counts an objective.
func live(o *slo.Objective) bool {
	return slices.ContainsFunc(o.Sources, func(s slo.Source) bool { return s != slo.Run })
}

func (f *file) rule(name string, o *slo.Objective, severity slo.Severity, expr string, wait time.Duration, why string, labels ...string) {
	f.line("      - alert: %s", name)
	f.line("        expr: %s", quoted(expr))
	if wait > 0 {
		f.line("        for: %s", promDuration(wait))
	}
	f.line("        labels: {%s}", strings.Join(append([]string{named(o), "severity: " + string(severity)}, labels...), ", "))
	f.line("        annotations:")
	f.line("          summary: %s", quoted(why))
	f.line("          description: %s", quoted(o.Compiled()))
	if o.About != "" {
		f.line("          about: %s", quoted(strings.ReplaceAll(o.About, "{{", "{ {")))
	}
}
