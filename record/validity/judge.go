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

	// stampsHold: the kernel stamped the arrivals, and they were neither read so late
	// nor joined so often that its stamps lost their worth. Judge finds it out.
	stampsHold bool
}

// Judge tests the measurement. Checks that do not apply (the lateness of a
// closed loop, a cache where prompts were meant to repeat) are left out. The
// overall verdict is the worst of the checks, that of a family of figures the worst of
// the checks that bear on it.
func Judge(f Facts) Validity {
	v := Validity{Verdict: Valid, Checks: []Check{}}
	f.stampsHold = f.KernelShare.Or(0) >= nearlyAll && f.ChargedLagP99MS.OK()
	for i := range Rules {
		if c, applies := Rules[i].test(&Rules[i], &f); applies {
			if c.Figures == nil {
				c.Figures = Rules[i].Bears
			}
			v.Checks = append(v.Checks, c)
			v.Verdict = worse(v.Verdict, c.Verdict)
			if stampRules[c.Name] && worse(Valid, c.Verdict) != Valid {
				f.stampsHold = false
			}
		}
	}
	v.judgeFigures()
	return v
}

// nearlyAll is the share of arrivals with the kernel's stamps from which the few others
// move no percentile that has an interval.
const nearlyAll = 0.99

// stampRules are the checks of the stamps. They are made before those that ask for them.
var stampRules = map[string]bool{"client_lag": true, "coalesced": true}

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
