package slo

import (
	"iter"
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// TallyRun counts the requests of a run that started at a moment, each when it
// ended, and returns when the last one did. Tokens count when they arrived.
func TallyRun(started time.Time, requests iter.Seq2[*timeline.Timeline, error], objectives []*Objective, memory *Memory) (end time.Time, err error) {
	objectives = Distinct(objectives)
	slicers := map[*Objective]*Slicer{}
	for _, o := range objectives {
		if o.Kind == Slices {
			slicers[o] = NewSlicer(o, Run, started)
		}
	}
	type task struct {
		Task
		labels Labels // of its first request
	}
	tasks := map[string]*task{}
	lists := NeedLists(objectives)
	end = started
	for tl, err := range requests {
		if err != nil {
			return end, err
		}
		r := metric.ScalarsOf(tl)
		if lists {
			r = metric.Of(tl)
		}
		lasted := r.E2EMS.Or(r.CloseMS.Or(0))
		at := started.Add(time.Duration((r.DueS + lasted/1000) * float64(time.Second)))
		if at.After(end) {
			end = at
		}
		labels := Labels{"model": r.Model, "api": r.API}
		if r.Task != nil && r.Phase.Counts() {
			t := tasks[*r.Task]
			if t == nil {
				t = &task{labels: labels}
				tasks[*r.Task] = t
			}
			t.Note(&r, r.DueS, at)
		}
		for _, o := range objectives {
			if !o.Applies(labels) {
				continue
			}
			group := o.Group(labels)
			if s := slicers[o]; s != nil {
				tallySlice(s, o, tl, &r, group, started, at)
			} else if !o.OfTasks() {
				memory.Add(Key{o.Hash, Run, group}, at, 0, o.Tally(&r))
			}
		}
	}
	for _, o := range objectives {
		if s := slicers[o]; s != nil {
			for _, i := range s.Close(end) {
				memory.Add(i.Key, i.At, 0, i.Counts)
			}
		} else if o.OfTasks() {
			for _, t := range tasks {
				if o.Applies(t.labels) {
					memory.Add(Key{o.Hash, Run, o.Group(t.labels)}, t.End, 0, t.Count(o))
				}
			}
		}
	}
	return end, nil
}

// tallySlice adds a request to its slices; a stream's tokens to those in which
// they came.
func tallySlice(s *Slicer, o *Objective, tl *timeline.Timeline, r *metric.Record, group string, started, at time.Time) {
	if o.Figure == nil {
		if c := o.Tally(r); c.Valid > 0 {
			s.Add(group, at, float64(c.Good), float64(c.Valid))
		}
		return
	}
	if o.Figure.Name == "system_output_tps" && r.Phase.Counts() {
		values := metric.ValuesOf(tl)
		streamed := false
		metric.Delivered(tl, &values, func(atUS int64, tokens float64) {
			streamed = true
			s.Add(group, started.Add(time.Duration(r.DueS*float64(time.Second))+time.Duration(atUS)*time.Microsecond), tokens, 0)
		})
		if streamed {
			return
		}
	}
	if over, under, ok := o.FigureOf(r); ok {
		s.Add(group, at, over, under)
	}
}

// Distinct leaves one of each objective whose counters are the same: two that
// differ only in window, target or alerts count once.
func Distinct(objectives []*Objective) []*Objective {
	var out []*Objective
	for _, o := range objectives {
		if !slices.ContainsFunc(out, func(b *Objective) bool { return b.Hash == o.Hash }) {
			out = append(out, o)
		}
	}
	return out
}

// Task is a task of several requests. The zero value has none yet.
type Task struct {
	End time.Time // of the request that ended last

	begun             bool
	due, lasted       float64 // s
	failed, cancelled bool
}

// Note adds a finished request: when it was due, in seconds since any moment
// that is the same for all, and when it ended.
func (t *Task) Note(r *metric.Record, due float64, at time.Time) {
	if !t.begun || due < t.due {
		t.begun, t.due = true, due
	}
	if !at.Before(t.End) {
		t.End = at
	}
	t.lasted = max(t.lasted, due+r.E2EMS.Or(r.CloseMS.Or(0))/1000)
	t.failed = t.failed || r.Outcome.Failed() || r.Check != nil && *r.Check == "fail"
	t.cancelled = t.cancelled || r.Outcome.Cancelled()
}

// Count is what the task adds to an objective on task success, when it is over.
func (t *Task) Count(o *Objective) Counts {
	p := o.Promises[0]
	ms := (t.lasted - t.due) * 1000
	inTime := p.Within == 0 || ms < p.Within || p.WithinOp == "<=" && ms == p.Within
	return countOf(!t.cancelled || t.failed, !t.failed && inTime)
}
