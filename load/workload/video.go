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
	n, most := uint32(seconds), uint32(len(first))
	w, h := uint32(width), uint32(height)

	out := make([]byte, 0, 512+seconds*(len(first)+32)) // written once: a video has many megabytes
	out, file := begin(out, "RIFF")
	out, head := begin(append(out, "AVI "...), "LIST")
	out, main := begin(append(out, "hdrl"...), "avih")
	for _, v := range []uint32{1e6, most, 0, 0x10, n, 0, 1, most, w, h, 0, 0, 0, 0} { // µs a frame; it has an index
		out = u32(out, v)
	}
	out, list := begin(end(out, main), "LIST")
	out, stream := begin(append(out, "strl"...), "strh")
	out = append(out, "vidsMPNG"...)
	for _, v := range []uint32{0, 0, 0, 1, 1, 0, n, most, 0xffffffff, 0, 0, w | h<<16} { // one a second
		out = u32(out, v)
	}
	out, format := begin(end(out, stream), "strf")
	for _, v := range []uint32{40, w, h, 1 | 24<<16, 0x474e504d, w * h * 3, 0, 0, 0, 0} { // MPNG
		out = u32(out, v)
	}
	out = end(end(end(out, format), list), head)

	out, pictures := begin(out, "LIST")
	movi := len(out)
	out = append(out, "movi"...)
	var index []byte
	for i := range seconds {
		frame := first
		if i > 0 {
			frame = png(width, height, src)
		}
		index = append(index, "00dc\x10\x00\x00\x00"...) // a key frame
		index = u32(u32(index, uint32(len(out)-movi)), uint32(len(frame)))
		var at int
		out, at = begin(out, "00dc")
		out = end(append(out, frame...), at)
	}
	out, at := begin(end(out, pictures), "idx1")
	return end(end(append(out, index...), at), file)
}

// begin opens a chunk, which end closes: its size is known then.
func begin(out []byte, kind string) (opened []byte, at int) {
	out = append(append(out, kind...), 0, 0, 0, 0)
	return out, len(out)
}

// end writes the size of the chunk whose data begins at at. The next one begins at an
// even place.
func end(out []byte, at int) []byte {
	n := len(out) - at
	binary.LittleEndian.PutUint32(out[at-4:], uint32(n))
	if n%2 == 1 {
		out = append(out, 0)
	}
	return out
}
