package api

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
	"tokenmeter/wire/picture"
)

// Images is POST /v1/images/generations: a text becomes pictures, as a whole or, with
// the parameter partial_images, in events that show so many on the way. A request that
// has pictures of its own has them edited, at /v1/images/edits. Parameters choose size,
// quality, format and how many (n). Source: OpenAI's API
// reference and Python library, images; vLLM, LocalAI and others speak it too.
var Images = &API{
	Name:    "images",
	Path:    "/v1/images/generations",
	Aliases: []string{"/images/edits", "/images/variations"},
	Build:   buildImages,
	Decoder: func() Decoder { return new(imageDecoder) },
	Ends:    ByFinish,
	Signs:   []Sign{{"type=image_generation.*"}, {"type=image_edit.*"}, {"data/b64_json"}, {"created", "data/url"}},
}

// maxPictures is the cap of a whole reply: ten pictures, the most that OpenAI's API
// gives at once, of 2,048 × 2,048 pixels of 2 bytes each, in base64, are 112 MB.
const maxPictures = 128 << 20

func buildImages(r *Request) (Call, error) {
	fields := map[string]any{"model": r.Model, "prompt": r.Prompt()}
	if r.showsSteps() {
		fields["stream"] = true
	}
	if !r.hasImages() {
		return r.call("/v1/images/generations", fields)
	}
	maps.Copy(fields, r.Extra)
	var files []file
	for i := range r.Messages {
		for _, image := range r.Messages[i].Images {
			name := "image" + strconv.Itoa(len(files)) + "." + strings.TrimPrefix(image.MIME, "image/")
			files = append(files, file{"image[]", name, image.MIME, image.Data})
		}
	}
	return upload("/v1/images/edits", fields, files)
}

// showsSteps reports whether pictures are asked for in events.
func (r *Request) showsSteps() bool {
	return r.Extra["partial_images"] != nil || r.Extra["stream"] == true
}

// wanted is how many pictures a request asks for.
func (r *Request) wanted() int64 {
	n, err := strconv.ParseInt(fmt.Sprint(r.Extra["n"]), 10, 64)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// imageDecoder counts the pictures of a reply and reads how large they are.
type imageDecoder struct {
	r     reading
	came  []came
	asked timeline.Opt[int64]
	done  int64
	begun bool
	head  []byte
}

// came is a picture of an event; without bytes it lies elsewhere.
type came struct {
	bytes, width, height int64
	bad                  bool // it is no base64
}

// A picture on the way is one that is shown, but not counted.
func (d *imageDecoder) apply(e framing.Event, s *Stream) {
	s.usage.merge(d.r.usage)
	if len(d.came) == 0 && len(d.r.errors) == 0 {
		d.r.errors = refusal(e.Data)
	}
	switch kind := d.r.kind.String(); {
	case len(d.r.errors) > 0:
		s.fail(wordsOf(d.r.errors))
	case d.r.whole:
		d.take(s)
		if n, ok := d.asked.Get(); ok && d.done > 0 && d.done < n {
			s.failQuietly(fmt.Sprintf("the reply holds fewer pictures than were asked for: %d of %d", d.done, n))
		}
	case len(d.came) == 0:
		s.add(timeline.Progress, 0, 0, none)
	case d.came[0].bad:
		s.bad(e)
	case kind == "image_generation.partial_image" || kind == "image_edit.partial_image":
		s.add(timeline.Media, 0, d.came[0].bytes, none)
	default:
		d.take(s)
		if s.progress.reason = d.done >= d.asked.Or(1); s.progress.reason {
			s.progress.finished |= 1
		}
	}
}

// take takes the pictures of an event.
func (d *imageDecoder) take(s *Stream) {
	if !d.begun {
		d.begun, d.asked = true, s.tl.Images
	}
	for _, c := range d.came {
		if c.bad {
			s.failQuietly("a picture of the reply is no base64")
			continue
		}
		s.add(timeline.Media, 0, c.bytes, none)
		size := ""
		if c.width > 0 {
			size = fmt.Sprintf("%dx%d", c.width, c.height)
		}
		if d.done == 0 {
			s.tl.ImageSize = size
		} else if s.tl.ImageSize != size {
			s.tl.ImageSize = ""
		}
		d.done++
	}
	if n, ok := d.asked.Get(); ok && d.done > n { // they would make the server's rate a lie
		s.failQuietly(fmt.Sprintf("the reply holds more pictures than were asked for: over %d", n))
	} else if !ok && d.done > 0 {
		s.tl.Images = timeline.Some(d.done)
	}
}

func (d *imageDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.came = d.came[:0]
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.r.typed()
		case "data":
			for range c.Elements {
				d.picture(c)
			}
		case "b64_json", "url":
			d.form(c, name)
		default:
			d.r.account(name)
		}
	}
	return c.End()
}

// form reads a picture in one of the forms in which it comes.
func (d *imageDecoder) form(c *scan, name []byte) {
	switch string(name) {
	case "b64_json":
		if text, ok := c.Text(); ok && !text.Empty() {
			d.measure(text)
		}
	case "url": // it lies elsewhere, or is in its address
		text, ok := c.Text()
		switch {
		case !ok || text.Empty():
		case bytes.HasPrefix(text.Raw, []byte("data:")):
			d.measure(text)
		default:
			d.came = append(d.came, came{})
		}
	}
}

func (d *imageDecoder) picture(c *scan) {
	n := len(d.came)
	for name := range c.Members {
		d.form(c, name)
	}
	if len(d.came) > n+1 { // one, in two forms
		if d.came[n].bytes == 0 {
			d.came[n] = d.came[n+1]
		}
		d.came = d.came[:n+1]
	}
}

// measure counts the bytes of a picture and reads its sides.
func (d *imageDecoder) measure(text jsonscan.Text) {
	raw := text.Raw
	if text.Escaped {
		raw = text.Append(nil)
	}
	if bytes.HasPrefix(raw, []byte("data:")) {
		_, raw, _ = bytes.Cut(raw, []byte(","))
	}
	var one came
	d.head = d.head[:0]
	var buf [4 << 10]byte
	for r := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(raw)); ; {
		n, err := r.Read(buf[:])
		one.bytes += int64(n)
		d.head = append(d.head, buf[:min(n, picture.Head-len(d.head))]...)
		if err != nil {
			one.bad = !errors.Is(err, io.EOF) || one.bytes == 0
			break
		}
	}
	if w, h, ok := picture.Size(d.head); ok {
		one.width, one.height = int64(w), int64(h)
	}
	d.came = append(d.came, one)
}
