package slo

import (
	"slices"
	"sort"
	"time"
)

// Tier is a resolution and how long it is kept.
type Tier struct{ Step, Keep time.Duration }

// Tiers are the resolutions of history, finest first: a window that ends now is
// read from the finest tier that still covers its beginning.
var Tiers = []Tier{
	{10 * time.Second, time.Hour + 10*time.Minute},
	{time.Minute, 3*24*time.Hour + time.Hour},
	{5 * time.Minute, 93 * 24 * time.Hour},
	{time.Hour, 800 * 24 * time.Hour},
}

// Interval is a time from its beginning up to, but not with, its end.
type Interval struct{ From, To time.Time }

// Cells is one series of counts in memory, in every tier. Cells in which
// nothing happened take no room. Not safe for concurrent use.
type Cells struct {
	tiers  [4][]cell
	newest int64 // Unix seconds
}

type cell struct {
	at int64
	Counts
}

// Add counts what happened at a moment. step is the resolution at which the
// moment is known: 0 for exactly, else that of the tier it was stored in.
func (s *Cells) Add(at time.Time, step time.Duration, c Counts) {
	s.newest = max(s.newest, at.Unix())
	for i, tier := range Tiers {
		size := int64(tier.Step / time.Second)
		if tier.Step < step || s.newest-at.Unix() > int64(tier.Keep/time.Second) {
			continue
		}
		start := floor(at.Unix(), size)
		cells := s.tiers[i]
		if n := len(cells); n > 0 && cells[n-1].at == start {
			cells[n-1].Counts = cells[n-1].Plus(c)
			continue
		} else if n == 0 || cells[n-1].at < start {
			s.tiers[i] = append(s.trimmed(i), cell{start, c})
			continue
		}
		at, found := slices.BinarySearchFunc(cells, start, func(c cell, at int64) int { return int(c.at - at) })
		if found {
			cells[at].Counts = cells[at].Plus(c)
		} else {
			s.tiers[i] = slices.Insert(cells, at, cell{start, c})
		}
	}
}

// trimmed drops what a tier no longer keeps, a good deal at once.
func (s *Cells) trimmed(i int) []cell {
	cells := s.tiers[i]
	if len(cells) < 64 || len(cells) < cap(cells) {
		return cells
	}
	oldest := s.newest - int64(Tiers[i].Keep/time.Second)
	gone := sort.Search(len(cells), func(j int) bool { return cells[j].at >= oldest })
	if gone < len(cells)/8 {
		return cells
	}
	return slices.Clone(cells[gone:])
}

// ceil is the first whole second that is not before a moment.
func ceil(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

func floor(at, size int64) int64 {
	r := at % size
	if r < 0 {
		r += size
	}
	return at - r
}

// tierFor is the finest tier that covers a moment.
func (s *Cells) tierFor(from, now int64) int {
	for i, tier := range Tiers {
		if now-from <= int64(tier.Keep/time.Second)-int64(tier.Step/time.Second) {
			return i
		}
	}
	return len(Tiers) - 1
}

// Sum adds the cells that begin in [from, to), seen from now: windows that follow
// each other share none. A cell that lies across from is out. One that a hole
// touches is cut out and summed apart.
func (s *Cells) Sum(from, to, now time.Time, holes []Interval) (kept, cut Counts) {
	i := s.tierFor(from.Unix(), max(now.Unix(), s.newest))
	size := int64(Tiers[i].Step / time.Second)
	cells := s.tiers[i]
	first, end := ceil(from), ceil(to)
	j := sort.Search(len(cells), func(j int) bool { return cells[j].at >= first })
	for ; j < len(cells) && cells[j].at < end; j++ {
		if touched(cells[j].at, size, holes) {
			cut = cut.Plus(cells[j].Counts)
			continue
		}
		kept = kept.Plus(cells[j].Counts)
	}
	return kept, cut
}

func touched(at, size int64, holes []Interval) bool {
	for _, h := range holes {
		if at+size > h.From.Unix() && at < h.To.Unix() {
			return true
		}
	}
	return false
}
