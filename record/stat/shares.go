package stat

import (
	"maps"
	"slices"
	"sort"
)

// Shares is an exact multiset of fractions v/k, each with multiplicity k: a gap
// of v before a chunk of k tokens is k token gaps of v/k. The zero value is
// empty.
type Shares struct {
	whole Ints // k = 1
	by    map[int64]*Ints
}

// Add counts v/k k times; k < 1 counts nothing.
func (s *Shares) Add(v, k int64) {
	switch {
	case k == 1:
		s.whole.Add(v)
	case k > 1:
		if s.by == nil {
			s.by = map[int64]*Ints{}
		}
		m := s.by[k]
		if m == nil {
			m = &Ints{}
			s.by[k] = m
		}
		m.Add(v)
	}
}

// AddOne is Add(v, 1).
func (s *Shares) AddOne(v int64) { s.whole.Add(v) }

// Len returns the number of fractions, with their multiplicity.
func (s *Shares) Len() int64 {
	n := s.whole.Len()
	for k, m := range s.by {
		n += k * m.Len()
	}
	return n
}

// Merge adds every fraction of o, which stays as it is.
func (s *Shares) Merge(o *Shares) {
	s.whole.Merge(&o.whole)
	for k, m := range o.by {
		if s.by == nil {
			s.by = map[int64]*Ints{}
		}
		if s.by[k] == nil {
			s.by[k] = &Ints{}
		}
		s.by[k].Merge(m)
	}
}

// Frozen returns the fractions divided by unit as an ordered sample.
func (s *Shares) Frozen(unit float64) *Counted {
	if len(s.by) == 0 {
		return s.whole.Frozen(unit)
	}
	type entry struct {
		value float64
		times int64
	}
	var all []entry
	gather := func(k int64, m *Ints) {
		for v, times := range m.All() {
			all = append(all, entry{float64(v) / float64(k) / unit, k * int64(times)})
		}
	}
	gather(1, &s.whole)
	for _, k := range slices.Sorted(maps.Keys(s.by)) {
		gather(k, s.by[k])
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].value < all[j].value })
	c := &Counted{}
	for _, e := range all {
		c.push(e.value, e.times)
	}
	return c
}
