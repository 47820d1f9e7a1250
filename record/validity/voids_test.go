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
