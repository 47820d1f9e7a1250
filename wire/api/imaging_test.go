package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// pngHead begins a file of so many pixels, as base64.
func pngHead(width, height byte) string {
	return base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00" + string([]byte{width, 0, 0, 0, height, 0}) + "\x01\x00\x00\x00\x00"))
}

// Events as OpenAI's reference and Python library (openai 3.57.0, types/image_gen_*_event)
// have them (synthetic): two pictures on the way of 29 bytes and a finished one.
var imageEvents = strings.ReplaceAll(`event: image_generation.partial_image
data: {"type":"image_generation.partial_image","b64_json":"PNG","background":"opaque","created_at":1700000000,"output_format":"png","partial_image_index":0,"quality":"low","size":"1024x1024"}

event: image_generation.partial_image
data: {"type":"image_generation.partial_image","b64_json":"PNG","background":"opaque","created_at":1700000001,"output_format":"png","partial_image_index":1,"quality":"low","size":"1024x1024"}

event: image_generation.completed
data: {"type":"image_generation.completed","b64_json":"PNG","background":"opaque","created_at":1700000002,"output_format":"png","quality":"low","size":"1024x1024","usage":{"input_tokens":12,"input_tokens_details":{"image_tokens":0,"text_tokens":12},"output_tokens":272,"total_tokens":284}}

`, "PNG", pngHead(4, 4))

const completed = `data: {"type":"image_generation.completed","b64_json":"%s"}` + "\n\n"

func TestImageReplies(t *testing.T) {
	one, other := pngHead(4, 4), pngHead(4, 8)
	body := func(pictures ...string) string {
		return `{"created":1,"data":[` + strings.Join(pictures, ",") + `],"usage":{"input_tokens":5,"output_tokens":9,"total_tokens":14}}`
	}
	b64 := func(data string) string { return `{"b64_json":"` + data + `","revised_prompt":"p"}` }
	some := timeline.Some[int64]
	for _, c := range []struct {
		name, body string
		asked      timeline.Opt[int64]
		end        timeline.End
		outcome    timeline.Outcome
		images     timeline.Opt[int64]
		events     int64
		bytes      int64
		size, say  string
	}{
		{"events", imageEvents, some(1), timeline.EOF, timeline.OK, some(1), 3, 87, "1024x1024", ""},
		{"events through a proxy", imageEvents, none, timeline.EOF, timeline.OK, some(1), 3, 87, "1024x1024", ""},
		{"events of an edit", strings.ReplaceAll(imageEvents, "image_generation", "image_edit"), some(1), timeline.EOF, timeline.OK, some(1), 3, 87, "1024x1024", ""},
		{"events behind a gateway's terminator", imageEvents + "data: [DONE]\n\n", some(1), timeline.EOF, timeline.OK, some(1), 3, 87, "1024x1024", ""},
		{"an event of a later version", `data: {"type":"image_generation.in_progress"}` + "\n\n" + imageEvents, some(1), timeline.EOF, timeline.OK, some(1), 3, 87, "1024x1024", ""},
		{"two finished", fmt.Sprintf(completed+completed, one, one), some(2), timeline.EOF, timeline.OK, some(2), 2, 58, "1024x1024", ""},
		{"two of different size", fmt.Sprintf(completed+completed, one, other), some(2), timeline.EOF, timeline.OK, some(2), 2, 58, "", ""},
		{"only those on the way", imageEvents[:strings.Index(imageEvents, "event: image_generation.completed")], some(1), timeline.EOF, timeline.StreamTruncated, some(1), 2, 58, "", "before every picture had come"},
		{"one of two", fmt.Sprintf(completed, one), some(2), timeline.EOF, timeline.StreamTruncated, some(2), 1, 29, "1024x1024", "before every picture had come"},
		{"more than asked", fmt.Sprintf(completed+completed, one, one), some(1), timeline.EOF, timeline.StreamError, some(1), 2, 58, "1024x1024", "more pictures than were asked for: over 1"},
		{"an error within", `data: {"type":"error","error":{"message":"blocked by safety","code":"moderation_blocked"}}` + "\n\n", some(1), timeline.EOF, timeline.StreamError, some(1), 0, 0, "", "blocked by safety"},
		{"cut off", fmt.Sprintf(completed, one)[:90], some(1), timeline.Cut, timeline.StreamTruncated, some(1), 0, 0, "", ""},
		{"whole", body(b64(one)), some(1), timeline.EOF, timeline.OK, some(1), 1, 29, "1024x1024", ""},
		{"three, whole", body(b64(one), b64(one), b64(one)), some(3), timeline.EOF, timeline.OK, some(3), 3, 87, "1024x1024", ""},
		{"a data URL with escaped slashes", body(`{"url":"data:image\/png;base64,` + one + `"}`), some(1), timeline.EOF, timeline.OK, some(1), 1, 29, "1024x1024", ""},
		{"addresses", body(`{"url":"https://example.com/a.png"}`, `{"url":"https://example.com/b.png"}`), some(2), timeline.EOF, timeline.OK, some(2), 2, 0, "", ""},
		{"both forms of one", body(`{"url":"https://example.com/a.png","b64_json":"` + one + `"}`), some(1), timeline.EOF, timeline.OK, some(1), 1, 29, "1024x1024", ""},
		{"one of two, whole", body(b64(one)), some(2), timeline.EOF, timeline.StreamError, some(2), 1, 29, "1024x1024", "fewer pictures than were asked for: 1 of 2"},
		{"two of one, whole", body(b64(one), b64(one)), some(1), timeline.EOF, timeline.StreamError, some(1), 2, 58, "1024x1024", "more pictures than were asked for: over 1"},
		{"a form that is not read", body(b64("AAAA")), some(1), timeline.EOF, timeline.OK, some(1), 1, 3, "", ""},
		{"no base64", body(b64("?!")), some(1), timeline.EOF, timeline.StreamError, some(1), 0, 0, "", "no base64"},
		{"none", body(), some(1), timeline.EOF, timeline.EmptyOutput, some(1), 0, 0, "", "holds no picture"},
		{"null", `{"created":1,"data":null}`, some(1), timeline.EOF, timeline.EmptyOutput, some(1), 0, 0, "", "holds no picture"},
		{"an error of status 200", `{"error":{"message":"no such model"}}`, some(1), timeline.EOF, timeline.StreamError, some(1), 0, 0, "", "no such model"},
		{"half a body", body(b64(one))[:40], some(1), timeline.Cut, timeline.StreamTruncated, some(1), 0, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, split := range []bool{false, true} {
				tl := timeline.New()
				tl.API, tl.Images = Images.Name, c.asked
				s := NewStream(tl, Images, StreamOptions{})
				kind := "application/json"
				if c.body[0] != '{' {
					kind = "text/event-stream"
				}
				s.Head(1000, Head{200, http.Header{"Content-Type": {kind}}})
				for i := 0; i < len(c.body); {
					n := len(c.body) - i
					if split {
						n = 1
					}
					s.Read(2000+int64(i), 0, []byte(c.body[i:i+n]))
					i += n
				}
				s.End(900_000, c.end, nil, nil)
				var n, size int64
				for ev := range tl.Events.Generation() {
					n, size = n+1, size+ev.Bytes
				}
				if tl.Outcome != c.outcome || n != c.events || size != c.bytes || tl.Images != c.images || tl.ImageSize != c.size {
					t.Errorf("%s (%v): %v pictures in %d events of %d bytes, %q", tl.Outcome, tl.Error, tl.Images, n, size, tl.ImageSize)
				}
				if c.say != "" && (tl.Error == nil || !strings.Contains(tl.Error.Message, c.say)) {
					t.Errorf("%v does not say %q", tl.Error, c.say)
				}
				if tl.Flags != 0 {
					t.Errorf("flags %v", tl.Flags.Names())
				}
			}
		})
	}
	for _, text := range []string{imageEvents, strings.ReplaceAll(imageEvents, "image_generation", "image_edit"), body(b64(one))} {
		if a := Recognise([]byte(text)); a != Images {
			t.Errorf("recognised as %+v", a)
		}
	}
}

// Ten large pictures in one reply are more than an event of text may be.
func TestLargePictures(t *testing.T) {
	one := pngHead(4, 4)[:36] + strings.Repeat("A", 4<<20)
	body := []byte(`{"data":[` + strings.Repeat(`{"b64_json":"`+one+`"},`, 9) + `{"b64_json":"` + one + `"}]}`)
	tl := timeline.New()
	tl.API, tl.Images = Images.Name, timeline.Some[int64](10)
	s := NewStream(tl, Images, StreamOptions{})
	s.Head(1, Head{200, http.Header{"Content-Type": {"application/json"}}})
	for at := 0; at < len(body); at += 1 << 20 {
		s.Read(int64(2+at), 0, body[at:min(at+1<<20, len(body))])
	}
	s.End(1<<40, timeline.EOF, nil, nil)
	if tl.Outcome != timeline.OK || tl.Events.Len() != 10 || tl.ImageSize != "1024x1024" {
		t.Errorf("%s, %v: %d pictures of %s", tl.Outcome, tl.Error, tl.Events.Len(), tl.ImageSize)
	}
}

// A request with pictures uploads them to be edited.
func TestImageRequests(t *testing.T) {
	r := &Request{Model: "m", Extra: map[string]any{"n": 2.0, "size": "64x64"},
		Messages: []Message{{Role: "user", Content: "a hat", Images: []Image{{"image/png", []byte("one")}, {"image/webp", []byte("two")}}}}}
	call, err := Images.Build(r)
	if err != nil || call.Path != "/v1/images/edits" {
		t.Fatal(call.Path, err)
	}
	_, params, err := mime.ParseMediaType(call.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for form := multipart.NewReader(bytes.NewReader(call.Body), params["boundary"]); ; {
		part, err := form.NextPart()
		if err != nil {
			break
		}
		data, _ := io.ReadAll(part)
		got += fmt.Sprintf("%s %s %s %s\n", part.FormName(), part.FileName(), part.Header.Get("Content-Type"), data)
	}
	if want := "model   m\nn   2\nprompt   a hat\nsize   64x64\nimage[] image0.png image/png one\nimage[] image1.webp image/webp two\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	r.Extra = map[string]any{"partial_images": 0, "n": 2}
	if call, err = Images.Build(&Request{Model: "m", Extra: r.Extra, Messages: []Message{{Content: "a hat"}}}); err != nil || string(call.Body) != `{"model":"m","n":2,"partial_images":0,"prompt":"a hat","stream":true}` {
		t.Errorf("%s, %v", call.Body, err)
	}
	tl := timeline.New()
	Images.Describe(r, tl)
	if tl.Images.Or(0) != 2 || !tl.Asked {
		t.Errorf("%v pictures, stream %v", tl.Images, tl.Asked)
	}
	for _, c := range []struct {
		n    any
		want int64
	}{{nil, 1}, {0, 1}, {-3, 1}, {"x", 1}, {int64(4), 4}, {4.0, 4}, {1e30, 1}} {
		if got := (&Request{Extra: map[string]any{"n": c.n}}).wanted(); got != c.want {
			t.Errorf("n %v: %d", c.n, got)
		}
	}
}

// FuzzImages: what is told is the same however the bytes are split, and never more than
// they can hold.
func FuzzImages(f *testing.F) {
	f.Add(true, []byte(imageEvents), uint64(1), int64(1))
	f.Add(false, []byte(`{"created":1,"data":[{"b64_json":"`+pngHead(1, 2)+`"},{"url":"data:,AAAA"}]}`), uint64(2), int64(0))
	f.Add(true, []byte(fmt.Sprintf(completed, "/9j/4AAQ")), uint64(3), int64(2))
	f.Fuzz(func(t *testing.T, events bool, body []byte, seed uint64, asked int64) {
		head := Head{200, http.Header{"Content-Type": {"application/json"}}}
		if events {
			head.Header.Set("Content-Type", "text/event-stream")
		}
		told := func(reads [][]byte) string {
			tl := timeline.New()
			tl.API = Images.Name
			if asked > 0 {
				tl.Images = timeline.Some(asked)
			}
			s := NewStream(tl, Images, StreamOptions{})
			s.Head(1, head)
			for i, data := range reads {
				s.Read(int64(2+i), 0, bytes.Clone(data))
			}
			s.End(1<<40, timeline.EOF, nil, nil)
			var n, size int64
			for ev := range tl.Events.Generation() {
				n, size = n+1, size+ev.Bytes
			}
			if size > int64(len(body)) || tl.Images.Or(0) < 0 || tl.Outcome == timeline.OK && (n == 0 || tl.Images.Or(0) > n) || (tl.Outcome == timeline.OK) != (tl.Error == nil) {
				t.Errorf("%v pictures in %d events of %d bytes, outcome %s, %v", tl.Images, n, size, tl.Outcome, tl.Error)
			}
			return fmt.Sprint(n, size, tl.Images, tl.ImageSize, tl.Outcome, tl.Usage)
		}
		whole := told([][]byte{body})
		for _, reads := range [][][]byte{single(body), pieces(body, seed)} {
			if got := told(reads); got != whole {
				t.Errorf("in pieces %s, whole %s", got, whole)
			}
		}
	})
}
