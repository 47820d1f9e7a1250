package method

import (
	"slices"
	"testing"

	"tokenmeter/load/sweep/result"
)

// Of a list of rates the verdict is of the largest that is VALID, in whatever order they
// were measured; where none is, it is INVALID whatever the last one was.
func TestVerdictOfSeveralRates(t *testing.T) {
	points := []result.Point{{Value: 4}, {Value: 1}, {Value: 8}, {Value: 2}}
	for _, c := range []struct {
		holds   float64
		verdict string
		says    string
	}{
		{4.5, valid, "the figures are of the largest of 4 rates whose run is VALID: 4 requests/s"},
		{0.5, "INVALID", "none of 4 rates is VALID; the figures are of the smallest, 1 requests/s"},
	} {
		got := ofRates(points, func(p *result.Point) result.Method {
			if p.Value <= c.holds {
				return result.Method{Verdict: valid}
			}
			return result.Method{Verdict: "INVALID", Why: []string{"p99 of TTFT is not below 500 ms"}}
		})
		if got.Verdict != c.verdict || !slices.Contains(slices.Concat(got.Rules, got.Why), c.says) {
			t.Errorf("%+v, want %s: %s", got, c.verdict, c.says)
		}
	}
}
