package workload

import (
	"encoding/binary"

	"tokenmeter/base/random"
)

const (
	videoKey = 0x766964656f

	defaultVideoS = 8
	maxVideoS     = 600
)

// avi is a video of made pictures, one a second: PNG files within AVI, which ffmpeg reads,
// and so do servers that open videos with it. first is the first picture. Source: AVI RIFF
// File Reference (Microsoft), OpenDML AVI 1.02.
func avi(width, height, seconds int, first []byte, src *random.Source) []byte {
	u32 := binary.LittleEndian.AppendUint32
	n := uint32(seconds)
	var movi, index []byte
	for i := range seconds {
		frame := first
		if i > 0 {
			frame = png(width, height, src)
		}
		index = append(index, "00dc\x10\x00\x00\x00"...) // a key frame
		index = u32(u32(index, uint32(4+len(movi))), uint32(len(frame)))
		movi = riff(movi, "00dc", frame)
	}
	most := uint32(len(first))
	w, h := uint32(width), uint32(height)

	main := make([]byte, 0, 56)
	for _, v := range []uint32{1e6, most, 0, 0x10, n, 0, 1, most, w, h, 0, 0, 0, 0} { // µs a frame; it has an index
		main = u32(main, v)
	}
	stream := append(make([]byte, 0, 56), "vidsMPNG"...)
	for _, v := range []uint32{0, 0, 0, 1, 1, 0, n, most, 0xffffffff, 0, 0, w | h<<16} { // one a second
		stream = u32(stream, v)
	}
	format := make([]byte, 0, 40)
	for _, v := range []uint32{40, w, h, 1 | 24<<16, 0x474e504d, w * h * 3, 0, 0, 0, 0} { // MPNG
		format = u32(format, v)
	}
	list := riff(riff([]byte("strl"), "strh", stream), "strf", format)
	head := riff(riff([]byte("hdrl"), "avih", main), "LIST", list)
	out := riff([]byte("AVI "), "LIST", head)
	out = riff(out, "LIST", append([]byte("movi"), movi...))
	return riff(nil, "RIFF", riff(out, "idx1", index))
}

// riff adds a chunk. Each begins at an even place.
func riff(out []byte, kind string, data []byte) []byte {
	out = binary.LittleEndian.AppendUint32(append(out, kind...), uint32(len(data)))
	out = append(out, data...)
	if len(data)%2 == 1 {
		out = append(out, 0)
	}
	return out
}
