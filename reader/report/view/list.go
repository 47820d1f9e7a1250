package view

import (
	"fmt"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// list is a line of several things, with commas between.
type list []string

// add adds a value in the form that shows it; nothing where it was not measured.
func (l *list) add(form string, v timeline.Opt[float64], show func(float64) string) {
	if x, ok := v.Get(); ok {
		*l = append(*l, fmt.Sprintf(form, show(x)))
	}
}

func (l list) String() string { return strings.Join(l, ", ") }

// meanOf is the mean of a gauge; absent for none.
func meanOf(g *metric.ServerGauge) (v timeline.Opt[float64]) {
	if g != nil {
		v = timeline.Some(g.Mean)
	}
	return v
}
