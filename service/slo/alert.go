package slo

import (
	"fmt"
	"time"

	"tokenmeter/record/timeline"
)

// Severity says whom an alert is for.
type Severity string

// The severities.
const (
	Page   Severity = "page"   // wake somebody
	Ticket Severity = "ticket" // look at it in the next days
)

// Alert is one rule on an objective's budget. Exactly one of Factor, Below,
// Within and NoData is set.
type Alert struct {
	Name     string
	Severity Severity
	// Factor: the budget burns faster than this over both windows.
	Factor      float64
	Long, Short time.Duration
	// Below: less than this share of the budget is left.
	Below *float64
	// Within: at the present pace the budget is spent before this has passed.
	Within time.Duration
	// NoData: nothing was seen for so long.
	NoData time.Duration
	// MinEvents and MinBad are how much must have happened before the alert can
	// fire: in the long window of a burn rate, in the objective's window for
	// what is left of the budget, in the time that the pace is taken from.
	MinEvents, MinBad int64
}

// The defaults of low-traffic guards: one failure alone wakes nobody.
const (
	DefaultMinEvents = 10
	DefaultMinBad    = 2
)

// burnRow is a row of the SRE workbook's table.
type burnRow struct {
	severity    Severity
	share       float64
	long, short time.Duration
}

var burnRows = []burnRow{
	{Page, 0.02, time.Hour, 5 * time.Minute},
	{Page, 0.05, 6 * time.Hour, 30 * time.Minute},
	{Ticket, 0.10, 24 * time.Hour, 2 * time.Hour},
	{Ticket, 0.10, 72 * time.Hour, 6 * time.Hour},
}

// DefaultAlerts are the multi-window burn alerts for a window and a budget:
// 2 % of the period's budget in 1 h and 5 % in 6 h page, 10 % in a day or in
// three make a ticket. The factors follow from the period; slice is 0 but for
// objectives on slices, whose windows must hold some. Rows that could never fire
// are left out; notes say which.
func DefaultAlerts(w Window, budget float64, slice time.Duration) (alerts []Alert, notes []string) {
	for _, row := range burnRows {
		a := Alert{Severity: row.severity, Long: row.long, Short: max(row.short, fewest(slice)), MinEvents: DefaultMinEvents, MinBad: DefaultMinBad}
		if row.long >= w.Period() {
			continue
		}
		a.Factor = Factor(row.share, w.Period(), row.long)
		a.Name = a.name()
		if slice > 0 {
			if a.MinEvents = min(a.MinEvents, surely(row.long, slice)); a.Short >= a.Long {
				notes = append(notes, fmt.Sprintf("no alert over %s: slices of %s are too long for it", span(a.Long), span(slice)))
				continue
			}
		}
		if !CanFire(a.Factor, budget) {
			notes = append(notes, fmt.Sprintf("no alert on a burn rate of %s over %s: a budget of %s burns at most %s times as fast as allowed",
				number(a.Factor), span(a.Long), percent(budget), number(1/budget)))
			continue
		}
		alerts = append(alerts, a)
	}
	if len(alerts)+len(notes) == 0 {
		notes = append(notes, fmt.Sprintf("no alerts: a window of %s is too short for the usual ones; write them down, like {budget_below: 25%%}", span(w.Period())))
	}
	return alerts, notes
}

// fewestSlices is how many slices a window must be long, so that at every moment
// it holds at least one that has begun in it and is over.
const fewestSlices = 3

// fewest is a window of so many, in whole minutes.
func fewest(slice time.Duration) time.Duration {
	return (fewestSlices*slice + time.Minute - 1).Truncate(time.Minute)
}

// surely is how many slices a window holds at every moment.
func surely(window, slice time.Duration) int64 { return max(int64(window/slice)-2, 0) }

// name is the usual name of a rule.
func (a Alert) name() string {
	switch {
	case a.Factor > 0:
		return fmt.Sprintf("burn_%s_%s", span(a.Long), span(a.Short))
	case a.Below != nil:
		return "budget_below_" + number(*a.Below*100)
	case a.Within > 0:
		return "exhausted_within_" + span(a.Within)
	}
	return "no_data_" + span(a.NoData)
}

// AlertStatus is what one evaluation says of an alert.
type AlertStatus struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Firing: its condition holds.
	Firing bool `json:"firing"`
	// Frozen: it can't be told; what was firing goes on, what was not stays quiet.
	Frozen bool `json:"frozen"`
	// Reason why it does not fire or can't be told: "", within_limits,
	// insufficient_events, stale.
	Reason    string `json:"reason"`
	Long      string `json:"long,omitempty"`
	Short     string `json:"short,omitempty"`
	Factor    opt    `json:"factor,omitzero"`
	BurnLong  opt    `json:"burn_long,omitzero"`
	BurnShort opt    `json:"burn_short,omitzero"`
	Says      string `json:"says"`
}

// The reasons of an AlertStatus.
const (
	WithinLimits       = "within_limits"
	InsufficientEvents = "insufficient_events"
	IsStale            = "stale"
)

// weigh decides an alert on an evaluated objective. at gives the counts of a
// window that ends now.
func (a Alert) weigh(o *Objective, r *Result, at func(time.Duration) Counts) AlertStatus {
	s := AlertStatus{Name: a.Name, Severity: a.Severity}
	switch {
	case a.NoData > 0:
		a.weighSilence(o, r, at, &s)
	case r.State == Stale:
		s.Frozen, s.Reason = true, IsStale
		s.Says = "Nothing new was seen, so this can't be told."
		return s
	case a.Factor > 0:
		a.weighBurn(o, r, at(a.Long), at(a.Short), &s)
		return s
	case !r.BudgetRemaining.OK() || r.State == InsufficientData:
		s.Frozen, s.Reason = true, InsufficientEvents
		s.Says = "There are too few events to tell."
		return s
	case a.Below != nil:
		left := r.BudgetRemaining.Or(1)
		s.Firing = left < *a.Below
		s.Says = fmt.Sprintf("%s; the limit is %s.", budgetWords(left), percent(*a.Below))
		a.guard(o, r.Counts, "in the window", &s)
	default:
		lasts, ends := r.ExhaustionS.Get()
		s.Firing = ends && lasts < a.Within.Seconds()
		s.Says = "At the present pace the budget lasts."
		if ends {
			s.Says = fmt.Sprintf("At the present pace the budget is spent in %s; the limit is %s.", about(seconds(lasts)), span(a.Within))
		}
		if r.BudgetRemaining.Or(1) > 0 {
			a.guard(o, at(o.pace()), "in the last "+span(o.pace()), &s)
		} else {
			a.guard(o, r.Counts, "in the window", &s) // it is spent, whatever the pace
		}
	}
	if !s.Firing && s.Reason == "" {
		s.Reason = WithinLimits
	}
	return s
}

// few reports whether too little happened for the alert to fire.
func (a Alert) few(c Counts) bool { return c.Valid < a.MinEvents || c.Bad() < a.MinBad }

// guard keeps an alert quiet that would fire on too few events.
func (a Alert) guard(o *Objective, c Counts, when string, s *AlertStatus) {
	if !s.Firing || !a.few(c) {
		return
	}
	s.Firing, s.Reason = false, InsufficientEvents
	s.Says = fmt.Sprintf("%d bad of %d %s %s are too few to tell.", c.Bad(), c.Valid, o.Kind.unit(), when)
}

// weighSilence decides whether nothing happened in a time that somebody watched.
// A slice without anything in it is nothing too. Whether something happened
// before the objective was counted is not known. Gaps in which nobody watched
// are left out of the time, so that restarts hide nothing.
func (a Alert) weighSilence(o *Objective, r *Result, at func(time.Duration) Counts, s *AlertStatus) {
	if r.silent >= a.NoData {
		s.Firing = true
		s.Says = fmt.Sprintf("Nobody watched %s for %s.", o.Name, span(r.silent.Truncate(time.Second)))
		return
	}
	long := a.NoData
	from := r.watchedSince(a.NoData)
	if !from.IsZero() {
		long = r.To.Sub(from)
	}
	c := at(long)
	if o.Kind != Slices {
		c.Valid += c.Excluded
	}
	switch {
	case c.Valid > 0:
		s.Says = fmt.Sprintf("Something was seen within the last %s.", span(long.Truncate(time.Second)))
	case from.IsZero(), from.Before(r.since), o.Kind == Slices && long > a.NoData+unwatched: // a slice that was not seen as a whole is none
		s.Frozen, s.Reason = true, InsufficientEvents
		s.Says = fmt.Sprintf("It was not watched for %s yet, so this can't be told.", span(a.NoData))
	default:
		s.Firing = true
		s.Says = fmt.Sprintf("Nothing was seen of %s for %s.", o.Name, span(a.NoData))
		if away := (long - a.NoData).Truncate(time.Second); away > unwatched {
			s.Says = fmt.Sprintf("Nothing was seen of %s in the last %s, %s of which nobody watched.", o.Name, span(long.Truncate(time.Second)), span(away))
		}
	}
}

// unwatched is how much of a time may be missing from what was watched.
const unwatched = 30 * time.Second

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

func (a Alert) weighBurn(o *Objective, r *Result, long, short Counts, s *AlertStatus) {
	s.Long, s.Short, s.Factor = span(a.Long), span(a.Short), timeline.Some(a.Factor)
	s.BurnLong, s.BurnShort = Burn(long, o.Budget), Burn(short, o.Budget)
	l, okLong := s.BurnLong.Get()
	b, okShort := s.BurnShort.Get()
	switch {
	case long.Valid < a.MinEvents || !okLong || long.Bad() < a.MinBad && (l > a.Factor || b > a.Factor):
		s.Frozen = long.Valid == 0
		s.Reason = InsufficientEvents
		s.Says = fmt.Sprintf("%d bad of %d %s in the last %s are too few to tell.", long.Bad(), long.Valid, o.Kind.unit(), span(a.Long))
		return
	case l > a.Factor && okShort && b > a.Factor:
		s.Firing = true
	default:
		s.Reason = WithinLimits
		s.Says = fmt.Sprintf("The budget burns %s times as fast as allowed over the last %s; the limit is %s.", number(l), span(a.Long), hundredths(a.Factor))
		return
	}
	s.Says = fmt.Sprintf("Over the last %s %s of %s were bad, %s times what the budget allows (limit %s), and %s times over the last %s",
		span(a.Long), atLeast(float64(long.Bad())/float64(long.Valid)), o.Kind.unit(), number(l), hundredths(a.Factor), number(b), span(a.Short))
	if left, ok := r.BudgetRemaining.Get(); ok {
		if left > 0 {
			s.Says += fmt.Sprintf("; at this pace the rest of the budget, %s, is spent in %s", AtMost(left),
				about(seconds(left*o.Window.Period().Seconds()/l)))
		} else {
			s.Says += "; " + budgetWords(left)
		}
	}
	s.Says += "."
}

// budgetWords says what is left of a budget.
func budgetWords(left float64) string {
	switch {
	case left < 0:
		return fmt.Sprintf("overspent by %s budgets", number(-left))
	case left == 0:
		return "the budget is spent exactly"
	}
	return AtMost(left) + " of the budget is left"
}
