package workload

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"

	"tokenmeter/base/random"
	"tokenmeter/wire/api"
)

// images makes pictures, or videos of them. They are noise, so that no server has seen them, and
// are written here byte by byte: the standard encoder may compress otherwise in
// another version of Go, and the same seed and salt are to give the same bytes.
type images struct {
	count         Lengths // zero: 1
	width, height int
	seconds       int      // how long a video plays; 0: pictures
	files         []string // the user's own; nil: they are made
}

// into puts the pictures of item i into the first message of the user.
func (m *images) into(s *Step, salt, seed uint64, i int64) error {
	key := uint64(imageKey)
	if m.seconds > 0 {
		key = videoKey
	}
	src := random.New(seed, key, uint64(i))
	pictures := make([]api.Image, drawOr1(m.count, &src))
	noise := random.New(salt, key, uint64(i))
	for k := range pictures {
		if m.files != nil {
			picture, err := ownPicture(m.files[src.Uint64()%uint64(len(m.files))])
			if err != nil {
				return err
			}
			pictures[k] = picture
			continue
		}
		pictures[k] = api.Image{MIME: "image/png", Data: png(m.width, m.height, &noise)}
		if m.seconds > 0 {
			pictures[k] = api.Image{MIME: "video/avi", Data: avi(m.width, m.height, m.seconds, pictures[k].Data, &noise)}
		}
	}
	messages := append([]api.Message{}, s.Messages...)
	for k := range messages {
		if messages[k].Role == "user" {
			had := messages[k].Images
			messages[k].Images = append(had[:len(had):len(had)], pictures...)
			break
		}
	}
	s.Messages = messages
	return nil
}

// patch is the side of the squares of one colour, in pixels.
const patch = 8

// png writes a picture of random squares: 16 colours, 4 bits a pixel, stored
// without compression.
func png(width, height int, src *random.Source) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	head := make([]byte, 13)
	binary.BigEndian.PutUint32(head, uint32(width))
	binary.BigEndian.PutUint32(head[4:], uint32(height))
	head[8], head[9] = 4, 3 // bits a pixel; by palette
	out = pngChunk(out, "IHDR", head)
	palette := make([]byte, 48)
	for i := range palette {
		palette[i] = byte(src.Uint64() >> 56)
	}
	out = pngChunk(out, "PLTE", palette)

	raw := make([]byte, 0, pngPixels(width, height))
	var line []byte
	for y := range height {
		if y%patch == 0 {
			line = pngLine(width, src)
		}
		raw = append(append(raw, 0), line...)
	}
	out = pngChunk(out, "IDAT", stored(raw))
	return pngChunk(out, "IEND", nil)
}

// pngPixels is how many bytes the pixels of a made picture take, which are all but 1 kB
// of a large one: in each row a filter byte, and two pixels a byte.
func pngPixels(width, height int) int { return (1 + (width+1)/2) * height }

func pngLine(width int, src *random.Source) []byte {
	line := make([]byte, (width+1)/2)
	var bits uint64
	for x := range width {
		if x%(patch*16) == 0 {
			bits = src.Uint64()
		}
		if x > 0 && x%patch == 0 {
			bits >>= 4
		}
		line[x/2] |= byte(bits&15) << (4 * uint(1-x%2))
	}
	return line
}

func pngChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	from := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}

// stored is data in the form of zlib, in blocks that are not compressed.
func stored(data []byte) []byte {
	out := []byte{0x78, 0x01}
	sum := adler32.Checksum(data)
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), 65535)
		last := byte(0)
		if n == len(data) {
			last = 1
		}
		out = append(out, last, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		out, data = append(out, data[:n]...), data[n:]
	}
	return binary.BigEndian.AppendUint32(out, sum)
}
