package metric

import (
	"maps"
	"math"
	"slices"
	"sort"

	"tokenmeter/record/timeline"
)

// Joined are requests that are done together, as a whole: those of a conversation, a
// task, or a session of an agent.
type Joined struct {
	DueUS, EndUS int64 // of the first due time, and of the last end, on the run's clock
	Failed       bool
	Wrong        bool // an answer is not the right one
	Cancelled    bool // not all of it was seen
	Cut          bool // as the run ended
}

// MS is how long it took, from when the first was due to the end of the last answer.
func (t *Joined) MS() float64 { return ms(t.EndUS - t.DueUS) }

// Joins are all of a run, by name.
type Joins map[string]*Joined

// Take adds a request to the one of that name.
func (j Joins) Take(name string, r *Record) {
	due := int64(math.Round(r.DueS * 1e6))
	j.add(name, &Joined{DueUS: due, EndUS: due + microseconds(r.E2EMS.Or(r.CloseMS.Or(0))),
		Failed: r.Outcome.Failed(), Wrong: r.Check != nil && *r.Check == "fail",
		Cancelled: r.Outcome.Cancelled(), Cut: r.Outcome == timeline.CancelledRunEnd})
}

func (j Joins) add(name string, t *Joined) {
	have := j[name]
	if have == nil {
		j[name] = t
		return
	}
	have.DueUS, have.EndUS = min(have.DueUS, t.DueUS), max(have.EndUS, t.EndUS)
	have.Failed = have.Failed || t.Failed
	have.Wrong = have.Wrong || t.Wrong
	have.Cancelled = have.Cancelled || t.Cancelled
	have.Cut = have.Cut || t.Cut
}

// Merge adds all of others, with so much before their names and so many µs later.
func (j Joins) Merge(others Joins, before string, later int64) {
	for name, t := range others {
		moved := *t
		moved.DueUS, moved.EndUS = t.DueUS+later, t.EndUS+later
		j.add(before+name, &moved)
	}
}

// InOrder are all of them in the order in which they began.
func (j Joins) InOrder() []*Joined {
	names := slices.Sorted(maps.Keys(j))
	sort.SliceStable(names, func(x, y int) bool {
		a, b := j[names[x]], j[names[y]]
		return a.DueUS < b.DueUS || a.DueUS == b.DueUS && a.EndUS < b.EndUS
	})
	list := make([]*Joined, len(names))
	for i, name := range names {
		list[i] = j[name]
	}
	return list
}
