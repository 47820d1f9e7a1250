package slo

import (
	"slices"
	"time"
)

// Slicer turns what happens to one source into slices that are good, bad or
// idle. A slice is judged once, when it has ended. Not safe for concurrent use.
type Slicer struct {
	o      *Objective
	source Source
	open   map[sliceKey]*sums
	groups []string  // those that were seen
	upTo   time.Time // slices that begin before are not judged any more
	judged time.Time // end of the last one that was
}

type sliceKey struct {
	group string
	at    int64
}

type sums struct{ over, under float64 }

// Increment is something to be counted.
type Increment struct {
	Key Key
	At  time.Time
	Counts
}

// NewSlicer returns a slicer that judges slices which begin at or after a
// moment: one that was not seen as a whole is not judged.
func NewSlicer(o *Objective, source Source, from time.Time) *Slicer {
	begin := from.Truncate(o.Slice)
	if begin.Before(from) {
		begin = begin.Add(o.Slice)
	}
	s := &Slicer{o: o, source: source, open: map[sliceKey]*sums{}, upTo: begin}
	if len(o.By) == 0 {
		s.groups = []string{""}
	}
	return s
}

// Hash is that of the objective.
func (s *Slicer) Hash() string { return s.o.Hash }

// Add adds to the two sums of a slice: of a share of requests good and valid
// ones, of a figure what is over and under the line. What comes too late for
// its slice is left out, and that is reported.
func (s *Slicer) Add(group string, at time.Time, over, under float64) (counted bool) {
	start := at.Truncate(s.o.Slice)
	if start.Before(s.upTo) {
		return false
	}
	k := sliceKey{group, start.Unix()}
	sum := s.open[k]
	if sum == nil {
		sum = &sums{}
		s.open[k] = sum
		if !slices.Contains(s.groups, group) {
			s.groups = append(s.groups, group)
		}
	}
	sum.over += over
	sum.under += under
	return true
}

// Close judges the slices that have ended by now.
func (s *Slicer) Close(now time.Time) []Increment {
	var out []Increment
	for s.upTo.Add(s.o.Slice).Compare(now) <= 0 {
		at := s.upTo
		for _, g := range s.groups {
			k := sliceKey{g, at.Unix()}
			out = append(out, Increment{Key{s.o.Hash, s.source, g}, at, s.judge(s.open[k])})
			delete(s.open, k)
		}
		s.upTo = at.Add(s.o.Slice)
		s.judged = s.upTo
	}
	return out
}

// Skip goes on with the next whole slice: nobody watched, or the clock was set.
// A slice that was judged is not judged again, so after a clock that went back
// this may take as long as it went back.
func (s *Slicer) Skip(now time.Time) {
	next := NewSlicer(s.o, s.source, now)
	s.upTo, s.open = next.upTo, next.open
	if s.judged.After(s.upTo) {
		s.upTo = s.judged
	}
}

func (s *Slicer) judge(sum *sums) Counts {
	if sum == nil {
		return s.o.JudgeSlice(false, 0, 0)
	}
	return s.o.JudgeSlice(true, sum.over, sum.under)
}

// JudgeSlice judges one slice by its sums. Without anything in it, it is idle.
func (o *Objective) JudgeSlice(any bool, over, under float64) Counts {
	var good bool
	switch f := o.Figure; {
	case !any, f != nil && !f.PerSecond() && under == 0, f == nil && under == 0,
		f != nil && f.PerDollar() && over == 0: // GPUs cost money while nobody asks
		switch o.Idle {
		case "good":
			return Counts{Good: 1, Valid: 1}
		case "bad":
			return Counts{Valid: 1}
		}
		return Counts{Excluded: 1}
	case f == nil:
		good = under-over <= under*decimal(1-o.SliceShare)+1e-9
	case f.PerSecond():
		good = f.Holds(decimal(over / o.Slice.Seconds()))
	default:
		good = f.Holds(decimal(over / under * figures[f.Name].times))
	}
	if good {
		return Counts{Good: 1, Valid: 1}
	}
	return Counts{Valid: 1}
}
