package main

import (
	"cmp"
	"slices"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
)

// why reads a run once more to say which of its requests missed objectives, and what
// failed. A run that can't be read says nothing: its figures were shown.
func why(dir string, missed []objective.Objective) (beyond []string, failed string) {
	f, err := run.Open(dir)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	r := f.Run()
	return report.Why(&r, f.Timelines(), missed)
}

// missedBy are the objectives of a run that it missed.
func missedBy(r *run.Run) (missed []objective.Objective) {
	if r.Goodput == nil {
		return nil
	}
	for _, o := range r.Goodput.Objectives {
		if parsed, err := objective.Parse(o.Text); err == nil && o.State == objective.Missed {
			missed = append(missed, parsed)
		}
	}
	return missed
}

// brokenBy says of the candidates that broke a gate which requests were beyond it, where
// the gate is a limit of its own, what failed, and where to look next.
func brokenBy(r *compare.Result) (lines []string) {
	for _, side := range r.Candidates {
		var missed []objective.Objective
		broke := false
		for _, g := range r.Gates {
			if g.State != compare.Broken || g.Candidate != side.Name {
				continue
			}
			broke = true
			if o, err := objective.Parse(g.Text); err == nil {
				missed = append(missed, o)
			}
		}
		for _, one := range side.Runs {
			if !broke || one.Dir == "" {
				continue
			}
			name := cmp.Or(one.Name, side.Name)
			beyond, failed := why(one.Dir, timed(missed))
			for _, text := range append(beyond, failed) {
				if text != "" {
					lines = append(lines, name+": "+text)
				}
			}
			lines = append(lines, name+": "+oneByOne(one.Dir))
		}
	}
	return slices.Compact(lines)
}

// oneByOne says where a run's requests are seen.
func oneByOne(dir string) string { return "One by one: " + report.Command(dir) + " --html report.html" }

// timed are objectives that are not on failures, of which another line says more.
func timed(missed []objective.Objective) (list []objective.Objective) {
	for _, o := range missed {
		if o.Metric != "error_rate" {
			list = append(list, o)
		}
	}
	return list
}
