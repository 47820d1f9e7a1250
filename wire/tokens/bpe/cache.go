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

// entry is where a piece is remembered; nil if it is too long for that.
func (c *Cache) entry(piece string) *remembered {
	if len(piece) > len(c[0].text) {
		return nil
	}
	return &c[hash(piece)>>(32-cacheBits)]
}

// Find is the number of tokens of a piece that was stored.
func (c *Cache) Find(piece string) (count int, ok bool) {
	e := c.entry(piece)
	if e == nil || string(e.text[:e.size]) != piece {
		return 0, false
	}
	return int(e.count), true
}

// Store remembers the number of tokens of a piece, in place of another's.
func (c *Cache) Store(piece string, count int) {
	if e := c.entry(piece); e != nil && count < 256 {
		e.size, e.count = uint8(copy(e.text[:], piece)), uint8(count)
	}
}

// CountCached is Count with a memory.
func (r *Ranks) CountCached(c *Cache, piece string) int {
	if len(piece) < 2 {
		return len(piece)
	}
	if r.Find(piece) != None {
		return 1
	}
	n, ok := c.Find(piece)
	if !ok {
		n = r.countMerged(piece)
		c.Store(piece, n)
	}
	return n
}
