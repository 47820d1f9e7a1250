package slo

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

func (c *compiler) alerts(s *ObjectiveSpec, o *Objective, path string) {
	if len(s.Alerts) == 0 {
		if !c.has(path + ".alerts") {
			o.Alerts, o.Notes = DefaultAlerts(o.Window, o.Budget, o.Slice)
		}
		return
	}
	for i := range s.Alerts {
		if a, ok := c.alert(&s.Alerts[i], o, fmt.Sprintf("%s.alerts[%d]", path, i)); ok {
			if slices.ContainsFunc(o.Alerts, func(b Alert) bool { return b.Name == a.Name }) {
				c.fail(fmt.Sprintf("%s.alerts[%d]", path, i), "there are two alerts called %q", a.Name)
			}
			o.Alerts = append(o.Alerts, a)
		}
	}
}

func (c *compiler) alert(s *AlertSpec, o *Objective, path string) (Alert, bool) {
	a := Alert{Name: s.Name, Severity: Severity(s.Severity), Factor: s.Factor, Long: time.Duration(s.Long), Short: time.Duration(s.Short),
		Within: time.Duration(s.ExhaustedWithin), NoData: time.Duration(s.NoDataFor), MinEvents: DefaultMinEvents, MinBad: DefaultMinBad}
	a.Severity = cmp.Or(a.Severity, Page)
	for _, guard := range []struct {
		name  string
		given *int64
		to    *int64
	}{{"min_events", s.MinEvents, &a.MinEvents}, {"min_bad", s.MinBad, &a.MinBad}} {
		if guard.given == nil {
			continue
		}
		if *guard.to = *guard.given; *guard.given < 0 {
			c.fail(path+"."+guard.name, "it can't be negative")
		}
	}
	if s.BudgetBelow != nil {
		below := float64(*s.BudgetBelow)
		a.Below = &below
	}
	kinds := 0
	for _, given := range []bool{s.Share != nil, s.Factor != 0, a.Below != nil, a.Within > 0, a.NoData > 0} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		c.fail(path, "an alert has exactly one of share, factor, budget_below, exhausted_within and no_data_for")
		return a, false
	}
	if s.Share != nil || s.Factor != 0 {
		if !c.burn(s, &a, o, path) {
			return a, false
		}
	} else if a.Long > 0 || a.Short > 0 {
		c.fail(path, "long and short belong to share or factor")
		return a, false
	}
	if o.Slice > 0 && a.NoData > 0 && a.NoData < fewestSlices*o.Slice {
		c.fail(path+".no_data_for", "slices of %s are known some time later; wait for at least %s", span(o.Slice), span(fewestSlices*o.Slice))
		return a, false
	}
	if o.Slice > 0 && a.Within > 0 {
		surely := surely(o.pace(), o.Slice)
		switch {
		case s.MinEvents == nil:
			a.MinEvents = min(a.MinEvents, surely)
		case a.MinEvents > surely:
			c.fail(path+".min_events", "this can never fire: the pace is that of the last %s, which has %d slices of %s at every moment", span(o.pace()), surely, span(o.Slice))
			return a, false
		}
		if s.MinBad == nil {
			a.MinBad = min(a.MinBad, surely)
		}
	}
	a.Name = cmp.Or(a.Name, a.name())
	return a, true
}

// burnOfSlices checks that the windows hold slices, which count from their
// beginning once they are over.
func (c *compiler) burnOfSlices(s *AlertSpec, a *Alert, o *Objective, path string) bool {
	surely := surely(a.Long, o.Slice)
	switch {
	case a.Short < fewestSlices*o.Slice:
		c.fail(path+".short", "this can never fire: with slices of %s the short window must be at least %s", span(o.Slice), span(fewestSlices*o.Slice))
		return false
	case s.MinEvents == nil:
		a.MinEvents = min(a.MinEvents, surely)
	case a.MinEvents > surely:
		c.fail(path+".min_events", "this can never fire: %s has at most %d slices of %s", span(a.Long), a.Long/o.Slice, span(o.Slice))
		return false
	}
	return true
}

func (c *compiler) burn(s *AlertSpec, a *Alert, o *Objective, path string) bool {
	period := o.Window.Period()
	switch {
	case a.Long == 0:
		c.fail(path, "a burn alert needs a long window, like long: 1h")
		return false
	case a.Long >= period:
		c.fail(path+".long", "%s is not shorter than the objective's window of %s", span(a.Long), span(period))
		return false
	case a.Long < 5*time.Minute:
		c.fail(path+".long", "it must be at least 5m")
		return false
	}
	a.Short = cmp.Or(a.Short, max((a.Long/12).Truncate(time.Minute), time.Minute, fewest(o.Slice)))
	if o.Slice > 0 && !c.burnOfSlices(s, a, o, path) {
		return false
	}
	if a.Short >= a.Long || a.Short < time.Minute || a.Short%time.Minute != 0 || a.Long%time.Minute != 0 {
		c.fail(path, "windows are whole minutes, and the short one is shorter than the long one")
		return false
	}
	where := path + ".factor"
	if s.Share != nil {
		where = path + ".share"
		a.Factor = Factor(float64(*s.Share), period, a.Long)
	}
	switch {
	case !(a.Factor > 0):
		c.fail(where, "the burn rate must be above 0")
		return false
	case !CanFire(a.Factor, o.Budget):
		c.fail(where, "this can never fire: with a budget of %s the burn rate is at most %s, and the limit is %s; take a smaller share or a longer window",
			percent(o.Budget), number(1/o.Budget), number(a.Factor))
		return false
	}
	return true
}
