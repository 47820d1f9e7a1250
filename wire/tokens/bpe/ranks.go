// Package bpe merges the bytes of a piece of text into the tokens of a
// vocabulary, by the rule of byte-pair encoding: again and again the best pair
// of neighbours becomes one, the leftmost first among equals.
//
// Ranks does it as tiktoken does: any two neighbours whose joined bytes are a
// token may merge, and a lower id is better. Merges does it as Hugging Face
// tokenizers do: by a list of pairs, the first of which is the best. Neither is quadratic in the length of a
// piece, and neither allocates while it counts.
package bpe

import "errors"

// Ranks is a vocabulary whose ids are the ranks of its merges.
type Ranks struct {
	blob  string   // the tokens by id, joined
	ends  []uint32 // where each ends in blob
	table *table
	pairs []uint32 // the id of each token of two bytes, by first<<8 | second
	bytes [256]uint32
}

// NewRanks makes a vocabulary of tokens by id: their bytes, joined, and where
// each ends. Every single byte must be a token.
func NewRanks(blob string, ends []uint32) (*Ranks, error) {
	r := &Ranks{blob: blob, ends: ends, pairs: make([]uint32, 1<<16)}
	if len(ends) > maxID {
		return nil, errors.New("too many tokens")
	}
	long, at := 0, uint32(0)
	for _, end := range ends {
		if end <= at || int(end) > len(blob) {
			return nil, errors.New("a token is empty")
		}
		if end-at > inline {
			long++
		}
		at = end
	}
	for i := range r.pairs {
		r.pairs[i] = None
	}
	for i := range r.bytes {
		r.bytes[i] = None
	}
	r.table = newTable(len(ends)-long, long, r.Token)
	r.table.addAll(len(ends))
	for id := range ends {
		switch s := r.Token(uint32(id)); len(s) {
		case 1:
			r.bytes[s[0]] = uint32(id)
		case 2:
			r.pairs[int(s[0])<<8|int(s[1])] = uint32(id)
		}
	}
	for _, id := range r.bytes {
		if id == None {
			return nil, errors.New("not every byte is a token")
		}
	}
	return r, nil
}

// Len is the number of tokens.
func (r *Ranks) Len() int { return len(r.ends) }

// Token is the bytes of a token.
func (r *Ranks) Token(id uint32) string {
	start := uint32(0)
	if id > 0 {
		start = r.ends[id-1]
	}
	return r.blob[start:r.ends[id]]
}

// Find is the id of the token that is exactly these bytes, or None.
func (r *Ranks) Find(s string) uint32 {
	switch len(s) {
	case 0:
		return None
	case 1:
		return r.bytes[s[0]]
	case 2:
		return r.pairs[int(s[0])<<8|int(s[1])]
	}
	return r.table.find(s)
}

// Count is the number of tokens of one piece.
func (r *Ranks) Count(piece string) int {
	if len(piece) < 2 {
		return len(piece)
	}
	if r.Find(piece) != None {
		return 1
	}
	return r.countMerged(piece)
}

// countMerged is Count of a piece that is no token.
func (r *Ranks) countMerged(piece string) int {
	if len(piece) <= smallPiece {
		var m small
		return m.merge(r, piece)
	}
	m := largePool.Get().(*large)
	defer m.release()
	return m.merge(r, piece)
}

// Append appends the ids of one piece.
func (r *Ranks) Append(ids []uint32, piece string) []uint32 {
	if piece == "" {
		return ids
	}
	if id := r.Find(piece); id != None {
		return append(ids, id)
	}
	if len(piece) <= smallPiece {
		var m small
		n := m.merge(r, piece)
		for i := range n {
			ids = append(ids, r.Find(piece[m.start[i]:m.start[i+1]]))
		}
		return ids
	}
	m := largePool.Get().(*large)
	defer m.release()
	m.merge(r, piece)
	for i := int32(0); i < int32(len(piece)); i = m.parts[i].next {
		ids = append(ids, r.Find(piece[i:m.parts[i].next]))
	}
	return ids
}
