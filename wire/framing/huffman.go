package framing

import "math/bits"

// huffman decodes the codes of one alphabet: short codes by a table, the rare
// longer ones by counting, as RFC 1951 describes canonical codes.
type huffman struct {
	table  [1 << tableBits]uint16 // symbol<<4 | length, by the next bits; 0: not a short code
	count  [maxCode + 1]uint16    // codes of each length
	sorted [288]uint16            // symbols in the order of their codes
	empty  bool
}

const (
	tableBits = 9
	maxCode   = 15
)

// build prepares the code with these lengths. It refuses sets of lengths that
// make no prefix code: over-full ones, and incomplete ones with more than one code.
func (h *huffman) build(lens []uint8) bool {
	h.count, h.table = [maxCode + 1]uint16{}, [1 << tableBits]uint16{}
	used := 0
	for _, l := range lens {
		h.count[l]++
		if l > 0 {
			used++
		}
	}
	h.count[0] = 0
	h.empty = used == 0
	left := 1
	var offset, code [maxCode + 2]uint16
	for l := 1; l <= maxCode; l++ {
		left = left<<1 - int(h.count[l])
		if left < 0 {
			return false
		}
		offset[l+1] = offset[l] + h.count[l]
		code[l+1] = (code[l] + h.count[l]) << 1
	}
	if left > 0 && !h.empty && !(used == 1 && h.count[1] == 1) {
		return false
	}
	for sym, l := range lens {
		if l == 0 {
			continue
		}
		h.sorted[offset[l]] = uint16(sym)
		offset[l]++
		if l <= tableBits {
			h.fill(code[l], uint(l), uint16(sym)<<4|uint16(l))
		}
		code[l]++
	}
	return true
}

// fill enters a short code at every index that starts with it. Codes arrive
// with their first bit lowest.
func (h *huffman) fill(code uint16, length uint, entry uint16) {
	first := int(bits.Reverse16(code) >> (16 - length))
	for i := first; i < len(h.table); i += 1 << length {
		h.table[i] = entry
	}
}

// decode reads the symbol at the low end of a bit buffer that holds n bits. It
// returns the bits that the code takes: 0 when more input is needed, less than
// 0 when no code fits.
func (h *huffman) decode(buf uint64, n uint) (sym, used int) {
	if e := h.table[buf&(1<<tableBits-1)]; e != 0 {
		if l := uint(e & 15); l <= n {
			return int(e >> 4), int(l)
		}
		return 0, 0
	}
	if h.empty {
		return 0, -1
	}
	code, first, index := 0, 0, 0
	for l := 1; l <= maxCode; l++ {
		if uint(l) > n {
			return 0, 0
		}
		code |= int(buf & 1)
		buf >>= 1
		count := int(h.count[l])
		if code-count < first {
			return int(h.sorted[index+code-first]), l
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0, -1
}

var fixedLit, fixedDist = fixedCodes()

func fixedCodes() (lit, dist huffman) {
	var lens [288]uint8
	for i := range lens {
		switch {
		case i < 144:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		case i < 280:
			lens[i] = 7
		default:
			lens[i] = 8
		}
	}
	lit.build(lens[:])
	var five [32]uint8
	for i := range five {
		five[i] = 5
	}
	dist.build(five[:])
	return lit, dist
}
