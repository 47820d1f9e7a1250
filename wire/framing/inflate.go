package framing

import "errors"

// inflater decodes DEFLATE (RFC 1951). It exists because the usual decoders
// pull: they wait for input in the middle of a block with decoded bytes in
// hand. This one is pushed: it stops where the input stops, gives out all that
// is decoded, and goes on from there, without a goroutine.
//
// Every step first looks whether the bits it needs are there and consumes them
// only then, so running dry needs no rollback.
type inflater struct {
	in   []byte // input not yet in the bit buffer
	bits uint64
	n    uint // bits in the buffer

	state  inflateState
	final  bool
	stored int // bytes left of a stored block

	lit, dist        huffman
	nlit, ndist, nln int // of a dynamic block's header
	lens             []uint8
	lensBuf          [286 + 30]uint8

	win     [full + maxMatch]byte // the last 32 KiB and what is decoded now
	pos     int                   // end of the decoded bytes in win
	emitted int                   // up to here they were given out
}

const (
	window   = 32 << 10   // the farthest a match can reach back
	full     = 2 * window // from here on win must be moved down first
	maxMatch = 258
)

type inflateState uint8

const (
	blockHeader inflateState = iota
	storedHeader
	storedData
	dynamicHeader
	dynamicLengths // code lengths of the code-length code
	dynamicCodes   // code lengths of the two codes, in that code
	symbols
	inflated
)

var errDeflate = errors.New("the deflate data is damaged")

func (z *inflater) reset() {
	z.in, z.bits, z.n = nil, 0, 0
	z.restart()
}

// restart begins another member; input and bit buffer stay.
func (z *inflater) restart() {
	z.state, z.final = blockHeader, false
	z.pos, z.emitted = 0, 0
}

// refill moves whole bytes into the bit buffer.
func (z *inflater) refill() {
	for z.n <= 56 && len(z.in) > 0 {
		z.bits |= uint64(z.in[0]) << z.n
		z.in = z.in[1:]
		z.n += 8
	}
}

func (z *inflater) take(n uint) uint64 {
	v := z.bits & (1<<n - 1)
	z.bits >>= n
	z.n -= n
	return v
}

// align drops the bits up to the next byte of input.
func (z *inflater) align() { z.take(z.n & 7) }

// readByte takes one byte where the data is aligned.
func (z *inflater) readByte() (byte, bool) {
	z.refill()
	if z.n < 8 {
		return 0, false
	}
	return byte(z.take(8)), true
}

// run decodes until the input is used up or the stream has ended, and emits
// what it decoded.
func (z *inflater) run(emit func([]byte) error) error {
	for z.state != inflated {
		more, err := z.step()
		if err != nil {
			return errors.Join(z.flush(emit), err)
		}
		if !more {
			break
		}
		if z.pos >= full {
			if err := z.flush(emit); err != nil {
				return err
			}
		}
	}
	return z.flush(emit)
}

// flush gives out the decoded bytes and makes room when the buffer is full.
func (z *inflater) flush(emit func([]byte) error) error {
	out := z.win[z.emitted:z.pos]
	z.emitted = z.pos
	if len(out) > 0 {
		if err := emit(out); err != nil {
			return err
		}
	}
	if z.pos >= full {
		copy(z.win[:window], z.win[z.pos-window:z.pos])
		z.pos, z.emitted = window, window
	}
	return nil
}

// step does the next piece of work. It returns false when it needs more input.
func (z *inflater) step() (bool, error) {
	z.refill()
	switch z.state {
	case blockHeader:
		return z.blockHeader()
	case storedHeader:
		return z.storedHeader()
	case storedData:
		return z.storedData(), nil
	case dynamicHeader:
		return z.dynamicHeader()
	case dynamicLengths:
		return z.dynamicLengths()
	case dynamicCodes:
		return z.dynamicCodes()
	default:
		return z.symbols()
	}
}
