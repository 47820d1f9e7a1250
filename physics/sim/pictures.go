package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"strconv"
	"strings"
)

// This file is what makes pictures: a token of the model is a square of one, so when
// each is finished is known.

// PatchSide is the side of such a square in pixels: 64, and half and a quarter of it
// for quality medium and high.
const PatchSide = 64

const (
	mostPictures = 10
	mostSide     = 4096
	mostPartial  = 3
)

// drawing is what a request for pictures asks for.
type drawing struct {
	n, width, height int
	partial          int // pictures on the way to each
	edits            bool
}

// pictures is POST /v1/images/generations, and /v1/images/edits in JSON.
var pictures = dialect{
	ends: []string{"/images/generations", "/images/edits"}, oneText: true, kind: eventStream, frame: dataFrame,
	read: readPictures,
	piece: func(r *reply, b []byte, _ bool, from, to int, _ bool) []byte {
		of := r.drawing.partial + 1
		steps := r.drawing.n * of
		for k := range steps {
			// The tokens in equal parts: a step is shown with its last.
			if at := (r.outputTokens*(k+1) + steps - 1) / steps; at <= from || at > to {
				continue
			}
			b = appendFramed(b, dataFrame, r.appendPicture(nil, k%of, k == steps-1))
		}
		return b
	},
	end: nothingMore,
	whole: func(r *reply, b []byte) []byte {
		b = append(b, `{"created":1700000000,"data":[`...)
		for i := range r.drawing.n {
			if r.toldTokens() > 0 {
				b = append(appendBase64(append(commaBut(b, i), `{"b64_json":"`...), pngOf(r.drawing.width, r.drawing.height)), `"}`...)
			}
		}
		return append(r.appendDrawn(append(b, ']')), '}')
	},
}

// patchesOf counts the tokens of the pictures that a chat's message has to look at:
// their squares, by the sizes in their files' heads. Only PNG is read.
func patchesOf(content json.RawMessage) (n int) {
	var parts []struct {
		Image struct{ URL string } `json:"image_url"`
	}
	if !bytes.Contains(content, []byte("image_url")) || json.Unmarshal(content, &parts) != nil {
		return 0
	}
	for _, p := range parts {
		_, data, _ := strings.Cut(p.Image.URL, ";base64,")
		head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 32)])
		if len(head) == 24 && string(head[12:16]) == "IHDR" {
			w, h := binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:])
			n += int(min((w+PatchSide-1)/PatchSide, mostSide)) * int(min((h+PatchSide-1)/PatchSide, mostSide))
		}
	}
	return n
}

func readPictures(path string, body []byte) (j askJSON, err error) {
	var g struct {
		Model, Prompt, Size, Quality string
		N                            *int
		Stream                       bool
		Partial                      int `json:"partial_images"`
	}
	if err = json.Unmarshal(body, &g); err != nil {
		return j, err
	}
	d := drawing{n: 1, width: 1024, height: 1024, partial: g.Partial, edits: strings.HasSuffix(path, "edits")}
	if g.N != nil {
		d.n = *g.N
	}
	w, h, sized := strings.Cut(g.Size, "x")
	if sized {
		d.width, _ = strconv.Atoi(w)
		d.height, _ = strconv.Atoi(h)
	}
	side, known := map[string]int{"": PatchSide, "auto": PatchSide, "low": PatchSide, "medium": PatchSide / 2, "high": PatchSide / 4}[g.Quality]
	switch {
	case g.Prompt == "":
		return j, errors.New("prompt is empty: say what to draw")
	case d.n < 1 || d.n > mostPictures:
		return j, fmt.Errorf("n is %d: give 1 to %d", d.n, mostPictures)
	case g.Size != "" && g.Size != "auto" && !sized || min(d.width, d.height) < 1 || max(d.width, d.height) > mostSide:
		return j, fmt.Errorf("size is %q: give auto, or a width and height up to %d like 1024x1024", g.Size, mostSide)
	case d.partial < 0 || d.partial > mostPartial:
		return j, fmt.Errorf("partial_images is %d: give 0 to %d", d.partial, mostPartial)
	case !known:
		return j, fmt.Errorf("quality is %q: give auto, low, medium or high", g.Quality)
	}
	tokens := d.n * ((d.width + side - 1) / side) * ((d.height + side - 1) / side)
	prompt, _ := json.Marshal(g.Prompt)
	j.Model, j.Stream, j.MaxTokens, j.drawing = g.Model, g.Stream, &tokens, d
	j.Messages = []askMessage{{prompt}}
	return j, nil
}

// appendPicture adds an event: a picture on the way, or a finished one.
func (r *reply) appendPicture(b []byte, step int, last bool) []byte {
	d, name := &r.drawing, "image_generation"
	if d.edits {
		name = "image_edit"
	}
	if step < d.partial {
		b = fmt.Appendf(b, `{"type":"%s.partial_image","partial_image_index":%d`, name, step)
	} else {
		b = fmt.Appendf(b, `{"type":"%s.completed"`, name)
	}
	b = fmt.Appendf(b, `,"size":"%dx%d","output_format":"png","b64_json":"`, d.width, d.height)
	b = append(appendBase64(b, pngOf(d.width, d.height)), '"')
	if last {
		b = r.appendDrawn(b)
	}
	return append(b, '}')
}

// appendDrawn adds the usage.
func (r *reply) appendDrawn(b []byte) []byte {
	if r.s.cfg.Usage == UsageNone {
		return b
	}
	return fmt.Appendf(b, `,"usage":{"input_tokens":%d,"input_tokens_details":{"text_tokens":%[1]d,"image_tokens":0},"output_tokens":%d,"total_tokens":%d}`,
		r.promptTokens, r.yielded, r.promptTokens+r.yielded)
}

func appendBase64(b, data []byte) []byte { return base64.StdEncoding.AppendEncode(b, data) }

// pngOf is a white picture of an eighth of a byte a pixel. Each row is a stored block
// (RFC 1951, section 3.2.4): still far smaller than what a real server draws, and the
// lean build can do without a packer, which weighs 70 kB.
func pngOf(width, height int) []byte {
	row := append([]byte{0}, bytes.Repeat([]byte{0xff}, (width+7)/8)...)
	size := uint16(len(row))
	packed, sum := []byte{0x78, 1}, adler32.New() // zlib's head: RFC 1950, section 2.2
	for i := range height {
		var last byte
		if i == height-1 {
			last = 1
		}
		packed = binary.LittleEndian.AppendUint16(append(packed, last), size)
		packed = append(binary.LittleEndian.AppendUint16(packed, ^size), row...)
		_, _ = sum.Write(row)
	}
	packed = sum.Sum(packed)
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), 1, 0, 0, 0, 0) // 1 bit of grey
	b := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []struct {
		kind string
		data []byte
	}{{"IHDR", head}, {"IDAT", packed}, {"IEND", nil}} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(chunk.data)))
		from := len(b)
		b = append(append(b, chunk.kind...), chunk.data...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	return b
}
