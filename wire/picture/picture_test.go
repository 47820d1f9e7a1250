package picture

import (
	"bytes"
	"image"
	"image/color"
	stdgif "image/gif"
	stdjpeg "image/jpeg"
	stdpng "image/png"
	"testing"
)

// Files that the standard library wrote are the oracle; those of WebP were made by hand
// from the specification.
func TestSize(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 640, 37), color.Palette{color.Black, color.White})
	var png, jpeg, gif bytes.Buffer
	if stdpng.Encode(&png, picture) != nil || stdjpeg.Encode(&jpeg, picture, nil) != nil || stdgif.Encode(&gif, picture, nil) != nil {
		t.Fatal("the standard library can't write")
	}
	// a JPEG with a segment of 60,000 bytes in front, and fill bytes before a marker
	long := append([]byte("\xff\xd8\xff\xe1\xea\x60"), make([]byte, 60_000-2)...)
	long = append(append(long, 0xff, 0xff), jpeg.Bytes()[2:]...)
	webp := func(chunk string) []byte { return append([]byte("RIFF\x00\x00\x00\x00WEBP"), chunk...) }
	for name, c := range map[string]struct {
		data []byte
		w, h int
	}{
		"png":             {png.Bytes(), 640, 37},
		"jpeg":            {jpeg.Bytes(), 640, 37},
		"jpeg with EXIF":  {long, 640, 37},
		"gif":             {gif.Bytes(), 640, 37},
		"webp, lossy":     {webp("VP8 \x00\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x80\x42\x25\x00"), 640, 37},
		"webp, lossless":  {webp("VP8L\x00\x00\x00\x00\x2f\x7f\x02\x09\x00\x00\x00\x00\x00\x00"), 640, 37},
		"webp, extended":  {webp("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x7f\x02\x00\x24\x00\x00"), 640, 37},
		"too short":       {png.Bytes()[:20], 0, 0},
		"no picture":      {[]byte("<html><body>not here</body></html>"), 0, 0},
		"nothing":         {nil, 0, 0},
		"a JPEG's start":  {[]byte("\xff\xd8\xff"), 0, 0},
		"a side of zero":  {append([]byte("GIF89a"), make([]byte, 20)...), 0, 0},
		"segment of none": {[]byte("\xff\xd8\xff\xe1\x00\x00\x00\x00\x00\x00"), 0, 0},
	} {
		w, h, ok := Size(c.data)
		if w != c.w || h != c.h || ok != (c.w > 0) {
			t.Errorf("%s: %d×%d %v, want %d×%d", name, w, h, ok, c.w, c.h)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x04\x00\x00\xff\xc0\x00\x11\x08\x00\x25\x02\x80"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x7f\x02\x09\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("GIF89a\x80\x02\x25\x00"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x02\x80\x00\x00\x00\x25"))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, h, ok := Size(b)
		if ok != (w > 0 && h > 0) {
			t.Errorf("%d×%d, %v", w, h, ok)
		}
		if more, high, again := Size(append(b[:len(b):len(b)], "and what follows"...)); ok && (more != w || high != h || !again) {
			t.Errorf("with more behind: %d×%d, %v, not %d×%d", more, high, again, w, h)
		}
	})
}
