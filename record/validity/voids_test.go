package validity

import "testing"

// Failed requests are the server's and bad in every objective; whatever else
// is invalid says nothing about it.
func TestVoids(t *testing.T) {
	errs, client := Check{Name: errorsCheck, Verdict: Invalid}, Check{Name: "cpu_busy", Verdict: Invalid}
	for _, c := range []struct {
		v    Validity
		want bool
	}{
		{Validity{Verdict: Valid}, false},
		{Validity{Verdict: Suspect, Checks: []Check{{Name: "drift", Verdict: Suspect}}}, false},
		{Validity{Verdict: Invalid}, true}, // nothing was measured
		{Validity{Verdict: Invalid, Checks: []Check{client}}, true},
		{Validity{Verdict: Invalid, Checks: []Check{errs}}, false},
		{Validity{Verdict: Invalid, Checks: []Check{errs, client}}, true},
	} {
		if got := c.v.Voids("ttft"); got != c.want {
			t.Errorf("%+v: %v", c.v, got)
		}
	}
}

// Of a run that was broken off nothing is known to be valid: neither what the checks that
// could be made found nothing wrong with, nor what they found suspect. What is invalid
// stays so.
func TestUnended(t *testing.T) {
	lag := Check{Name: "client_lag", Verdict: Invalid, Figures: []string{TTFT, TPOT}}
	for _, c := range []struct {
		checks     []Check
		all        string
		ttft, e2e  string
		becauseE2E string
	}{
		{nil, Unknown, Unknown, Unknown, "end"},
		{[]Check{{Name: "drift", Verdict: Suspect}}, Unknown, Unknown, Unknown, "end"},
		{[]Check{lag}, Invalid, Invalid, Unknown, "end"},
		{[]Check{{Name: "cpu_busy", Verdict: Invalid}}, Invalid, Invalid, Invalid, "cpu_busy"},
	} {
		v := Validity{Verdict: Valid, Checks: c.checks}
		for _, check := range c.checks {
			v.Verdict = worse(v.Verdict, check.Verdict)
		}
		v.judgeFigures()
		v.Unended()
		why, _ := v.Why("e2e")
		if v.Verdict != c.all || v.Of("ttft") != c.ttft || v.Of("e2e") != c.e2e || why.Name != c.becauseE2E {
			t.Errorf("%v: %+v, since %s", c.checks, v, why.Name)
		}
	}
}
