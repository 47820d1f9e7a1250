package report

import (
	"fmt"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
)

// found is the answer of a search.
func (v *sweepView) found(f *result.Found) {
	holds, has := f.Holds.Get()
	fails, failed := f.Fails.Get()
	unit := sweepVariables[f.Variable].unit
	switch {
	case has && failed:
		v.says = fmt.Sprintf("Holds at %s %s, fails at %s.", v.value(holds), unit, v.value(fails))
	case has:
		v.says = fmt.Sprintf("No limit found up to %s %s.", v.value(holds), unit)
	case f.NoneHolds():
		v.state = "bad"
		v.says = fmt.Sprintf("Even %s %s fails %s.", v.value(fails), unit, worstOf(f))
		v.more = append(v.more, "Look at the input length, or at the objective.")
	case failed:
		v.state = "none"
		v.says = fmt.Sprintf("Fails at %s %s; no load was shown to hold.", v.value(fails), unit)
	default:
		v.state = "none"
		v.says = "No load was shown to hold or to fail."
	}
	cost := fmt.Sprintf("%s, %s.", typeset.Plural(int64(f.Probes), "probe"), typeset.Plural(f.Requests, "request"))
	if has || failed {
		cost = fmt.Sprintf("%s %% sure, %s", metric.Significant(100*f.Confidence, 3), cost)
	}
	v.more = append(v.more, cost)
	if f.Why != "" {
		if v.state == "ok" {
			v.state = "suspect"
		}
		v.more = append(v.more, view.Sentence(f.Why))
	}
	for _, text := range []string{f.Unknown, f.Next} {
		if text != "" {
			v.more = append(v.more, text)
		}
	}
	for _, m := range f.Missed {
		v.state = "suspect"
		v.more = append(v.more, "At this load the run missed "+m+".")
	}
}

func worstOf(f *result.Found) string {
	for i := len(f.Steps) - 1; i >= 0; i-- {
		if f.Steps[i].Says == "fails" && f.Steps[i].Worst != "" {
			return f.Steps[i].Worst
		}
	}
	return strings.Join(f.Objectives, " and ")
}
