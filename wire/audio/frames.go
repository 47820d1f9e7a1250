package audio

import (
	"bytes"
	"encoding/binary"
)

// Tables of MPEG audio. Source: ISO/IEC 11172-3 and 13818-3, 2.4.2.3.
var (
	kbits = [2][3][15]int64{ // by MPEG 1 or later, and by layer; at the index 0: not told
		{
			{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
			{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
			{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		},
		{
			{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
			{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
			{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		},
	}
	hertz = [3]int64{44_100, 48_000, 32_000} // of MPEG 1; a half in 2, a quarter in 2.5
)

// mpegFrame is what the head of a frame says.
type mpegFrame struct {
	length, rate, hz, samples int64
	side                      int // bytes of side information, behind which an encoder's tag is
}

// readFrame reads the head of a frame; false: it is none.
func readFrame(h []byte) (f mpegFrame, ok bool) {
	version, layer := h[1]>>3&3, 3-int(h[1]>>1&3) // version 3 is MPEG 1, 2 is 2, 0 is 2.5
	bitrate, freq, padding := h[2]>>4, h[2]>>2&3, int64(h[2]>>1&1)
	if h[0] != 0xff || h[1]&0xe0 != 0xe0 || version == 1 || layer == 3 || bitrate == 0 || bitrate == 15 || freq == 3 {
		return f, false
	}
	later, mono := 0, h[3]>>6 == 3
	f.hz = hertz[freq]
	switch version {
	case 2:
		later, f.hz = 1, f.hz/2
	case 0:
		later, f.hz = 1, f.hz/4
	}
	bits := kbits[later][layer][bitrate] * 1000
	f.rate = bits / 8
	switch {
	case layer == 0:
		f.samples = 384
		f.length = (12*bits/f.hz + padding) * 4
	case layer == 2 && later == 1:
		f.samples = 576
		f.length = 72*bits/f.hz + padding
	default:
		f.samples = 1152
		f.length = 144*bits/f.hz + padding
	}
	f.side = 32
	switch {
	case later == 0 && mono, later == 1 && !mono:
		f.side = 17
	case later == 1:
		f.side = 9
	}
	return f, f.length > 4
}

func isFrame(h []byte) bool {
	_, ok := readFrame(h)
	return ok
}

// mostLost is how many bytes may be no frame before a file is taken for none of ours.
const mostLost = 64 << 10

// frame reads the head of a frame, or of a tag.
func frame(m *Meter, h []byte) int {
	if string(h[:3]) == "ID3" { // its length has seven bits a byte
		if len(h) < 10 {
			return 10
		}
		m.skip = int64(h[6]&127)<<21 | int64(h[7]&127)<<14 | int64(h[8]&127)<<7 | int64(h[9]&127)
		return m.then(10, frame, 4)
	}
	if string(h[:3]) == "TAG" { // the last 128 bytes
		m.skip = 124
		return m.then(4, frame, 4)
	}
	f, ok := readFrame(h)
	if !ok {
		if m.lost++; m.lost > mostLost {
			return m.unknown()
		}
		return m.then(1, frame, 4)
	}
	if tag := 4 + f.side + 4; !m.tagged && f.length > int64(tag) {
		if len(h) < tag {
			return tag
		}
		m.tagged = true
		if name := h[tag-4 : tag]; bytes.Equal(name, []byte("Xing")) || bytes.Equal(name, []byte("Info")) { // nothing to be played
			m.skip = f.length - int64(tag)
			return m.then(tag, frame, 4)
		}
	}
	m.varies = m.varies || m.rate > 0 && m.rate != f.rate || m.hz > 0 && m.hz != f.hz
	m.rate, m.hz, m.tagged = f.rate, f.hz, true
	used := len(h)
	m.sound += int64(used)
	m.body, m.pending = f.length-int64(used), f.samples
	if m.body <= 0 {
		m.body, m.samples, m.pending = 0, m.samples+m.pending, 0
	}
	return m.then(used, frame, 4)
}

// page reads the head of a page of Ogg, which counts the samples up to its end.
// Source: RFC 3533, and RFC 7845 for Opus.
func page(m *Meter, h []byte) int {
	if string(h[:4]) != "OggS" {
		return m.unknown()
	}
	segments := int(h[26])
	whole := 27 + segments
	if len(h) < whole {
		return whole
	}
	var size int
	for _, n := range h[27:whole] {
		size += int(n)
	}
	if first := h[5]&2 != 0; first { // of a stream, with how it is coded
		const opusHead = 19
		if size < opusHead {
			return m.unknown()
		}
		if len(h) < whole+opusHead {
			return whole + opusHead
		}
		if string(h[whole:whole+8]) != "OpusHead" {
			return m.unknown()
		}
		m.samples += max(m.granule-m.preskip, 0) // of a stream before
		m.granule, m.preskip = 0, int64(binary.LittleEndian.Uint16(h[whole+10:]))
		m.skip = int64(size - opusHead)
		m.varies = true
		return m.then(whole+opusHead, page, 27)
	}
	granule := int64(binary.LittleEndian.Uint64(h[6:]))
	switch granule {
	case 0: // comments
		m.skip = int64(size)
	default:
		if granule > 0 && granule < 1<<50 { // −1: no packet ends in it
			m.granule = granule
		}
		m.body = int64(size)
	}
	return m.then(whole, page, 27)
}
