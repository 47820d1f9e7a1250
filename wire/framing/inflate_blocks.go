package framing

// This file has the steps of inflater.

func (z *inflater) blockHeader() (bool, error) {
	if z.final {
		z.align()
		z.state = inflated
		return true, nil
	}
	if z.n < 3 {
		return false, nil
	}
	z.final = z.take(1) == 1
	switch z.take(2) {
	case 0:
		z.align()
		z.state = storedHeader
	case 1:
		z.lit, z.dist = fixedLit, fixedDist
		z.state = symbols
	case 2:
		z.state = dynamicHeader
	default:
		return false, errDeflate
	}
	return true, nil
}

func (z *inflater) storedHeader() (bool, error) {
	if z.n < 32 {
		return false, nil
	}
	n, check := z.take(16), z.take(16)
	if n != check^0xffff {
		return false, errDeflate
	}
	z.stored = int(n)
	z.state = storedData
	return true, nil
}

func (z *inflater) storedData() bool {
	for z.stored > 0 && z.n >= 8 && z.pos < full {
		z.win[z.pos] = byte(z.take(8))
		z.pos++
		z.stored--
	}
	if z.n < 8 && z.stored > 0 {
		n := copy(z.win[z.pos:full], z.in[:min(z.stored, len(z.in))])
		z.in = z.in[n:]
		z.pos += n
		z.stored -= n
	}
	if z.stored == 0 {
		z.state = blockHeader
		return true
	}
	return z.pos >= full
}

func (z *inflater) dynamicHeader() (bool, error) {
	if z.n < 14 {
		return false, nil
	}
	z.nlit = int(z.take(5)) + 257
	z.ndist = int(z.take(5)) + 1
	z.nln = int(z.take(4)) + 4
	if z.nlit > 286 || z.ndist > 30 {
		return false, errDeflate
	}
	clear(z.lensBuf[:])
	z.lens = z.lensBuf[:0]
	z.state = dynamicLengths
	return true, nil
}

var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

func (z *inflater) dynamicLengths() (bool, error) {
	for len(z.lens) < z.nln {
		if z.refill(); z.n < 3 {
			return false, nil
		}
		z.lens = append(z.lens, uint8(z.take(3)))
	}
	var lens [19]uint8
	for i, l := range z.lens {
		lens[lengthOrder[i]] = l
	}
	if !z.lit.build(lens[:]) {
		return false, errDeflate
	}
	z.lens = z.lensBuf[:0]
	z.state = dynamicCodes
	return true, nil
}

func (z *inflater) dynamicCodes() (bool, error) {
	for len(z.lens) < z.nlit+z.ndist {
		z.refill()
		sym, used := z.lit.decode(z.bits, z.n)
		if used <= 0 {
			return false, dry(used)
		}
		value, count, extra := uint8(sym), 1, uint(0)
		switch {
		case sym == 16:
			if len(z.lens) == 0 {
				return false, errDeflate
			}
			value, count, extra = z.lens[len(z.lens)-1], 3, 2
		case sym == 17:
			value, count, extra = 0, 3, 3
		case sym == 18:
			value, count, extra = 0, 11, 7
		}
		if z.n < uint(used)+extra {
			return false, nil
		}
		z.take(uint(used))
		count += int(z.take(extra))
		if len(z.lens)+count > z.nlit+z.ndist {
			return false, errDeflate
		}
		for range count {
			z.lens = append(z.lens, value)
		}
	}
	if !z.lit.build(z.lens[:z.nlit]) || !z.dist.build(z.lens[z.nlit:]) {
		return false, errDeflate
	}
	z.state = symbols
	return true, nil
}

// dry turns a decode that gave nothing into an error, unless bits are missing.
func dry(used int) error {
	if used < 0 {
		return errDeflate
	}
	return nil
}

// Lengths and distances: base value and extra bits by symbol.
var (
	lenBase  = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lenExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	dstBase  = [30]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	dstExtra = [30]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
)

// symbols decodes literals and matches until the block ends, the input is used
// up or the buffer is full.
func (z *inflater) symbols() (bool, error) {
	for {
		z.refill()
		sym, used := z.lit.decode(z.bits, z.n)
		if used <= 0 {
			return false, dry(used)
		}
		switch {
		case sym < 256:
			z.take(uint(used))
			z.win[z.pos] = byte(sym)
			z.pos++
		case sym == 256:
			z.take(uint(used))
			z.state = blockHeader
			return true, nil
		default:
			ok, err := z.match(sym-257, uint(used))
			if !ok || err != nil {
				return false, err
			}
		}
		if z.pos >= full {
			return true, nil
		}
	}
}

// match copies an earlier piece of the output. The symbol took used bits.
// At most 48 bits are needed in all, so a full bit buffer always suffices.
func (z *inflater) match(sym int, used uint) (bool, error) {
	if sym >= len(lenBase) {
		return false, errDeflate
	}
	extra := uint(lenExtra[sym])
	if z.n < used+extra {
		return false, nil
	}
	length := int(lenBase[sym]) + int(z.bits>>used&(1<<extra-1))
	used += extra
	dsym, dused := z.dist.decode(z.bits>>used, z.n-used)
	if dused <= 0 {
		return false, dry(dused)
	}
	if dsym >= len(dstBase) {
		return false, errDeflate
	}
	used += uint(dused)
	extra = uint(dstExtra[dsym])
	if z.n < used+extra {
		return false, nil
	}
	distance := int(dstBase[dsym]) + int(z.bits>>used&(1<<extra-1))
	if distance > z.pos {
		return false, errDeflate
	}
	z.take(used + extra)
	z.copy(length, distance)
	return true, nil
}

func (z *inflater) copy(length, distance int) {
	for range length {
		z.win[z.pos] = z.win[z.pos-distance]
		z.pos++
	}
}
