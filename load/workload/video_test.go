package workload

import (
	"bytes"
	"encoding/binary"
	pngs "image/png"
	"os"
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
