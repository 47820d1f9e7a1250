package method

import (
	"math"
	"testing"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Queries were issued for as long as the run was to last, though none is due at its very
// end: the last one of a Poisson process comes some time before, and that of a single
// stream as long as it takes.
func TestIssuedFor(t *testing.T) {
	timed := run.Load{DurationS: timeline.Some(600.0)}
	counted := timed
	counted.Requests = timeline.Some[int64](120)
	for name, c := range map[string]struct {
		gap, last float64
		load      run.Load
		partial   bool
		want      float64
	}{
		"one query after the other":  {5, 595, timed, false, 600},
		"a rate of 1/s":              {1, 598.9, timed, false, 600},
		"stopped":                    {5, 595, timed, true, 595},
		"ended by a number":          {5, 595, counted, false, 595},
		"ended early":                {1, 300, timed, false, 300},
		"longer than it was to last": {1, 601, timed, false, 601},
	} {
		v := seen{from: math.Inf(1), lastDue: math.Inf(-1)}
		for due := 0.0; due < c.last; due += c.gap {
			v.add(record(due, 100, 200, 8, 8))
		}
		v.add(record(c.last, 100, 200, 8, 8))
		got := v.issued(c.load, c.partial)
		if got != c.want {
			t.Errorf("%s: %g s, want %g", name, got, c.want)
		}
		var out result.Method
		if conclude(&out, &result.Point{}, &v, got); (out.Verdict == valid) != (c.want >= 600) {
			t.Errorf("%s: %s, %q", name, out.Verdict, out.Why)
		}
	}
}
