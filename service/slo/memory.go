package slo

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// Reader is where an objective's counts are read.
type Reader interface {
	// Sum adds what a series counted in [from, to), seen from now, to within
	// the resolution that is kept of that time; what lies in a hole is summed
	// apart.
	Sum(k Key, from, to, now time.Time, holes []Interval) (kept, cut Counts)
	// Seen is until when a source was watched; zero when it never was.
	Seen(s Source) time.Time
	// Watched is how much of [from, to) a source was watched.
	Watched(s Source, from, to time.Time) time.Duration
	// WatchedSince is the moment since which a source was watched for so long in
	// all: times in which nobody did are left out, unless one is as long as that.
	// Zero when it was watched for less.
	WatchedSince(s Source, long time.Duration, now time.Time) time.Time
	// Since is from when on a series has been counted without a break, restarts
	// left out; zero when that is not known. What it counted before is history.
	Since(hash string, s Source) time.Time
	// Groups lists the groups of a series, "" left out.
	Groups(hash string, s Source) []string
}

// Memory is a Reader that is filled by Add. The zero value is empty; safe for
// concurrent use.
type Memory struct {
	// Until ends what is taken: nothing of that moment or later is, and no cell
	// that lies across it. Zero: all is.
	Until time.Time

	mu      sync.RWMutex
	series  map[Key]*Cells
	watched map[Source][]Interval
	since   map[Key]time.Time
}

// Add counts what happened at a moment that is known to within step (0:
// exactly).
func (m *Memory) Add(k Key, at time.Time, step time.Duration, c Counts) {
	if m.ended(at, step) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.series == nil {
		m.series = map[Key]*Cells{}
	}
	cells := m.series[k]
	if cells == nil {
		cells = &Cells{}
		m.series[k] = cells
	}
	cells.Add(at, step, c)
}

// ended reports whether what is known to within step may be of Until or later.
func (m *Memory) ended(at time.Time, step time.Duration) bool {
	return !m.Until.IsZero() && (!at.Before(m.Until) || at.Add(step).After(m.Until))
}

// Watch notes that a source was watched from one moment to another: no count
// then means that nothing happened. Times that follow each other join.
func (m *Memory) Watch(s Source, from, to time.Time) {
	if !m.Until.IsZero() && to.After(m.Until) {
		to = m.Until
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watched == nil {
		m.watched = map[Source][]Interval{}
	}
	m.watched[s] = join(m.watched[s], Interval{from, to})
}

// join adds an interval to an ordered list, merging what touches.
func join(list []Interval, add Interval) []Interval {
	if !add.To.After(add.From) {
		return list
	}
	if n := len(list); n > 0 && !add.From.Before(list[n-1].From) && !add.From.After(list[n-1].To) {
		if add.To.After(list[n-1].To) {
			list[n-1].To = add.To
		}
		return list
	} else if n == 0 || add.From.After(list[n-1].To) {
		return append(list, add)
	}
	list = append(list, add)
	sort.Slice(list, func(i, j int) bool { return list[i].From.Before(list[j].From) })
	merged := list[:1]
	for _, next := range list[1:] {
		last := &merged[len(merged)-1]
		if next.From.After(last.To) {
			merged = append(merged, next)
		} else if next.To.After(last.To) {
			last.To = next.To
		}
	}
	return merged
}

// Sum implements Reader.
func (m *Memory) Sum(k Key, from, to, now time.Time, holes []Interval) (kept, cut Counts) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if cells := m.series[k]; cells != nil {
		return cells.Sum(from, to, now, holes)
	}
	return Counts{}, Counts{}
}

// Seen implements Reader.
func (m *Memory) Seen(s Source) time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if list := m.watched[s]; len(list) > 0 {
		return list[len(list)-1].To
	}
	return time.Time{}
}

// Watched implements Reader.
func (m *Memory) Watched(s Source, from, to time.Time) time.Duration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var sum time.Duration
	for _, i := range m.watched[s] {
		sum += overlap(i, from, to)
	}
	return sum
}

// WatchedSince implements Reader.
func (m *Memory) WatchedSince(s Source, long time.Duration, now time.Time) time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	left, seen := long, now
	for _, i := range slices.Backward(m.watched[s]) {
		end := i.To
		if end.After(now) {
			end = now
		}
		if !end.After(i.From) {
			continue
		}
		if seen.Sub(end) >= long {
			break
		}
		if left -= end.Sub(i.From); left <= 0 {
			return i.From.Add(-left)
		}
		seen = i.From
	}
	return time.Time{}
}

// Counting says from when on each series has been counted, groups left out.
func (m *Memory) Counting(since map[Key]time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since = since
}

// Since implements Reader.
func (m *Memory) Since(hash string, s Source) time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.since[Key{Hash: hash, Source: s}]
}

// Groups implements Reader.
func (m *Memory) Groups(hash string, s Source) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var groups []string
	for k := range m.series {
		if k.Hash == hash && k.Source == s && k.Group != "" {
			groups = append(groups, k.Group)
		}
	}
	slices.Sort(groups)
	return groups
}
