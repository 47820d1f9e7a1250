package slo

import (
	"slices"
	"time"
)

// Slicer turns what happens into slices that are good, bad or idle. A slice is
// judged once, when it has ended. Not safe for concurrent use.
type Slicer struct {
	o    *Objective
	open map[sliceKey]*sums
	upTo time.Time // slices that end by then have been judged
}

type sliceKey struct {
	source Source
	group  string
	at     int64
}

type sums struct{ over, under float64 }

// Increment is something to be counted.
type Increment struct {
	Key Key
	At  time.Time
	Counts
}

// NewSlicer returns a slicer that judges slices which begin at or after a
// moment.
func NewSlicer(o *Objective, from time.Time) *Slicer {
	begin := from.Truncate(o.Slice)
	if begin.Before(from) {
		begin = begin.Add(o.Slice) // a slice that was not seen as a whole is not judged
	}
	return &Slicer{o: o, open: map[sliceKey]*sums{}, upTo: begin}
}

// Add adds to the two sums of a slice: of a share of requests good and valid
// ones, of a figure what is over and under the line. What comes too late for
// its slice is left out, and that is reported.
func (s *Slicer) Add(source Source, group string, at time.Time, over, under float64) (counted bool) {
	start := at.Truncate(s.o.Slice)
	if start.Before(s.upTo) {
		return false
	}
	k := sliceKey{source, group, start.Unix()}
	sum := s.open[k]
	if sum == nil {
		sum = &sums{}
		s.open[k] = sum
	}
	sum.over += over
	sum.under += under
	return true
}

// Close judges the slices that have ended by now. groups are those that are
// judged even when they were idle.
func (s *Slicer) Close(now time.Time, source Source, groups ...string) []Increment {
	if len(groups) == 0 {
		groups = []string{""}
	}
	var out []Increment
	for s.upTo.Add(s.o.Slice).Compare(now) <= 0 {
		at := s.upTo
		for k := range s.open {
			if k.at == at.Unix() && k.source == source && !slices.Contains(groups, k.group) {
				groups = append(groups, k.group)
			}
		}
		for _, g := range groups {
			k := sliceKey{source, g, at.Unix()}
			sum := s.open[k]
			delete(s.open, k)
			out = append(out, Increment{Key{s.o.Hash, source, g}, at, s.judge(sum)})
		}
		s.upTo = at.Add(s.o.Slice)
	}
	return out
}

func (s *Slicer) judge(sum *sums) Counts {
	if sum == nil {
		return s.o.JudgeSlice(false, 0, 0)
	}
	return s.o.JudgeSlice(true, sum.over, sum.under)
}

// JudgeSlice judges one slice by its sums. Without anything in it, it is idle.
func (o *Objective) JudgeSlice(any bool, over, under float64) Counts {
	good := false
	switch f := o.Figure; {
	case !any, f != nil && !f.PerSecond() && under == 0, f == nil && under == 0:
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
		good = f.Holds(over / o.Slice.Seconds())
	default:
		good = f.Holds(over / under * figures[f.Name].times)
	}
	if good {
		return Counts{Good: 1, Valid: 1}
	}
	return Counts{Valid: 1}
}
