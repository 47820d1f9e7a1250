package rules

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tokenmeter/service/slo"
)

// PromtoolTests writes unit tests for the rule file: for each objective with
// burn alerts, when its alerts fire and resolve in a total failure, as our own
// evaluation says, and that they stay quiet without events and with one failure
// at night. rules is the rule file's path, as promtool finds it.
func PromtoolTests(w io.Writer, rules string, objectives []*slo.Objective) error {
	f := &file{}
	f.line("# Written by `tokenmeter slo rules --as promtool`; run: promtool test rules FILE")
	f.line("rule_files: [%s]", quoted(rules))
	f.line("evaluation_interval: 1m")
	f.line("group_eval_order: [%s, %s]", slowGroup, fastGroup)
	f.line("tests:")
	for _, o := range objectives {
		f.failure(o)
		f.quiet(o)
	}
	if len(objectives) == 0 {
		f.line("  []")
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

const (
	healthy = 60 // minutes
	failing = 30
	after   = 30
	perMin  = 600
)

// failure is a total failure after a time in which all is well. What must fire
// is worked out by the evaluator, a minute at a time.
func (f *file) failure(o *slo.Objective) {
	f.line("  - name: %s fails", o.Name)
	f.line("    interval: 1m")
	f.line("    input_series:")
	f.series(o, BadTotal, fmt.Sprintf("0x%d %d+%dx%d %dx%d", healthy, perMin, perMin, failing-1, perMin*failing, after-1))
	f.series(o, ValidTotal, fmt.Sprintf("0+%dx%d", perMin, healthy+failing+after))
	f.line("    alert_rule_test:")
	begin := time.Unix(0, 0).UTC()
	memory := &slo.Memory{}
	group := groupOf(o)
	k := slo.Key{Hash: o.Hash, Source: o.Sources[0], Group: group}
	var groups []string
	if group != "" {
		groups = []string{group}
	}
	for minute := 1; minute <= healthy+failing+after; minute++ {
		c := slo.Counts{Good: perMin, Valid: perMin}
		if minute > healthy && minute <= healthy+failing {
			c.Good = 0
		}
		memory.Add(k, begin.Add(time.Duration(minute-1)*time.Minute), 0, c)
		if minute < healthy || minute%5 != 0 {
			continue
		}
		now := begin.Add(time.Duration(minute)*time.Minute - time.Second)
		r := o.Evaluate(memory, o.Sources[0], groups, now)
		var firing []slo.Alert
		for i, a := range o.Alerts {
			if a.Factor > 0 && r.Alerts[i].Firing {
				firing = append(firing, a)
			}
		}
		f.alertTest(o, minute, firing, memory, k, now)
	}
}

// quiet: neither a time without events nor a single failure fires anything.
func (f *file) quiet(o *slo.Objective) {
	f.line("  - name: %s without events, and then one failure", o.Name)
	f.line("    interval: 1m")
	f.line("    input_series:")
	f.series(o, BadTotal, "0x40 1x39")
	f.series(o, ValidTotal, "7x40 8x39")
	f.line("    alert_rule_test:")
	for _, minute := range []int{30, 41, 80} {
		f.line("      - {eval_time: %dm, alertname: TokenmeterSLOBurn, exp_alerts: []}", minute)
	}
}

func (f *file) series(o *slo.Objective, name, values string) {
	group := ""
	if len(o.By) > 0 {
		group = fmt.Sprintf(`, group="%s"`, groupOf(o))
	}
	f.line("      - series: '%s{slo=\"%s\", hash=\"%s\", source=\"%s\"%s, run=\"0a1b2c3d\"}'", name, o.Name, o.Hash, o.Sources[0], group)
	f.line("        values: '%s'", values)
}

func groupOf(o *slo.Objective) string {
	if len(o.By) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.Repeat("x/", len(o.By)), "/")
}

func (f *file) alertTest(o *slo.Objective, minute int, firing []slo.Alert, memory *slo.Memory, k slo.Key, now time.Time) {
	f.line("      - eval_time: %dm", minute)
	f.line("        alertname: TokenmeterSLOBurn")
	if len(firing) == 0 {
		f.line("        exp_alerts: []")
		return
	}
	f.line("        exp_alerts:")
	for _, a := range firing {
		period := o.Window.Period()
		exhaustion := slo.WindowName(time.Duration(float64(period) / a.Factor).Truncate(time.Minute))
		c, _ := memory.Sum(k, now.Add(-a.Long), now, now, nil)
		for _, s := range scopes(o) {
			group, name := "", o.Name
			if s.sel != "" {
				group, name = "group: "+groupOf(o)+", scope: group, ", o.Name+" ("+groupOf(o)+")"
			}
			f.line("          - exp_labels: {%s, source: %s, %sseverity: %s, long: %s, short: %s, exhaustion: %s}", named(o), o.Sources[0], group, a.Severity,
				slo.WindowName(a.Long), slo.WindowName(a.Short), exhaustion)
			f.line("            exp_annotations:")
			f.line("              summary: %s", quoted(fmt.Sprintf("%s burns its error budget more than %s times as fast as allowed, over %s and %s: %s were bad. At that pace all of it is spent in %s.",
				name, shown(a.Factor), slo.WindowName(a.Long), slo.WindowName(a.Short), humanPercentage(float64(c.Bad())/float64(c.Valid)), exhaustion)))
			f.line("              description: %s", quoted(o.Compiled()))
			if o.About != "" {
				f.line("              about: %s", quoted(strings.ReplaceAll(o.About, "{{", "{ {")))
			}
		}
	}
}

// humanPercentage is how Prometheus writes a share.
func humanPercentage(x float64) string { return fmt.Sprintf("%.4g%%", x*100) }
