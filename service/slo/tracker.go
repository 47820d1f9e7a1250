package slo

import (
	"sort"
	"time"
)

// Firing is an alert that fires, or has just stopped.
type Firing struct {
	Objective string     `json:"objective"`
	Hash      string     `json:"hash"` // of what it counts: with another limit it is another objective
	Source    Source     `json:"source"`
	Group     string     `json:"group"`
	Alert     string     `json:"alert"`
	Severity  Severity   `json:"severity"`
	Since     time.Time  `json:"since"`
	Resolved  *time.Time `json:"resolved"` // null while it fires
	Says      string     `json:"says"`
	Compiled  string     `json:"compiled"`
	Long      string     `json:"long,omitempty"`
	Short     string     `json:"short,omitempty"`
	Remaining opt        `json:"budget_remaining"`
}

// ID names the alert among all.
func (f *Firing) ID() string {
	return f.Objective + "\x00" + f.Hash + "\x00" + string(f.Source) + "\x00" + f.Group + "\x00" + f.Alert
}

// Tracker follows alerts over evaluations: since when one fires, and when it is
// over. An alert that can't be told stays what it was. The zero value follows
// none; not safe for concurrent use.
type Tracker struct{ firing map[string]*Firing }

// Restore takes up what fired when the process ended.
func (t *Tracker) Restore(list []Firing) {
	t.firing = map[string]*Firing{}
	for _, f := range list {
		if f.Resolved == nil {
			t.firing[f.ID()] = &f
		}
	}
}

// Update takes an evaluation and returns what fires now, and what was resolved
// by it.
func (t *Tracker) Update(results []Result, now time.Time) (firing, resolved []Firing) {
	if t.firing == nil {
		t.firing = map[string]*Firing{}
	}
	known := map[string]bool{}
	for _, r := range results {
		for _, a := range r.Alerts {
			f := Firing{Objective: r.Name, Hash: r.Hash, Source: r.Source, Group: r.Group, Alert: a.Name, Severity: a.Severity, Since: now,
				Says: a.Says, Compiled: r.Compiled, Long: a.Long, Short: a.Short, Remaining: r.BudgetRemaining}
			id := f.ID()
			known[id] = true
			before := t.firing[id]
			switch {
			case a.Firing && before == nil:
				t.firing[id] = &f
			case a.Firing:
				f.Since = before.Since
				t.firing[id] = &f
			case before != nil && !a.Frozen:
				resolved = append(resolved, t.end(id, now, a.Says))
			}
		}
	}
	for id := range t.firing {
		if !known[id] { // the objective or the alert is gone
			resolved = append(resolved, t.end(id, now, "The alert is no longer configured."))
		}
	}
	for _, f := range t.firing {
		firing = append(firing, *f)
	}
	for _, list := range [][]Firing{firing, resolved} {
		sort.Slice(list, func(i, j int) bool { return list[i].ID() < list[j].ID() })
	}
	return firing, resolved
}

func (t *Tracker) end(id string, now time.Time, says string) Firing {
	f := *t.firing[id]
	delete(t.firing, id)
	f.Resolved, f.Says = &now, says
	return f
}
