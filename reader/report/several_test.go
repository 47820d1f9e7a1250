package report

import (
	"bytes"
	"strings"
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

// judgedRun is a run of which one check has a verdict.
func judgedRun(verdict string) *run.Run {
	r := &run.Run{}
	r.Validity.Verdict = verdict
	r.Validity.Checks = append(r.Validity.Checks, validity.Check{Name: "cpu_busy", Verdict: verdict, Says: "the cores were 99 % busy"})
	return r
}

// The worst of several runs is what is said of them, and how many are so.
func TestValidityOfSeveral(t *testing.T) {
	for _, c := range []struct{ verdicts, want string }{
		{"valid valid", "2 of 2 repeats VALID."},
		{"valid suspect valid", "1 of 3 repeats SUSPECT. cpu_busy: The cores were 99 % busy."},
		{"invalid suspect invalid", "2 of 3 repeats INVALID. cpu_busy: The cores were 99 % busy. Do not use these figures."},
		{"", ""},
	} {
		var runs []*run.Run
		for _, verdict := range strings.Fields(c.verdicts) {
			runs = append(runs, judgedRun(verdict))
		}
		v := ValidityOf(runs, "repeat")
		if v.Says != c.want {
			t.Errorf("%s: %q, want %q", c.verdicts, v.Says, c.want)
		}
		var b bytes.Buffer
		if err := SpreadTerminal(&b, "a", v, nil); err != nil || !strings.HasPrefix(b.String(), c.want) {
			t.Errorf("%s: %v, %q", c.verdicts, err, b.String())
		}
	}
}
