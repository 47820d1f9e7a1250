package slo

import "testing"

func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		states []State
		want   string
	}{
		{nil, ""},
		{[]State{OK}, "The objective is within its budget."},
		{[]State{Burning, OK}, "1 of 2 spends its budget too fast: a (p99 tpot < 120ms)."},
		{[]State{OK, OK}, "All 2 objectives are within their budgets."},
		{[]State{OK, Burning, Exhausted}, "1 of 3 has spent its budget: c. 1 of 3 spends its budget too fast: b."},
		{[]State{InsufficientData, Stale, InsufficientData}, "1 of 3 is stale, nothing was seen lately: b. 2 of 3 have too little data to tell: a, c."},
		{[]State{Exhausted, Exhausted, Exhausted, Exhausted, Exhausted, Exhausted}, "6 of 6 have spent their budgets: a, b, c, d, and 2 more."},
	} {
		var d Document
		for i, s := range c.states {
			d.Objectives = append(d.Objectives, Result{Name: string(rune('a' + i)), State: s})
		}
		if len(d.Objectives) == 2 {
			d.Objectives[0].Text = "p99 tpot < 120ms"
		}
		if got := d.Headline(); got != c.want {
			t.Errorf("%v: %q, want %q", c.states, got, c.want)
		}
	}
}
