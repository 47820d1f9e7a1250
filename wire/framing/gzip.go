package framing

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

// inflaters are 70 KiB each and kept for the next compressed reply.
var inflaters = sync.Pool{New: func() any { return new(inflater) }}

func newInflater() *inflater {
	z := inflaters.Get().(*inflater)
	z.reset()
	return z
}

var errGzip = errors.New("the gzip data is damaged")

// gzipDecoder undoes gzip (RFC 1952), members one after another included.
type gzipDecoder struct {
	z     *inflater
	state gzipState
	flags byte
	need  int     // bytes left of the current fixed part
	buf   [8]byte // a fixed part, or its end
	got   int
	any   bool // a byte has come
	crc   uint32
	size  uint32
}

type gzipState uint8

const (
	gzHead gzipState = iota
	gzExtraLen
	gzExtra
	gzName
	gzComment
	gzHeadCRC
	gzBody
	gzTrailer
	gzIgnore // what follows the last member is none of ours
)

const (
	gzFlagCRC     = 2
	gzFlagExtra   = 4
	gzFlagName    = 8
	gzFlagComment = 16
)

func newGzip() *gzipDecoder { return &gzipDecoder{z: newInflater()} }

func (d *gzipDecoder) Feed(p []byte, emit func([]byte) error) error {
	d.any = d.any || len(p) > 0
	d.z.in = p
	for {
		switch d.state {
		case gzIgnore:
			return nil
		case gzBody:
			if err := d.z.run(func(out []byte) error {
				d.crc = crc32.Update(d.crc, crc32.IEEETable, out)
				d.size += uint32(len(out))
				return emit(out)
			}); err != nil {
				return err
			}
			if d.z.state != inflated {
				return nil
			}
			d.state, d.got = gzTrailer, 0
		default:
			b, ok := d.z.readByte()
			if !ok {
				return nil
			}
			if err := d.meta(b); err != nil {
				return err
			}
		}
	}
}

// meta takes one byte of a header or trailer.
func (d *gzipDecoder) meta(b byte) error {
	switch d.state {
	case gzHead:
		return d.head(b)
	case gzExtraLen:
		d.buf[d.got] = b
		if d.got++; d.got == 2 {
			d.need = int(binary.LittleEndian.Uint16(d.buf[:]))
			d.after(gzExtra)
		}
	case gzExtra:
		if d.need--; d.need == 0 {
			d.after(gzName)
		}
	case gzName, gzComment:
		if b == 0 {
			d.after(d.state + 1)
		}
	case gzHeadCRC:
		if d.got++; d.got == 2 {
			d.after(gzBody)
		}
	case gzTrailer:
		d.buf[d.got] = b
		if d.got++; d.got == 8 {
			if binary.LittleEndian.Uint32(d.buf[:]) != d.crc || binary.LittleEndian.Uint32(d.buf[4:]) != d.size {
				return errGzip
			}
			d.state, d.got = gzHead, 0
			d.crc, d.size = 0, 0
			d.z.restart()
			d.any = false
		}
	}
	return nil
}

// head takes one of the ten bytes of a member's header.
func (d *gzipDecoder) head(b byte) error {
	i := d.got
	d.got++
	switch {
	case i == 0 && b != 0x1f && d.flags&gzSeen != 0:
		d.state = gzIgnore // padding after the last member
		return nil
	case i == 0 && b != 0x1f, i == 1 && b != 0x8b, i == 2 && b != 8:
		return errGzip
	case i == 0:
		d.any = true
	case i == 3:
		d.flags = b&^gzSeen | gzSeen
	case i == 9:
		d.after(gzExtraLen)
	}
	return nil
}

// gzSeen marks, in a bit of the flags that is not used, that a member has begun.
const gzSeen = 0x80

// after goes to the next part of the header that the flags say is there.
func (d *gzipDecoder) after(state gzipState) {
	d.got = 0
	for {
		has := true
		switch state {
		case gzExtraLen:
			has = d.flags&gzFlagExtra != 0
			if !has {
				state = gzExtra
			}
		case gzExtra:
			has = d.flags&gzFlagExtra != 0 && d.need > 0
		case gzName:
			has = d.flags&gzFlagName != 0
		case gzComment:
			has = d.flags&gzFlagComment != 0
		case gzHeadCRC:
			has = d.flags&gzFlagCRC != 0
		}
		if has {
			d.state = state
			return
		}
		state++
	}
}

func (d *gzipDecoder) Close() error {
	if d.z == nil {
		return nil
	}
	inflaters.Put(d.z)
	d.z = nil
	if d.any && d.state != gzIgnore {
		return io.ErrUnexpectedEOF
	}
	return nil
}
