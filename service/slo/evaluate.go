package slo

import (
	"slices"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// State is what an objective looks like now.
type State string

// The states.
const (
	OK               State = "ok"
	Burning          State = "burning"   // an alert on it fires
	Exhausted        State = "exhausted" // nothing is left of the budget
	InsufficientData State = "insufficient_data"
	Stale            State = "stale" // nothing was seen lately
)

// The ways in which a budget is reckoned.
const (
	ByEvents         = "events"          // the events so far times the budget
	BySlices         = "slices"          // the slices so far times the budget
	ByCalendarSlices = "calendar_slices" // all slices of the calendar window, known in advance
)

// Flags of a Result.
const (
	InconsistentCounts = "inconsistent_counts" // more good events than events
	HasGaps            = "gaps"                // the source was not watched all the time
	HasCorrections     = "corrections"
	IsNew              = "new" // counted since a moment in the window, not all of it
)

// Result is an objective at a moment. Its JSON form is public interface.
type Result struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"` // what it counts, whatever it is called
	Text     string `json:"text"`
	Compiled string `json:"compiled"`
	Kind     Kind   `json:"kind"`
	Source   Source `json:"source"`
	Group    string `json:"group"`
	Window   string `json:"window"`
	// From and To are what was counted.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Counts
	// Corrected is what lay in intervals that do not count; RawSLI counts it.
	Corrected       Counts  `json:"corrected"`
	SLI             opt     `json:"sli"`
	RawSLI          opt     `json:"raw_sli"`
	Target          float64 `json:"target"`
	Budget          float64 `json:"budget"`
	BudgetMethod    string  `json:"budget_method"`
	BudgetEvents    opt     `json:"budget_events"` // how many bad ones the budget allows
	BudgetConsumed  opt     `json:"budget_consumed"`
	BudgetRemaining opt     `json:"budget_remaining"`
	// Burn holds the burn rate of each alert window.
	Burn        map[string]opt `json:"burn"`
	ExhaustionS opt            `json:"exhaustion_s"`
	// Watched is the share of the window in which the source was watched; null
	// where nobody noted it.
	Watched opt `json:"watched"`
	// Since is from when on it has been counted, where that is within the window:
	// the objective is new, or its limit was changed. Null otherwise.
	Since *time.Time `json:"since"`
	// Percentiles are filled in by whoever keeps distributions; empty otherwise.
	Percentiles []Percentiles `json:"percentiles,omitempty"`
	State       State         `json:"state"`
	// Met is whether the target is reached so far; null when that can't be told.
	Met    *bool         `json:"met"`
	Alerts []AlertStatus `json:"alerts"`
	Flags  []string      `json:"flags"`
	Says   string        `json:"says"`
	Notes  []string      `json:"notes"`

	silent       time.Duration                 // since when nobody watched
	watchedSince func(time.Duration) time.Time // see Reader.WatchedSince
	since        time.Time                     // counted from then on; zero: not known
}

// Document is the JSON form of a report.
type Document struct {
	Schema     string    `json:"schema"`
	At         time.Time `json:"at"`
	Objectives []Result  `json:"objectives"`
}

// Schema names the version of a Document.
const Schema = "tokenmeter.slo/v1"

// Evaluate judges every objective, source and group at a moment. An objective
// with groups comes as a whole first.
func Evaluate(objectives []*Objective, r Reader, now time.Time) []Result {
	var all []Result
	for _, o := range objectives {
		for _, source := range o.Sources {
			if len(o.By) == 0 {
				all = append(all, o.Evaluate(r, source, nil, now))
				continue
			}
			groups := r.Groups(o.Hash, source)
			all = append(all, o.Evaluate(r, source, groups, now))
			for _, g := range groups {
				result := o.Evaluate(r, source, []string{g}, now)
				result.Group = g
				all = append(all, result)
			}
		}
	}
	return all
}

// Evaluate judges one source at a moment. groups are summed; nil is an
// objective without groups.
func (o *Objective) Evaluate(reader Reader, source Source, groups []string, now time.Time) Result {
	from, until := o.Window.Bounds(now)
	r := Result{
		Name: o.Name, Hash: o.Hash, Text: o.Text, Compiled: o.Compiled(), Kind: o.Kind, Source: source, Window: o.Window.String(),
		From: from, To: now, Target: o.Target, Budget: o.Budget, Burn: map[string]opt{},
		Alerts: []AlertStatus{}, Flags: []string{}, Notes: append([]string{}, o.Notes...),
	}
	if groups == nil {
		groups = []string{""}
	}
	holes := o.holes(source)
	sum := func(from time.Time) (kept, cut Counts) {
		for _, g := range groups {
			k, c := reader.Sum(Key{o.Hash, source, g}, from, now, now, holes)
			kept, cut = kept.Plus(k), cut.Plus(c)
		}
		return kept, cut
	}
	r.Counts, r.Corrected = sum(from)
	cache := map[time.Duration]Counts{}
	at := func(w time.Duration) Counts {
		c, known := cache[w]
		if !known {
			c, _ = sum(now.Add(-w))
			cache[w] = c
		}
		return c
	}
	o.reckon(&r, holes, from, until)
	for _, w := range o.BurnWindows() {
		r.Burn[span(w)] = Burn(at(w), o.Budget)
	}
	r.ExhaustionS = Exhaustion(r.BudgetRemaining, Burn(at(o.pace()), o.Budget), o.Window.Period())
	if lasts, ok := r.ExhaustionS.Get(); ok && o.Window.Calendar != "" && lasts > until.Sub(now).Seconds() {
		r.ExhaustionS = opt{} // the window ends before
	}
	o.watch(&r, reader, source, from, now)
	r.State = o.state(&r)
	firing := false
	for _, a := range o.Alerts {
		s := a.weigh(o, &r, at)
		firing = firing || s.Firing && a.Factor > 0
		r.Alerts = append(r.Alerts, s)
	}
	if firing && r.State == OK {
		r.State = Burning
	}
	r.Says = o.says(&r)
	return r
}

// pace is the time that the present pace is taken from.
func (o *Objective) pace() time.Duration {
	return min(max(time.Hour, fewestSlices*o.Slice), o.Window.Period())
}

func (o *Objective) holes(source Source) []Interval {
	var list []Interval
	for _, h := range o.Holes {
		if len(h.Sources) == 0 || slices.Contains(h.Sources, source) {
			list = join(list, h.Interval)
		}
	}
	return list
}

// BurnWindows are the windows over which burn rates are told: those of the
// objective's alerts, and 5m and 1h.
func (o *Objective) BurnWindows() []time.Duration {
	list := []time.Duration{5 * time.Minute, time.Hour}
	for _, a := range o.Alerts {
		if a.Factor > 0 {
			list = append(list, a.Long, a.Short)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// reckon fills in the budget.
func (o *Objective) reckon(r *Result, holes []Interval, from, until time.Time) {
	if !r.Sound() {
		r.Flags = append(r.Flags, InconsistentCounts)
	}
	if !r.Corrected.IsZero() {
		r.Flags = append(r.Flags, HasCorrections)
	}
	r.SLI, r.RawSLI = SLI(r.Counts), SLI(r.Counts.Plus(r.Corrected))
	r.BudgetMethod = ByEvents
	events := float64(r.Valid) * o.Budget
	if o.Kind == Slices {
		r.BudgetMethod = BySlices
		if o.Window.Calendar != "" {
			r.BudgetMethod = ByCalendarSlices
			total := int64(until.Sub(from) / o.Slice)
			for _, h := range holes {
				total -= int64(overlap(h, from, until) / o.Slice)
			}
			events = float64(total) * o.Budget
		}
	}
	r.BudgetEvents = timeline.Maybe(decimal(events), r.Sound() && r.Valid > 0)
	r.BudgetConsumed = Consumed(r.Counts, events)
	r.BudgetRemaining = Remaining(r.BudgetConsumed)
}

func overlap(h Interval, from, to time.Time) time.Duration {
	if h.From.After(from) {
		from = h.From
	}
	if h.To.Before(to) {
		to = h.To
	}
	return max(to.Sub(from), 0)
}

func (o *Objective) watch(r *Result, reader Reader, source Source, from, now time.Time) {
	r.watchedSince = func(d time.Duration) time.Time { return reader.WatchedSince(source, d, now) }
	if r.since = reader.Since(o.Hash, source); r.since.After(from) && r.since.Before(now) {
		since := r.since.UTC()
		r.Since, r.Flags = &since, append(r.Flags, IsNew)
	}
	seen := reader.Seen(source)
	if seen.IsZero() {
		return
	}
	r.silent = max(now.Sub(seen), 0)
	if length := now.Sub(from); length > 0 {
		share := min(float64(reader.Watched(source, from, now))/float64(length), 1)
		r.Watched = timeline.Some(share)
		if share < 1 {
			r.Flags = append(r.Flags, HasGaps)
		}
	}
}

// state is everything but burning, which follows from the alerts.
func (o *Objective) state(r *Result) State {
	left, known := r.BudgetRemaining.Get()
	switch {
	case o.StaleAfter > 0 && r.silent > o.StaleAfter:
		return Stale
	case !known:
		return InsufficientData
	case r.Valid < o.MinEvents && !beyondDoubt(r.Counts, o.Budget):
		return InsufficientData
	}
	met := left >= 0
	r.Met = &met
	if left <= 0 {
		return Exhausted
	}
	return OK
}

// says is the objective in a sentence.
func (o *Objective) says(r *Result) string {
	unit := o.Kind.unit()
	if r.Valid == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	counted := AtMost(r.SLI.Or(0)) + " of " + thousands(r.Valid) + " " + unit + " were good (target " + percent(o.Target) + ")"
	switch {
	case slices.Contains(r.Flags, InconsistentCounts):
		return "The counts can't be: " + thousands(r.Good) + " good of " + thousands(r.Valid) + " " + unit + "."
	case r.State == Stale:
		return "Nothing was seen for " + span(r.silent.Truncate(time.Second)) + "; what is shown is older."
	case r.Valid == 0:
		return "There were no " + unit + " to judge."
	case r.State == InsufficientData:
		return "Not enough data: " + thousands(r.Valid) + " " + unit + ", " + thousands(r.Bad()) + " of them bad; " +
			thousands(o.MinEvents) + " can show a target of " + percent(o.Target) + "."
	}
	return counted + "; " + budgetWords(r.BudgetRemaining.Or(0)) + "."
}
