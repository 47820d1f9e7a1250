package bpe

import "sync"

// large merges a long piece: a heap of the pairs that may merge, a list of the
// parts. What the heap says of a part that has changed since is passed over.
type large struct {
	parts []part
	heap  []uint64 // rank<<32 | where the pair starts: the least is best
}

// part is a run of bytes that starts where it lies in the list.
type part struct {
	prev, next int32
	rank       uint32 // of the pair that starts here; None too once merged away
}

var largePool = sync.Pool{New: func() any { return new(large) }}

// mostKept is the longest piece whose working space is kept for the next.
const mostKept = 1 << 20

// merge leaves the tokens as a list in parts and returns their number. The
// piece is at least two bytes long.
func (m *large) merge(r *Ranks, piece string) int {
	n := len(piece)
	if n > mostKept || cap(m.parts) < n {
		*m = large{parts: make([]part, 0, n), heap: make([]uint64, 0, n)}
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
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.heap) > 0 {
		top := m.heap[0]
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
		m.down(0)
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
	if s := piece[at:m.parts[p.next].next]; len(s) <= r.table.longest {
		p.rank = r.Find(s)
	}
	if p.rank != None {
		m.push(uint64(p.rank)<<32 | uint64(at))
	}
}

func (m *large) push(x uint64) {
	m.heap = append(m.heap, x)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if m.heap[up] <= x {
			break
		}
		m.heap[i] = m.heap[up]
		i = up
	}
	m.heap[i] = x
}

func (m *large) down(i int) {
	if i >= len(m.heap) {
		return
	}
	x := m.heap[i]
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			break
		}
		if child+1 < len(m.heap) && m.heap[child+1] < m.heap[child] {
			child++
		}
		if x <= m.heap[child] {
			break
		}
		m.heap[i] = m.heap[child]
		i = child
	}
	m.heap[i] = x
}
