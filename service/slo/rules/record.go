package rules

import (
	"fmt"
	"slices"
	"time"

	"tokenmeter/service/slo"
)

// noTraffic is the window in which nothing happened when nothing happens; an
// alert waits for the rest of its time.
const noTraffic = 5 * time.Minute

// windowsOf are the windows of an objective's alerts and its rolling window.
func windowsOf(o *slo.Objective) []time.Duration {
	list := o.BurnWindows()
	if o.Window.Calendar == "" {
		list = append(list, o.Window.Rolling)
	}
	for _, a := range o.Alerts {
		switch {
		case a.NoData > 0:
			list = append(list, min(a.NoData, noTraffic))
		case a.Within > 0 && o.Window.Calendar == "":
			list = append(list, pace(o))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// pace is the window from which it is reckoned how long a budget lasts.
func pace(o *slo.Objective) time.Duration { return min(time.Hour, o.Window.Period()) }

func hasLong(objectives []*slo.Objective) bool {
	return slices.ContainsFunc(objectives, func(o *slo.Objective) bool { return slices.Max(windowsOf(o)) > fineMax })
}

// snapshots record what each run shows, for long windows. They are cumulative:
// one that is missed is made good by the next.
func (f *file) snapshots() {
	for _, what := range []string{"bad", "valid"} {
		total := "tokenmeter_slo_" + what + "_total"
		f.record(fmt.Sprintf(most, what), fmt.Sprintf("max by (hash, source, group, run) (max_over_time(%s[%s]))", total, promDuration(endSeen)))
		f.record(fmt.Sprintf(least, what), fmt.Sprintf("min by (hash, source, group, run) (min_over_time(%s[%s]))", total, promDuration(beginSeen)))
	}
}

// sums record an objective's windows, those that are wanted. Counters are picked
// by the hash: what they are called may differ between processes and change.
func (f *file) sums(o *slo.Objective, wanted func(time.Duration) bool) {
	hash := fmt.Sprintf("{hash=%q}", o.Hash)
	for _, d := range windowsOf(o) {
		if !wanted(d) {
			continue
		}
		for _, what := range []string{"bad", "valid"} {
			var expr string
			if d > fineMax {
				expr = fmt.Sprintf("sum by (source, group) (max_over_time(%s%s[%s]) - min_over_time(%s%s[%s]))",
					fmt.Sprintf(most, what), hash, span(d), fmt.Sprintf(least, what), hash, span(d))
			} else {
				x := "tokenmeter_slo_" + what + "_total" + hash + "[" + span(d) + "]"
				expr = fmt.Sprintf("sum by (source, group) (max by (source, group, run) (max_over_time(%s)) - min by (source, group, run) (min_over_time(%s)))", x, x)
			}
			f.record(fmt.Sprintf(sum, what, slo.WindowName(d)), expr, named(o))
		}
	}
}

// objective records what is known of it without counting, its burn rates and
// its budget.
func (f *file) objective(o *slo.Objective) {
	label := named(o)
	f.record(target, "vector("+exact(o.Target)+")", label)
	for _, d := range windowsOf(o) {
		if slices.Contains(o.BurnWindows(), d) || d == o.Window.Rolling {
			f.record(burn+slo.WindowName(d), whole(o).ratio(d)+" / "+exact(o.Budget), label)
		}
	}
	if o.Window.Calendar == "" {
		f.record(BudgetRemaining, "1 - "+whole(o).ratio(o.Window.Rolling)+" / "+exact(o.Budget), label)
	}
}

// scope is an objective as a whole, or each of its groups.
type scope struct {
	o       *slo.Objective
	by, sel string
}

func whole(o *slo.Objective) scope { return scope{o, "slo, source", ""} }

func groups(o *slo.Objective) scope { return scope{o, "slo, source, group", `, group!=""`} }

// scopes are the whole, and the groups where there are some.
func scopes(o *slo.Objective) []scope {
	if len(o.By) == 0 {
		return []scope{whole(o)}
	}
	return []scope{whole(o), groups(o)}
}

// count is bad or valid events of a window.
func (s scope) count(what string, d time.Duration) string {
	return fmt.Sprintf(`sum by (%s) (%s{slo="%s"%s})`, s.by, fmt.Sprintf(sum, what, slo.WindowName(d)), s.o.Name, s.sel)
}

// ratio is the share of bad events in a window; nothing where there were none.
func (s scope) ratio(d time.Duration) string {
	return fmt.Sprintf("%s / (%s > 0)", s.count("bad", d), s.count("valid", d))
}

// minima hold where enough happened in a window.
func (s scope) minima(d time.Duration, events, bad int64) string {
	text := ""
	if events > 0 {
		text += fmt.Sprintf(" and %s >= %d", s.count("valid", d), events)
	}
	if bad > 0 {
		text += fmt.Sprintf(" and %s >= %d", s.count("bad", d), bad)
	}
	return text
}
