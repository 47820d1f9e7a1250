package stat

import (
	"maps"
	"math"
	"slices"
	"sort"
)

const (
	pageBits  = 10
	pageSize  = 1 << pageBits
	pageCount = 1 << 10 // pages × size = 2^20 values counted densely
)

// Ints is an exact multiset of non-negative integers, made for microseconds:
// values below 2^20 are counted in pages that appear as they are needed, larger
// ones (rare: over a second) in a map. A hundred million gaps take a few
// megabytes, and every quantile is exact. The zero value is empty.
type Ints struct {
	pages [pageCount]*[pageSize]uint32
	over  map[int64]uint64 // large values, and what a page's counter could not hold
	full  bool             // over holds values of pages
	n     uint64
}

// Add counts v once; a negative v counts as 0.
func (m *Ints) Add(v int64) { m.AddN(v, 1) }

// AddN counts v as often as times says.
func (m *Ints) AddN(v int64, times uint64) {
	if times == 0 {
		return
	}
	v = max(v, 0)
	m.n += times
	if v >= pageCount*pageSize {
		m.addOver(v, times)
		return
	}
	page := m.pages[v>>pageBits]
	if page == nil {
		page = new([pageSize]uint32)
		m.pages[v>>pageBits] = page
	}
	count := &page[v&(pageSize-1)]
	if uint64(*count)+times > math.MaxUint32 {
		m.full = true
		m.addOver(v, times)
		return
	}
	*count += uint32(times)
}

func (m *Ints) addOver(v int64, times uint64) {
	if m.over == nil {
		m.over = map[int64]uint64{}
	}
	m.over[v] += times
}

// Len returns the number of values, with their multiplicity.
func (m *Ints) Len() int64 { return int64(m.n) }

// Merge adds every value of o, which stays as it is.
func (m *Ints) Merge(o *Ints) {
	for v, times := range o.All() {
		m.AddN(v, times)
	}
}

// All yields the distinct values in ascending order with their multiplicity.
func (m *Ints) All() func(yield func(v int64, times uint64) bool) {
	return func(yield func(v int64, times uint64) bool) {
		for i, page := range m.pages {
			if page == nil {
				continue
			}
			for j, count := range page {
				v, times := int64(i<<pageBits|j), uint64(count)
				if m.full {
					times += m.over[v]
				}
				if times > 0 && !yield(v, times) {
					return
				}
			}
		}
		for _, v := range slices.Sorted(maps.Keys(m.over)) {
			if v >= pageCount*pageSize && !yield(v, m.over[v]) {
				return
			}
		}
	}
}

// Frozen returns the values divided by unit as an ordered sample.
func (m *Ints) Frozen(unit float64) *Counted {
	c := &Counted{}
	for v, times := range m.All() {
		c.push(float64(v)/unit, int64(times))
	}
	return c
}

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
	slices.SortStableFunc(all, func(a, b entry) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	c := &Counted{}
	for _, e := range all {
		c.push(e.value, e.times)
	}
	return c
}

// Counted is an ordered sample with multiplicities.
type Counted struct {
	values []float64
	upto   []int64 // values up to and including this one
}

func (c *Counted) push(v float64, times int64) {
	if last := len(c.values) - 1; last >= 0 && c.values[last] == v {
		c.upto[last] += times
		return
	}
	c.values = append(c.values, v)
	c.upto = append(c.upto, c.Len()+times)
}

// Append adds a value that is not below any before it, times over. Failures
// join a sample as +Inf this way.
func (c *Counted) Append(v float64, times int64) {
	if times > 0 && (len(c.values) == 0 || v >= c.values[len(c.values)-1]) {
		c.push(v, times)
	}
}

// Len returns the number of values, with their multiplicity.
func (c *Counted) Len() int64 {
	if len(c.upto) == 0 {
		return 0
	}
	return c.upto[len(c.upto)-1]
}

// At returns the i-th smallest value, from 0.
func (c *Counted) At(i int64) float64 {
	return c.values[sort.Search(len(c.upto), func(j int) bool { return c.upto[j] > i })]
}

// AtMost returns how many values do not exceed v.
func (c *Counted) AtMost(v float64) int64 {
	j := sort.Search(len(c.values), func(j int) bool { return c.values[j] > v })
	if j == 0 {
		return 0
	}
	return c.upto[j-1]
}

// Moments returns mean and standard deviation; ok is false for an empty sample.
func (c *Counted) Moments() (m Moments, ok bool) {
	return moments(c.Len(), func(yield func(v float64, count int64)) {
		before := int64(0)
		for i, v := range c.values {
			yield(v, c.upto[i]-before)
			before = c.upto[i]
		}
	})
}
