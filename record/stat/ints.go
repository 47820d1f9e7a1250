package stat

import (
	"maps"
	"math"
	"slices"
)

const (
	pageBits  = 10
	pageSize  = 1 << pageBits
	pageCount = 1 << 10 // pages × size = 2^20 values counted densely
)

// Ints is an exact multiset of non-negative integers, made for microseconds:
// values below 2^20 are counted in pages that appear as they are needed, larger
// ones (rare: over a second) in a map. Counters are small, so that pages stay in
// the processor's cache; what they can't hold is in the map too. A hundred million gaps take a few
// megabytes, and every quantile is exact. The zero value is empty.
type Ints struct {
	pages [pageCount]*[pageSize]uint16
	over  map[int64]uint64 // large values, and what a page's counter could not hold
	full  bool             // over holds values of pages
	n     uint64
}

// Add counts v once; a negative v counts as 0.
func (m *Ints) Add(v int64) {
	if uint64(v) < pageCount*pageSize {
		if page := m.pages[uint64(v)>>pageBits]; page != nil {
			if count := &page[v&(pageSize-1)]; *count < math.MaxUint16 {
				*count++
				m.n++
				return
			}
		}
	}
	m.AddN(v, 1)
}

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
		page = new([pageSize]uint16)
		m.pages[v>>pageBits] = page
	}
	count := &page[v&(pageSize-1)]
	if times += uint64(*count); times > math.MaxUint16 {
		m.full = true
		m.addOver(v, times)
		times = 0
	}
	*count = uint16(times)
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
