package framing

import (
	"encoding/binary"
	"hash"
	"hash/adler32"
	"io"
)

// deflateDecoder undoes the coding called deflate: zlib data by the standard
// (RFC 1950), bare DEFLATE data from the many servers that misread it.
type deflateDecoder struct {
	z     *inflater
	state deflateState
	head  []byte
	sum   hash.Hash32
	tail  [4]byte
	got   int
	any   bool
}

type deflateState uint8

const (
	dfHead deflateState = iota
	dfZlib
	dfBare
	dfTrailer
	dfDone
)

func newDeflate() *deflateDecoder {
	return &deflateDecoder{z: newInflater(), sum: adler32.New()}
}

func (d *deflateDecoder) Feed(p []byte, emit func([]byte) error) error {
	d.any = d.any || len(p) > 0
	if d.state == dfHead {
		if len(d.head)+len(p) < 2 {
			d.head = append(d.head, p...)
			return nil
		}
		p = append(d.head, p...)
		d.state = dfBare
		if p[0]&15 == 8 && p[0]>>4 <= 7 && binary.BigEndian.Uint16(p)%31 == 0 && p[1]&0x20 == 0 {
			d.state = dfZlib
			p = p[2:]
		}
	}
	d.z.in = p
	if d.state < dfTrailer {
		if err := d.z.run(func(out []byte) error {
			d.sum.Write(out)
			return emit(out)
		}); err != nil {
			return err
		}
		if d.z.state != inflated {
			return nil
		}
		if d.state == dfBare {
			d.state = dfDone
			return nil
		}
		d.state = dfTrailer
	}
	return d.trailer()
}

func (d *deflateDecoder) trailer() error {
	for d.state == dfTrailer {
		b, ok := d.z.readByte()
		if !ok {
			return nil
		}
		d.tail[d.got] = b
		if d.got++; d.got == len(d.tail) {
			d.state = dfDone
			if binary.BigEndian.Uint32(d.tail[:]) != d.sum.Sum32() {
				return errDeflate
			}
		}
	}
	return nil
}

func (d *deflateDecoder) Close() error {
	if d.z == nil {
		return nil
	}
	inflaters.Put(d.z)
	d.z = nil
	if d.any && d.state != dfDone {
		return io.ErrUnexpectedEOF
	}
	return nil
}
