package bpe

// Cache remembers how many tokens the last pieces had that are no token
// themselves: words come again, and in most scripts but Latin a word is several
// tokens. It belongs to one vocabulary and one goroutine; its zero value is empty.
type Cache [1 << cacheBits]remembered

const cacheBits = 12

// remembered fills half a cache line.
type remembered struct {
	size, count uint8
	text        [30]byte
}

// CountCached is Count with a memory.
func (r *Ranks) CountCached(c *Cache, piece string) int {
	if len(piece) < 2 {
		return len(piece)
	}
	if r.Find(piece) != None {
		return 1
	}
	if len(piece) > len(c[0].text) {
		return r.countMerged(piece)
	}
	e := &c[hash(piece)>>(32-cacheBits)]
	if string(e.text[:e.size]) != piece {
		e.size, e.count = uint8(copy(e.text[:], piece)), uint8(r.countMerged(piece))
	}
	return int(e.count)
}
