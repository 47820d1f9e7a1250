// Package picture reads how large a picture is from the first bytes of its file.
package picture

import (
	"bytes"
	"encoding/binary"
)

// Head is how many bytes are enough for [Size] in nearly all files: those of JPEG may
// have a preview, a profile of colours and more in front.
const Head = 128 << 10

// Size reads width and height, in pixels, from the beginning of a file in PNG, JPEG,
// WebP or GIF. ok is false for another form, and where too little of it is there.
func Size(head []byte) (width, height int, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return png(head)
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		return jpeg(head[2:])
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webp(head[12:])
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return gif(head)
	}
	return 0, 0, false
}

// png: its first chunk has them. Source: PNG specification, 11.2.2.
func png(b []byte) (int, int, bool) {
	if len(b) < 24 || string(b[12:16]) != "IHDR" {
		return 0, 0, false
	}
	return sides(binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:]))
}

// gif: little-endian behind the signature. Source: GIF89a specification, 18.
func gif(b []byte) (int, int, bool) {
	if len(b) < 10 {
		return 0, 0, false
	}
	return sides(uint32(binary.LittleEndian.Uint16(b[6:])), uint32(binary.LittleEndian.Uint16(b[8:])))
}

// jpeg goes from marker to marker to the one that starts a frame. Source: ITU-T T.81,
// B.1.1 and B.2.2.
func jpeg(b []byte) (int, int, bool) {
	for len(b) >= 4 && b[0] == 0xff {
		switch kind := b[1]; {
		case kind == 0xff: // a fill byte
			b = b[1:]
			continue
		case 0xd0 <= kind && kind <= 0xd9, kind == 0x01: // markers without a segment
			b = b[2:]
			continue
		case 0xc0 <= kind && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc:
			if len(b) < 9 {
				return 0, 0, false
			}
			return sides(uint32(binary.BigEndian.Uint16(b[7:])), uint32(binary.BigEndian.Uint16(b[5:])))
		}
		n := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if n < 4 || n > len(b) {
			break
		}
		b = b[n:]
	}
	return 0, 0, false
}

// webp has three kinds of first chunk. Source: RFC 9649, 2.5 to 2.7; RFC 6386, 9.1.
func webp(b []byte) (int, int, bool) {
	if len(b) < 18 {
		return 0, 0, false
	}
	kind, b := string(b[:4]), b[8:]
	switch {
	case kind == "VP8 " && string(b[3:6]) == "\x9d\x01\x2a":
		return sides(uint32(binary.LittleEndian.Uint16(b[6:]))&0x3fff, uint32(binary.LittleEndian.Uint16(b[8:]))&0x3fff)
	case kind == "VP8L" && b[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(b[1:])
		return sides(bits&0x3fff+1, bits>>14&0x3fff+1)
	case kind == "VP8X":
		three := func(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
		return sides(three(b[4:])+1, three(b[7:])+1)
	}
	return 0, 0, false
}

func sides(width, height uint32) (int, int, bool) {
	if width == 0 || height == 0 || width > 1<<30 || height > 1<<30 {
		return 0, 0, false
	}
	return int(width), int(height), true
}
