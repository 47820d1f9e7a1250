package slo

import (
	"fmt"
	"strings"
)

// worstFirst is what a headline says of each state but OK, of one objective and
// of several.
var worstFirst = []struct {
	state     State
	one, many string
}{
	{Exhausted, "has spent its budget", "have spent their budgets"},
	{Burning, "spends its budget too fast", "spend their budgets too fast"},
	{Stale, "is stale, nothing was seen lately", "are stale, nothing was seen lately"},
	{InsufficientData, "has too little data to tell", "have too little data to tell"},
}

// mostNamed is how many objectives a headline names for one state.
const mostNamed = 4

// Headline says how all objectives stand, what is worst first. Empty when there
// are none.
func (d Document) Headline() string {
	var parts []string
	for _, s := range worstFirst {
		var names []string
		for i := range d.Objectives {
			if d.Objectives[i].State == s.state {
				names = append(names, d.Objectives[i].named())
			}
		}
		if n := len(names); n > 0 {
			words := s.many
			if n == 1 {
				words = s.one
			}
			if n > mostNamed {
				names = append(names[:mostNamed], fmt.Sprintf("and %d more", n-mostNamed))
			}
			parts = append(parts, fmt.Sprintf("%d of %d %s: %s.", n, len(d.Objectives), words, strings.Join(names, ", ")))
		}
	}
	switch n := len(d.Objectives); {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case n == 1:
		return "The objective is within its budget."
	case n > 1:
		return fmt.Sprintf("All %d objectives are within their budgets.", n)
	}
	return ""
}

// named is the title, with the objective itself where the name is another.
func (r *Result) named() string {
	if r.Text == "" || r.Text == r.Name {
		return r.title()
	}
	return r.title() + " (" + r.Text + ")"
}
