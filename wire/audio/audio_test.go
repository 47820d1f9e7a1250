package audio

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"testing"
)

func measured(pieces ...[]byte) (sound, rate int64, seconds float64) {
	var m Meter
	for _, p := range pieces {
		sound += m.Add(p)
	}
	if r, ok := m.Rate(); ok {
		rate = r
	}
	us, _ := m.Length()
	return sound, rate, float64(us) / 1e6
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Files that libsndfile and LAME wrote, and how long libsndfile and mutagen say they
// are. A decoder of MP3 may drop the encoder's own delay, which servers do not.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    int64
		seconds float64
		within  float64
	}{
		{"pcm16.wav", 48_000, 0.25, 0},
		{"mulaw.wav", 8_000, 0.4, 0},
		{"cbr.mp3", 8_000, 0.864, 0},
		{"mpeg1.mp3", 16_000, 0.5498185941, 0.0265}, // a frame more or less
		{"vbr.mp3", 0, 1.071, 0.0265},
		{"voice.opus", 0, 1, 0},
		{"sound.flac", 0, 0, 0},
	} {
		data := file(t, c.name)
		sound, rate, seconds := measured(data)
		if rate != c.rate || math.Abs(seconds-c.seconds) > c.within+1e-6 || sound <= 0 || sound > int64(len(data)) {
			t.Errorf("%s: %d bytes of sound at %d a second, %.6f s; want %d, %.6f s", c.name, sound, rate, seconds, c.rate, c.seconds)
		}
		if c.rate > 0 && math.Abs(float64(sound)/float64(rate)-seconds) > 0.001 {
			t.Errorf("%s: %d bytes at %d a second are not %.4f s", c.name, sound, rate, seconds)
		}
	}
}

// Sound that is written while it is made does not tell its length; and some servers
// send a file for each sentence.
func TestWAVOfStreams(t *testing.T) {
	data := file(t, "pcm16.wav")
	at := bytes.Index(data, []byte("data")) + 4
	head := bytes.Clone(data[:at+4])
	for _, told := range []uint32{0, math.MaxUint32, 0x7fffffff - 36} {
		binary.LittleEndian.PutUint32(head[at:], told)
		if sound, rate, seconds := measured(head, make([]byte, 48_000)); sound != 48_000 || rate != 48_000 || seconds != 1 {
			t.Errorf("length %x: %d bytes, %d a second, %v s", told, sound, rate, seconds)
		}
	}
	if _, _, seconds := measured(data, data, data); seconds != 0.75 {
		t.Errorf("three files: %v s", seconds)
	}
	if sound, _, _ := measured(head); sound != 0 {
		t.Errorf("a head alone has %d bytes of sound", sound)
	}
}

// Bare samples are OpenAI's where nothing is said.
func TestBarePCM(t *testing.T) {
	for kind, want := range map[string]float64{
		"": 1, "audio/pcm": 1, "audio/pcm;rate=24000": 1, "audio/pcm; rate=16000": 1.5, "audio/L16;rate=24000;channels=2": 0.5,
		"audio/basic": 6, "audio/pcm; rate=nonsense": 1, "application/octet-stream": 1,
	} {
		m := NewMeter(kind)
		if n := m.Add(make([]byte, 48_000)); n != 48_000 {
			t.Errorf("%q: %d bytes", kind, n)
		}
		if us, ok := m.Length(); !ok || float64(us)/1e6 != want {
			t.Errorf("%q: %d µs, want %v s", kind, us, want)
		}
	}
}

// Whatever comes in whatever pieces: the same is measured, and no more sound than
// there were bytes.
func FuzzMeter(f *testing.F) {
	for _, name := range []string{"pcm16.wav", "mulaw.wav", "cbr.mp3", "mpeg1.mp3", "vbr.mp3", "voice.opus", "sound.flac"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:2000], 7)
	}
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00"), 1)
	f.Add([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), 3)
	f.Fuzz(func(t *testing.T, data []byte, each int) {
		sound, rate, seconds := measured(data)
		if sound < 0 || sound > int64(len(data)) || rate < 0 || seconds < 0 {
			t.Fatalf("%d bytes: %d of sound, %d a second, %v s", len(data), sound, rate, seconds)
		}
		each = max(1, each%64)
		var pieces [][]byte
		for rest := data; len(rest) > 0; {
			n := min(each, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if s, r, sec := measured(pieces...); s != sound || r != rate || sec != seconds {
			t.Fatalf("in pieces of %d: %d, %d, %v; whole: %d, %d, %v", each, s, r, sec, sound, rate, seconds)
		}
	})
}
