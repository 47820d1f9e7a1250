package result

import (
	"slices"

	"tokenmeter/record/exit"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Searched reports whether loads were searched for, and not only measured as asked for.
func (s *Sweep) Searched() bool { return s.Found != nil && !s.Found.Grid }

// gridConfidence is that of the intervals that settle a point's objectives.
const gridConfidence = 0.95

// keeps finds which of the measured loads keep the objectives: the largest that does,
// below the smallest that does not. Nil where nothing of the kind was asked.
func (s *Sweep) keeps() *Found {
	if len(s.Objectives) == 0 || len(s.Series) > 0 || s.Variable != "rate" && s.Variable != "concurrency" {
		return nil
	}
	f := &Found{Objectives: s.Objectives, Variable: s.Variable, Confidence: gridConfidence, Grid: true, Missed: []string{}, Steps: []Step{}}
	states := map[float64]string{}
	for i := range s.Points {
		p := &s.Points[i]
		if p.Run == "" && p.Error == "" {
			continue
		}
		f.Probes++
		f.Requests += p.Requests.Total
		if state, seen := states[p.Value]; !seen || rank[p.State()] > rank[state] {
			states[p.Value] = p.State()
		}
	}
	if f.Probes == 0 {
		return nil
	}
	for load, state := range states {
		if fails, ok := f.Fails.Get(); state == objective.Missed && (!ok || load < fails) {
			f.Fails = timeline.Some(load)
		}
	}
	for load, state := range states {
		holds, ok := f.Holds.Get()
		if state == objective.Met && (!ok || load > holds) && load < f.Fails.Or(load+1) {
			f.Holds = timeline.Some(load)
		}
	}
	between := slices.ContainsFunc(s.Points, func(p Point) bool {
		return states[p.Value] == objective.Open && p.Value > f.Holds.Or(0) && p.Value < f.Fails.Or(p.Value+1)
	})
	f.Settled = f.Holds.OK() && !between
	return f
}

// rank says which of several runs at one load counts: one that misses, else one that
// settles nothing.
var rank = map[string]int{objective.Met: 0, objective.Open: 1, objective.Missed: 2}

// Silent reports whether the server answered nothing of what was sent at a point, and how.
func (p *Point) Silent() (says string, silent bool) {
	return exit.OfRequests(&p.Requests).Silent()
}

// State is what became of the objectives at a point, together: met, missed or open.
// A measurement that is invalid for a figure that they are on decides nothing, and a
// point that the target failed, or answered nothing of, has kept none.
func (p *Point) State() string {
	_, silent := p.Silent()
	switch {
	case p.TargetFailed, silent:
		return objective.Missed
	case p.Goodput == nil:
		return objective.Open
	}
	all, judged := objective.Met, false
	for i := range p.Goodput.Objectives {
		o := &p.Goodput.Objectives[i]
		state := o.State
		switch {
		case state == "": // a limit alone promises nothing
			continue
		case p.Validity.Voids(p.Goodput.Metrics(o)...):
			state = objective.Open
		}
		judged = true
		if rank[state] > rank[all] {
			all = state
		}
	}
	if !judged {
		return objective.Open
	}
	return all
}

// Void reports whether the measurement says nothing about an objective that is not
// missed, and the check behind it.
func (p *Point) Void() (check string, void bool) {
	if p.Goodput == nil {
		return "", false
	}
	for i := range p.Goodput.Objectives {
		metrics := p.Goodput.Metrics(&p.Goodput.Objectives[i])
		if !p.Validity.Voids(metrics...) {
			continue
		}
		for _, m := range metrics {
			if c, ok := p.Validity.Why(m); ok && p.Validity.Of(m) == validity.Invalid {
				return c.Name, true
			}
		}
		return "", true
	}
	return "", false
}

// FirstMissed is the first objective that the point misses.
func (p *Point) FirstMissed() *objective.ObjectiveResult {
	if p.Goodput == nil {
		return nil
	}
	for i := range p.Goodput.Objectives {
		if o := &p.Goodput.Objectives[i]; o.State == objective.Missed && !p.Validity.Voids(p.Goodput.Metrics(o)...) {
			return o
		}
	}
	return nil
}
