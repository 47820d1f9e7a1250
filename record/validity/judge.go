package validity

import (
	"fmt"
	"math"

	"tokenmeter/record/metric"
)

// The verdicts. A check that is unknown is no fault and stays out of the overall
// verdict; a run is unknown only where its files are damaged.
const (
	Valid   = "valid"
	Suspect = "suspect"
	Invalid = "invalid"
	Unknown = "unknown"
)

// Facts is what a verdict is made from: what the records tell and what the
// load generator knew of itself.
type Facts struct {
	metric.Facts
	Client Client
	// AllowISLDrift: the user accepts prompts of another length than asked.
	AllowISLDrift bool
}

// Judge tests the measurement. Checks that do not apply (the lateness of a
// closed loop, a cache where prompts were meant to repeat) are left out. The
// overall verdict is the worst of the checks.
func Judge(f Facts) Validity {
	v := Validity{Verdict: Valid, Checks: []Check{}}
	for i := range Rules {
		if c, applies := Rules[i].test(&Rules[i], &f); applies {
			v.Checks = append(v.Checks, c)
			v.Verdict = worse(v.Verdict, c.Verdict)
		}
	}
	return v
}

var ranks = map[string]int{Unknown: 0, Valid: 0, Suspect: 1, Invalid: 2}

func worse(a, b string) string {
	if ranks[b] > ranks[a] {
		return b
	}
	return a
}

// advise adds what to do to a check that did not hold.
func (c Check) advise(advice string, args ...any) Check {
	if c.Verdict == Suspect || c.Verdict == Invalid {
		c.Says += " " + fmt.Sprintf(advice, args...)
	}
	return c
}

// percent writes a share for people.
func percent(v float64) string {
	switch p := v * 100; {
	case p > 0 && p < 0.1:
		return "< 0.1 %"
	case p >= 99.95 && p < 100:
		return "> 99.9 %"
	case math.Abs(p) < 10:
		return metric.Significant(p, 2) + " %"
	default:
		return metric.Significant(p, 3) + " %"
	}
}

// ms writes a time for people.
func ms(v float64) string {
	if v > 0 && v < 0.01 {
		return "< 0.01 ms"
	}
	return metric.Significant(v, 3) + " ms"
}
