//go:build !lean

package main

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/exit"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
	"tokenmeter/service/slo"
)

// sloTrust is how far the runs that objectives are held against can be believed.
type sloTrust struct {
	requests exit.Facts
	runs     []string
	verdicts []validity.Validity
}

// trust reads it; nothing of live data.
func (c *sloSource) trust() (t sloTrust, err error) {
	for _, path := range c.Runs {
		f, err := run.Open(path)
		if err != nil {
			return t, err
		}
		r := f.Run()
		if r.Partial && r.Finished == nil { // its run.json is from before the end, without a verdict
			r, err = run.Outline(f)
		}
		f.Close()
		if err != nil {
			return t, err
		}
		t.requests = t.requests.Counted(path, exit.OfRequests(&r.Requests))
		t.runs = append(t.runs, path)
		t.verdicts = append(t.verdicts, r.Validity)
	}
	return t, nil
}

// void reports whether a run can't vouch for an objective: its measurement of one of the
// figures is invalid, or nobody knows. One run spoils them all.
func (t *sloTrust) void(metrics []string) (verdict, because string) {
	for i := range t.verdicts {
		v := &t.verdicts[i]
		switch {
		case v.Voids(metrics...):
			return validity.Invalid, t.runs[i] + " is an invalid measurement" + becauseOf(v, metrics)
		case verdict == "" && unknown(v, metrics):
			verdict, because = validity.Unknown, t.unknown(i)
		}
	}
	return verdict, because
}

// unknown reports whether nobody knows if one of the metrics was measured well.
func unknown(v *validity.Validity, metrics []string) bool {
	return slices.ContainsFunc(metrics, func(m string) bool { return v.Of(m) == validity.Unknown })
}

func (t *sloTrust) unknown(run int) string {
	v := &t.verdicts[run]
	for _, c := range slices.Backward(v.Checks) { // what makes it so stands last
		if c.Verdict == validity.Unknown {
			return fmt.Sprintf("%s: nobody knows whether it is valid: %s: %s", t.runs[run], c.Name, strings.TrimRight(c.Says, ". "))
		}
	}
	return t.runs[run] + ": nobody knows whether it is valid"
}

// note says in each result why the runs can't vouch for it, for those who read no stderr.
func (t *sloTrust) note(results []slo.Result, objectives []*slo.Objective) {
	for i := range results {
		for _, o := range objectives {
			if _, because := t.void(o.Metrics()); o.Hash == results[i].Hash && because != "" {
				results[i].Notes = append(results[i].Notes, because)
				break
			}
		}
	}
}

// warn says which runs can't vouch for which objectives: they are counted, but what they
// say of these is not the server's.
func (t *sloTrust) warn(a *app, objectives []*slo.Objective) {
	for i, path := range t.runs {
		v := &t.verdicts[i]
		var void []*slo.Objective
		doubt := false
		for _, o := range objectives {
			if v.Voids(o.Metrics()...) {
				void = append(void, o)
			} else if unknown(v, o.Metrics()) {
				doubt = true
			}
		}
		switch {
		case len(void) == len(objectives) && len(void) > 0:
			a.warn("note: %s is an INVALID measurement and says nothing about its objectives%s", path, becauseOf(v, void[0].Metrics()))
		case len(void) > 0:
			a.warn("note: %s is an INVALID measurement for %s and says nothing about it%s", path, named(void), becauseOf(v, void[0].Metrics()))
		}
		if doubt {
			a.warn("note: %s", t.unknown(i))
		}
	}
}

func named(objectives []*slo.Objective) string {
	var list []string
	for _, o := range objectives {
		list = append(list, o.Name)
	}
	return strings.Join(list, ", ")
}

// becauseOf is what the check says that spoils the metrics.
func becauseOf(v *validity.Validity, metrics []string) string {
	for _, m := range metrics {
		if c, ok := v.Why(m); ok {
			return fmt.Sprintf(": %s: %s", c.Name, strings.TrimRight(c.Says, ". "))
		}
	}
	return ""
}
