package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/audio"
)

// Made sound is as long as was asked, the same for the same seed and salt, and never
// the same twice.
func TestMadeSounds(t *testing.T) {
	w, err := NewSounds("uniform:1,3", 7, "s")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := NewSounds("uniform:1,3", 7, "s")
	salted, _ := NewSounds("uniform:1,3", 7, "other")
	seen, lengths := map[string]bool{}, map[int64]bool{}
	for i := int64(-3); i < 20; i++ {
		it := w.Item(i)
		data := it.Messages[0].Sound.Data
		var m audio.Meter
		m.Add(data)
		us, ok := m.Length()
		lengths[us] = true
		if rate, steady := m.Rate(); !ok || us < 1e6 || us > 3e6 || us%1e6 != 0 || !steady || rate != 32_000 {
			t.Errorf("item %d: %d µs, %d bytes a second", i, us, rate)
		}
		if seen[string(data)] || !bytes.Equal(data, again.Item(i).Messages[0].Sound.Data) || bytes.Equal(data, salted.Item(i).Messages[0].Sound.Data) {
			t.Errorf("item %d is no other, or another in another run", i)
		}
		seen[string(data)] = true
	}
	if len(lengths) != 3 || w.Unique(3, 20) != 23 {
		t.Errorf("lengths %v, %d different", lengths, w.Unique(3, 20))
	}
}

// What is no WAV file of 16 bits is found before anything is sent, wherever in the file
// its sound begins.
func TestSamples(t *testing.T) {
	wav := noise(1, random.New(1))
	late := append(append(bytes.Clone(wav[:12]), "LIST\x00\x20\x00\x00"+strings.Repeat("x", 0x2000)...), wav[12:]...)
	eight := bytes.Clone(wav)
	eight[34] = 8
	for name, tc := range map[string]struct {
		data []byte
		good bool
	}{
		"made.wav": {wav, true}, "late.wav": {late, true}, "eight.wav": {eight, false}, "a.mp3": {[]byte("ID3\x04 and so on"), false}, "long.mp3": {bytes.Repeat([]byte("ID3"), 4000), false}, "empty.wav": {nil, false},
	} {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"0.wav": wav, name: tc.data} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, err := NewSounds(dir, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Samples(); (err == nil) != tc.good || err != nil && strings.Count(err.Error(), name) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w, err := NewSounds("2", 0, ""); err != nil || w.Samples() != nil {
		t.Error("made sound")
	}
}

// Files come in turn, by their names; what is no sound is passed over.
func TestSoundFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.WAV": "bb", "a.mp3": "aa", "notes.txt": "x", "empty.wav": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := NewSounds(dir, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := int64(-1); i < 4; i++ {
		it := w.Item(i)
		if it.Err != nil {
			got = append(got, "error")
			if !strings.Contains(it.Err.Error(), "empty") {
				t.Error(it.Err)
			}
			continue
		}
		got = append(got, it.Messages[0].Sound.Name+"="+string(it.Messages[0].Sound.Data))
	}
	if want := "error a.mp3=aa b.WAV=bb error a.mp3=aa"; strings.Join(got, " ") != want || w.Unique(1, 9) != 3 {
		t.Errorf("%v, %d different", got, w.Unique(1, 9))
	}
	for _, from := range []string{t.TempDir(), filepath.Join(dir, "nowhere"), "0", "-1", "100000"} {
		if _, err := NewSounds(from, 0, ""); err == nil {
			t.Errorf("%q is taken", from)
		}
	}
}

// A request says how long its sound is where the file tells.
func TestHeardLength(t *testing.T) {
	w, _ := NewSounds("2", 1, "")
	for data, want := range map[string]int64{string(w.Item(0).Messages[0].Sound.Data): 2e6, "fLaC....": -1} {
		tl := timeline.New()
		req := api.Request{Messages: []api.Message{{Sound: &api.Sound{Name: "x.wav", Data: []byte(data)}}}}
		if api.Transcription.Describe(&req, tl); tl.AudioUS.Or(-1) != want {
			t.Errorf("%v µs, want %d", tl.AudioUS, want)
		}
	}
}
