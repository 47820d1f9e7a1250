package bpe

import (
	"math/bits"
	"runtime"
)

// None is what a lookup returns for what is no token.
const None = ^uint32(0)

// inline is the longest token whose bytes lie in the hash table itself, so that
// a lookup touches one cache line. Nearly all tokens are this short.
const inline = 12

// table finds the id of a token by its bytes.
type table struct {
	slots   []slot // power of two, at most half full
	shift   uint8
	long    []uint64 // hash<<32 | id+1 of the tokens that are longer than inline
	shiftL  uint8
	longest int
	tokens  func(id uint32) string
}

// slot holds the bytes of a token, zeros after them, and its length<<28 | id+1.
type slot struct {
	lo  uint64
	hi  uint32
	tag uint32
}

const maxID = 1<<28 - 2

// newTable makes room for so many tokens; tokens gives the bytes of one that
// was added.
func newTable(short, long int, tokens func(id uint32) string) *table {
	t := &table{tokens: tokens}
	n := bits.Len(uint(max(short, 1)*2 - 1))
	t.slots, t.shift = make([]slot, 1<<n), uint8(64-n)
	n = bits.Len(uint(max(long, 1)*2 - 1))
	t.long, t.shiftL = make([]uint64, 1<<n), uint8(32-n)
	return t
}

// add enters a token; one that is there already stays.
func (t *table) add(s string, id uint32) {
	t.longest = max(t.longest, len(s))
	if len(s) > inline {
		h := hash(s)
		for i := h >> t.shiftL; ; i = (i + 1) & uint32(len(t.long)-1) {
			if t.long[i] == 0 {
				t.long[i] = uint64(h)<<32 | uint64(id+1)
				return
			}
			if uint32(t.long[i]>>32) == h && t.tokens(uint32(t.long[i])-1) == s {
				return
			}
		}
	}
	lo, hi := load(s)
	for i := mix(lo, hi, len(s)) >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		switch e := &t.slots[i]; {
		case e.tag == 0:
			*e = slot{lo, hi, uint32(len(s))<<28 | (id + 1)}
			return
		case e.lo == lo && e.hi == hi && e.tag>>28 == uint32(len(s)):
			return
		}
	}
}

// addAll enters all tokens, by id, but empty ones. It looks at the slots of some
// at once before it fills them: their memory then comes in together, which
// halves the time that a large vocabulary takes.
func (t *table) addAll(n int) {
	const some = 32
	var seen uint32
	for from := 0; from < n; from += some {
		to := min(from+some, n)
		for id := from; id < to; id++ {
			if s := t.tokens(uint32(id)); len(s) <= inline {
				lo, hi := load(s)
				seen |= t.slots[mix(lo, hi, len(s))>>t.shift].tag
			}
		}
		for id := from; id < to; id++ {
			if s := t.tokens(uint32(id)); s != "" {
				t.add(s, uint32(id))
			}
		}
	}
	runtime.KeepAlive(seen)
}

// find is the id of a token that is not empty, or None.
func (t *table) find(s string) uint32 {
	if len(s) > inline {
		return t.findLong(s)
	}
	lo, hi := load(s)
	want := uint32(len(s)) << 28
	for i := mix(lo, hi, len(s)) >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		e := &t.slots[i]
		if e.lo == lo && e.hi == hi && e.tag&(15<<28) == want && e.tag != 0 {
			return e.tag&(1<<28-1) - 1
		}
		if e.tag == 0 {
			return None
		}
	}
}

func (t *table) findLong(s string) uint32 {
	if len(s) > t.longest {
		return None
	}
	h := hash(s)
	for i := h >> t.shiftL; ; i = (i + 1) & uint32(len(t.long)-1) {
		e := t.long[i]
		if e == 0 {
			return None
		}
		if uint32(e>>32) == h && t.tokens(uint32(e)-1) == s {
			return uint32(e) - 1
		}
	}
}

// load reads up to twelve bytes, low byte first, zeros after them.
func load(s string) (lo uint64, hi uint32) {
	n := len(s)
	switch {
	case n >= 8:
		lo = le64(s)
		if n > 8 {
			// The last four bytes; those that lo has already are shifted out.
			hi = le32(s[n-4:]) >> (8 * uint(12-n))
		}
	case n >= 4:
		lo = uint64(le32(s)) | uint64(le32(s[n-4:]))<<(8*uint(n-4))
	case n == 3:
		lo = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16
	case n == 2:
		lo = uint64(s[0]) | uint64(s[1])<<8
	case n == 1:
		lo = uint64(s[0])
	}
	return lo, hi
}

func le32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func le64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

const (
	k1 = 0x9e3779b97f4a7c15
	k2 = 0xc2b2ae3d27d4eb4f
)

func mix(lo uint64, hi uint32, n int) uint64 {
	x := lo*k1 ^ (uint64(hi)|uint64(n)<<32)*k2
	return (x ^ x>>32) * k1
}

// hash of a token that is longer than inline.
func hash(s string) uint32 {
	x := uint64(len(s)) * k2
	for ; len(s) >= 8; s = s[8:] {
		x = (bits.RotateLeft64(x, 27) ^ le64(s)) * k1
	}
	if len(s) > 0 {
		lo, _ := load(s)
		x = (bits.RotateLeft64(x, 27) ^ lo) * k1
	}
	return uint32((x ^ x>>29) * k2 >> 32)
}
