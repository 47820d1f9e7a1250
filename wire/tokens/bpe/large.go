package bpe

import "sync"

// large merges a long piece: a heap of the pairs that may merge, a list of the
// parts. What the heap says of a part that has changed since is passed over.
type large struct {
	parts []part
	heap  heap
}

// part is a run of bytes that starts where it lies in the list.
type part struct {
	prev, next int32
	rank       uint32 // of the pair that starts here; None too once merged away
}

var largePool = sync.Pool{New: func() any { return new(large) }}

// mostKept is the longest piece whose working space is kept for the next.
const mostKept = 1 << 20

// release keeps the working space for the next piece, unless it is huge.
func (m *large) release() {
	if cap(m.parts) <= mostKept {
		largePool.Put(m)
	}
}

// merge leaves the tokens as a list in parts and returns their number. The
// piece is at least two bytes long.
func (m *large) merge(r *Ranks, piece string) int {
	n := len(piece)
	if cap(m.parts) < n {
		*m = large{parts: make([]part, 0, n), heap: make(heap, 0, n)}
	}
	m.parts, m.heap = m.parts[:n], m.heap[:0]
	for i := range n {
		p := part{int32(i) - 1, int32(i) + 1, None}
		if i+1 < n {
			p.rank = r.pairs[int(piece[i])<<8|int(piece[i+1])]
		}
		m.parts[i] = p
		if p.rank != None {
			m.heap = append(m.heap, uint64(p.rank)<<32|uint64(i))
		}
	}
	m.heap.order()
	for len(m.heap) > 0 {
		top := m.heap.pop()
		at := int32(uint32(top))
		if m.parts[at].rank != uint32(top>>32) {
			continue
		}
		gone := m.parts[at].next
		next := m.parts[gone].next
		m.parts[gone].rank = None
		m.parts[at].next = next
		if int(next) < n {
			m.parts[next].prev = at
		}
		m.score(r, piece, at)
		if prev := m.parts[at].prev; prev >= 0 {
			m.score(r, piece, prev)
		}
	}
	count := 0
	for i := int32(0); int(i) < n; i = m.parts[i].next {
		count++
	}
	return count
}

// score sets the rank of the pair that starts at a part, and queues it.
func (m *large) score(r *Ranks, piece string, at int32) {
	p := &m.parts[at]
	p.rank = None
	if int(p.next) >= len(piece) {
		return
	}
	if p.rank = r.Find(piece[at:m.parts[p.next].next]); p.rank != None {
		m.heap.push(uint64(p.rank)<<32 | uint64(at))
	}
}
