package bpe

// smallPiece is the longest piece that a linear search for the best pair
// serves better than a heap.
const smallPiece = 48

// small merges a short piece, on the stack.
type small struct {
	start [smallPiece + 1]uint8  // where each part starts; after the last: the end
	rank  [smallPiece + 1]uint32 // of the pair that starts with the part
}

// merge leaves the starts of the tokens in start and returns their number. The
// piece is at least two bytes long and no token itself.
func (m *small) merge(r *Ranks, piece string) int {
	n := len(piece)
	best, at := None, 0
	for i := range n - 1 {
		m.start[i] = uint8(i)
		rank := r.pairs[int(piece[i])<<8|int(piece[i+1])]
		m.rank[i] = rank
		if rank < best {
			best, at = rank, i
		}
	}
	m.start[n-1], m.start[n] = uint8(n-1), uint8(n)
	m.rank[n-1] = None
	for best != None {
		// Part at+1 joins part at.
		n--
		copy(m.start[at+1:n+1], m.start[at+2:n+2])
		copy(m.rank[at+1:n], m.rank[at+2:n+1])
		m.rank[at] = m.pair(r, piece, at, n)
		if at > 0 {
			m.rank[at-1] = m.pair(r, piece, at-1, n)
		}
		best = None
		for i, rank := range m.rank[:n] {
			if rank < best {
				best, at = rank, i
			}
		}
	}
	return n
}

// pair is the rank of parts i and i+1 of n, joined.
func (m *small) pair(r *Ranks, piece string, i, n int) uint32 {
	if i+1 >= n {
		return None
	}
	return r.Find(piece[m.start[i]:m.start[i+2]])
}
