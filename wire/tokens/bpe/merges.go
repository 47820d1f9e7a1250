package bpe

import "math/bits"

// Merges is a list of the pairs that may merge, the best first.
type Merges struct {
	slots []merge // power of two, at most half full
	shift uint8
	size  int
}

// merge is a pair, left<<32 | right, and what becomes of it: rank+1 in the high
// half, the id in the low one.
type merge struct{ pair, to uint64 }

// NewMerges makes room for n pairs; there may be more.
func NewMerges(n int) *Merges {
	b := bits.Len(uint(max(n, 1)*2 - 1))
	return &Merges{slots: make([]merge, 1<<b), shift: uint8(64 - b)}
}

// Add says that left and right become id. The lowest rank is the best; a pair
// that comes again has its last rank.
func (m *Merges) Add(left, right, rank, id uint32) {
	if 2*m.size >= len(m.slots) {
		m.grow()
	}
	m.put(merge{uint64(left)<<32 | uint64(right), uint64(rank+1)<<32 | uint64(id)})
}

func (m *Merges) put(x merge) {
	for i := m.home(x.pair); ; i = (i + 1) & (len(m.slots) - 1) {
		e := &m.slots[i]
		if e.to == 0 {
			m.size++
		}
		if e.to == 0 || e.pair == x.pair {
			*e = x
			return
		}
	}
}

func (m *Merges) grow() {
	old := m.slots
	m.slots, m.shift, m.size = make([]merge, 2*len(old)), m.shift-1, 0
	for _, x := range old {
		if x.to != 0 {
			m.put(x)
		}
	}
}

func (m *Merges) home(pair uint64) int {
	x := (pair ^ pair>>29) * k1
	return int((x ^ x>>32) * k2 >> m.shift)
}

// none is above every merge.
const none = ^uint64(0)

// find is rank+1 and id of a pair, or none.
func (m *Merges) find(left, right uint32) uint64 {
	pair := uint64(left)<<32 | uint64(right)
	for i := m.home(pair); ; i = (i + 1) & (len(m.slots) - 1) {
		e := &m.slots[i]
		if e.to == 0 {
			return none
		}
		if e.pair == pair {
			return e.to
		}
	}
}

// Word is the working space of a merge, for one goroutine. IDs are the symbols
// before it, and the tokens after it.
type Word struct {
	IDs   []uint32
	to    []uint64 // what becomes of each symbol and the next
	links []link
	heap  heap
}

type link struct{ prev, next int32 }

// Reset empties the word, and gives back the space of a huge one.
func (w *Word) Reset() {
	if cap(w.IDs) > mostKept {
		*w = Word{}
	}
	w.IDs = w.IDs[:0]
}

// Merge merges the symbols of a word until no pair is left that may.
func (m *Merges) Merge(w *Word) {
	n := len(w.IDs)
	if n < 2 {
		return
	}
	if cap(w.to) < n {
		w.to = make([]uint64, n+n/2)
	}
	w.to = w.to[:n]
	best, at := none, 0
	for i := range n - 1 {
		w.to[i] = m.find(w.IDs[i], w.IDs[i+1])
		if w.to[i] < best {
			best, at = w.to[i], i
		}
	}
	w.to[n-1] = none
	if n > smallPiece {
		m.mergeLong(w)
		return
	}
	for best != none {
		n--
		w.IDs[at] = uint32(best)
		copy(w.IDs[at+1:], w.IDs[at+2:n+1])
		copy(w.to[at+1:], w.to[at+2:n+1])
		w.to[at] = none
		if at+1 < n {
			w.to[at] = m.find(w.IDs[at], w.IDs[at+1])
		}
		if at > 0 {
			w.to[at-1] = m.find(w.IDs[at-1], w.IDs[at])
		}
		best = none
		for i, to := range w.to[:n] {
			if to < best {
				best, at = to, i
			}
		}
	}
	w.IDs = w.IDs[:n]
}

// mergeLong is Merge with a heap and links.
func (m *Merges) mergeLong(w *Word) {
	n := len(w.IDs)
	if cap(w.links) < n {
		w.links = make([]link, n+n/2)
	}
	w.links, w.heap = w.links[:n], w.heap[:0]
	for i := range n {
		w.links[i] = link{int32(i) - 1, int32(i) + 1}
		if w.to[i] != none {
			w.heap = append(w.heap, w.to[i]&^(1<<32-1)|uint64(i))
		}
	}
	w.heap.order()
	for len(w.heap) > 0 {
		top := w.heap.pop()
		at := int32(uint32(top))
		if to := w.to[at]; to == none || to>>32 != top>>32 {
			continue // it has changed since
		}
		gone := w.links[at].next
		next := w.links[gone].next
		w.IDs[at] = uint32(w.to[at])
		w.to[gone] = none
		w.links[at].next = next
		if int(next) < n {
			w.links[next].prev = at
		}
		m.score(w, at)
		if prev := w.links[at].prev; prev >= 0 {
			m.score(w, prev)
		}
	}
	kept := 0
	for i := int32(0); int(i) < n; i = w.links[i].next {
		w.IDs[kept] = w.IDs[i]
		kept++
	}
	w.IDs = w.IDs[:kept]
}

// score sets what becomes of a symbol and the next, and queues it.
func (m *Merges) score(w *Word, at int32) {
	w.to[at] = none
	if next := w.links[at].next; int(next) < len(w.IDs) {
		if w.to[at] = m.find(w.IDs[at], w.IDs[next]); w.to[at] != none {
			w.heap.push(w.to[at]&^(1<<32-1) | uint64(at))
		}
	}
}
