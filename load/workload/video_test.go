package workload

import (
	"bytes"
	"encoding/binary"
	pngs "image/png"
	"os"
	"strings"
	"testing"
)

// A made video is AVI whose chunks fit into each other, with an index that leads to
// PNG files of the asked size, one a second, none like another.
func TestMadeVideosHoldTheirPictures(t *testing.T) {
	l, err := FromSpec("x", Spec{Content: Content{Input: "8", Images: &ImagesSpec{Width: 16, Height: 8},
		Video: &VideoSpec{Seconds: 3, ImagesSpec: ImagesSpec{Count: "2", Width: 50, Height: 20}}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := l.Item(4).Messages[0].Images
	if len(seen) != 3 || seen[0].Moves() || !seen[1].Moves() || seen[1].MIME != "video/avi" || bytes.Equal(seen[1].Data, seen[2].Data) {
		t.Fatalf("%d things to look at, want a picture and two videos", len(seen))
	}
	if !bytes.Equal(l.Item(4).Messages[0].Images[1].Data, seen[1].Data) {
		t.Error("the same item has another video")
	}
	file := seen[1].Data
	if out := os.Getenv("MADE_VIDEO"); out != "" { // to be looked at by other programs
		if err := os.WriteFile(out, file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	chunks := riffChunks(t, file)
	avi := riffChunks(t, chunks[0].data[4:])
	if string(file[:4]) != "RIFF" || string(chunks[0].data[:4]) != "AVI " || len(avi) != 3 || avi[2].kind != "idx1" {
		t.Fatalf("it is no AVI of head, pictures and index: %d parts", len(avi))
	}
	movi, index := avi[1].data, avi[2].data
	frames := riffChunks(t, movi[4:])
	if len(frames) != 3 || len(index) != 3*16 {
		t.Fatalf("%d pictures, %d bytes of index", len(frames), len(index))
	}
	var before []byte
	for i, f := range frames {
		img, err := pngs.Decode(bytes.NewReader(f.data))
		if err != nil || img.Bounds().Dx() != 50 || img.Bounds().Dy() != 20 || bytes.Equal(before, f.data) {
			t.Errorf("picture %d: %v", i, err)
		}
		before = f.data
		at, n := binary.LittleEndian.Uint32(index[16*i+8:]), binary.LittleEndian.Uint32(index[16*i+12:])
		if string(movi[at:at+4]) != "00dc" || !bytes.Equal(movi[at+8:at+8+n], f.data) {
			t.Errorf("the index leads elsewhere for picture %d", i)
		}
	}
}

// What is made for one request is bounded: 600 s of the largest pictures would be 20 GB,
// and sizes in AVI have 32 bits. Two pixels are a byte, with a byte more a row.
func TestMadePicturesAndVideosAreBounded(t *testing.T) {
	size := func(count string, width, height int) ImagesSpec {
		return ImagesSpec{Count: count, Width: width, Height: height}
	}
	video := func(seconds int, m ImagesSpec) Content {
		return Content{Input: "8", Video: &VideoSpec{Seconds: seconds, ImagesSpec: m}}
	}
	pictures := func(m ImagesSpec) Content { return Content{Input: "8", Images: &m} }
	for _, c := range []struct {
		content Content
		says    string // empty: it is taken
	}{
		{video(600, size("", 8192, 8192)), "1 of them are 20137 MB in one request"}, // 600 × 8192 × 4097
		{video(65, size("", 1920, 1080)), "1 of them are 67 MB in one request"},
		{video(60, size("", 1920, 1080)), ""},
		{video(60, size("2", 1920, 1080)), "2 of them are 124 MB in one request"},
		{video(0, size("uniform:1,100", 1920, 1080)), "100 of them are 830 MB in one request"}, // 8 s each
		{pictures(size("100", 8192, 8192)), "100 of them are 3356 MB in one request"},
		{pictures(size("100", 1024, 1024)), ""},
		{pictures(size("", 8192, 8192)), ""},
	} {
		_, err := FromSpec("x", Spec{Content: c.content}, Options{})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, want %q", c.content, err, c.says)
		}
	}
}

type riffChunk struct {
	kind string
	data []byte
}

func riffChunks(t *testing.T, b []byte) (out []riffChunk) {
	t.Helper()
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		if n+8 > len(b) {
			t.Fatalf("a chunk of %d bytes in %d", n, len(b)-8)
		}
		out = append(out, riffChunk{string(b[:4]), b[8 : 8+n]})
		b = b[8+n+n%2:]
	}
	return out
}

// Sound in a workload file is what the flag for it says, and classes may have their own.
func TestSoundInAWorkload(t *testing.T) {
	l, err := FromSpec("x", Spec{Mix: []Class{
		{Name: "short", Share: 1, Content: Content{Audio: "1"}}, {Name: "long", Share: 1, Content: Content{Audio: "4"}}}}, Options{Seed: 3, Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	const perSecond = 2 * madeHz
	seen := map[string]int{}
	for i := range int64(20) {
		it := l.Item(i)
		if it.Err != nil || len(it.Messages) != 1 || it.Messages[0].Sound == nil {
			t.Fatalf("item %d: %v, no sound", i, it.Err)
		}
		seen[it.Class] = len(it.Messages[0].Sound.Data)
	}
	if seen["short"] != 44+perSecond || seen["long"] != 44+4*perSecond {
		t.Errorf("bytes of sound: %v", seen)
	}
	for _, spec := range []Content{{Audio: "1", Input: "8"}, {Audio: "1", Images: &ImagesSpec{}}, {Audio: "no such thing"}, {Audio: "1000"}} {
		if _, err := FromSpec("x", Spec{Content: spec}, Options{}); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}
