package workload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tokenmeter/base/limitio"
	"tokenmeter/base/random"
	"tokenmeter/wire/api"
)

// Sounds is sound to be written down: files in turn, or made.
type Sounds struct {
	files  []string // in the order of their names; nil: made
	length Lengths  // in seconds
	seed   uint64
	salt   uint64

	mu   sync.Mutex
	read map[string][]byte // while they fit
	room int64
}

const (
	soundKey = 0x736f756e64
	// maxSound is OpenAI's limit of a file, and soundRoom how much of the files is kept
	// between requests.
	maxSound  = 25 << 20
	soundRoom = 256 << 20
	// maxSoundS is how long made sound is at most: what fits in the largest file.
	maxSoundS = 600
	madeHz    = 16_000
)

// soundTypes are endings of files of sound.
var soundTypes = []string{".wav", ".mp3", ".ogg", ".opus", ".flac", ".m4a", ".mp4", ".webm", ".mpga", ".mpeg"}

// NewSounds reads where sound comes from: a folder, a file, or how many seconds are to
// be made, written like the length of a prompt: 10, or uniform:5,30.
func NewSounds(from string, seed uint64, salt string) (*Sounds, error) {
	w := &Sounds{seed: seed, salt: saltOf(salt), read: map[string][]byte{}, room: soundRoom}
	info, err := os.Stat(from)
	switch {
	case err == nil && info.IsDir():
		entries, err := os.ReadDir(from)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if slices.Contains(soundTypes, strings.ToLower(filepath.Ext(e.Name()))) && !e.IsDir() {
				w.files = append(w.files, filepath.Join(from, e.Name()))
			}
		}
		if w.files == nil {
			return nil, fmt.Errorf("%s: there is no sound (wav, mp3, ogg, flac, m4a, webm)", from)
		}
	case err == nil:
		w.files = []string{from}
	default:
		if w.length, err = ParseLengths(from); err != nil {
			return nil, fmt.Errorf("%s is no folder or file that is there, and no number of seconds: %w", from, err)
		}
		if w.length, err = w.length.atMost(maxSoundS); err != nil {
			return nil, fmt.Errorf("%s seconds; want at most %d", from, maxSoundS)
		}
	}
	return w, nil
}

// Item implements Workload.
func (w *Sounds) Item(i int64) Item {
	it := Item{Index: i}
	sound := &api.Sound{Name: "sound.wav"}
	if w.files == nil {
		src := random.New(w.seed, soundKey, uint64(i))
		sound.Data = noise(w.length.Draw(&src), random.New(w.seed^w.salt, soundKey, uint64(i)))
	} else {
		n := int64(len(w.files))
		path := w.files[around(i, n)]
		sound.Name = filepath.Base(path)
		sound.Data, it.Err = w.file(path)
	}
	it.Messages = []api.Message{{Role: "user", Sound: sound}}
	return it
}

// file reads a file, once where there is room.
func (w *Sounds) file(path string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if data, ok := w.read[path]; ok {
		return data, nil
	}
	data, err := limitio.File(path, maxSound)
	if err == nil && len(data) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return nil, bare(path, err)
	}
	if n := int64(len(data)); n <= w.room {
		w.read[path], w.room = data, w.room-n
	}
	return data, nil
}

// Sounds is the workload itself: see [Loaded.Sounds].
func (w *Sounds) Sounds() []*Sounds { return []*Sounds{w} }

// headOf is how much of a file is read to see what it is: a WAV file says so at once.
const headOf = 4 << 10

// Samples says which file is none whose bare samples can be sent, as a conversation
// needs them; nil: all can. Made sound can always.
func (w *Sounds) Samples() error {
	for _, path := range w.files {
		data, err := head(path)
		if err == nil {
			if err = api.CheckSamples(data); err != nil && len(data) == headOf { // its sound may stand behind that
				if data, err = w.file(path); err == nil {
					err = api.CheckSamples(data)
				}
			}
		}
		if err != nil {
			return bare(path, err)
		}
	}
	return nil
}

// head reads the beginning of a file.
func head(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, headOf))
}

// Unique implements Workload.
func (w *Sounds) Unique(warm, n int64) int64 {
	if w.files == nil {
		return warm + n
	}
	return min(warm+n, int64(len(w.files)))
}

// Info implements Workload.
func (w *Sounds) Info() Info {
	if w.files == nil {
		return Info{Kind: "sound", UniquePrompts: true}
	}
	return Info{Kind: "sound", Source: filepath.Dir(w.files[0])}
}

// noise makes a WAV file of syllables that nobody spoke: a tone of changing height
// that swells four times a second, in noise. No two are alike, so that no server has
// heard them.
func noise(seconds int64, src random.Source) []byte {
	n := int(seconds) * madeHz
	b := append(make([]byte, 0, 44+2*n), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+2*n))
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, madeHz)
	b = binary.LittleEndian.AppendUint32(b, 2*madeHz)
	b = append(b, "\x02\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*n))
	const syllable = madeHz / 4
	var step, phase uint32
	for i := range n { // in whole numbers, which are the same on every machine
		k := i % syllable
		if k == 0 {
			step = uint32(src.Between(120, 300) << 32 / madeHz)
		}
		phase += step
		wave := int64(max(int32(phase), -int32(phase)-1)>>15) - 1<<15
		v := wave*int64(min(k, syllable-k))/(2*syllable) + src.Between(-300, 300)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	return b
}

// audio compiles requests for what sound says, which have no prompt.
func (c *compiler) audio(out *class, k *Content, at func(string) string) {
	bare := *k
	bare.Audio, bare.Parameters, bare.Models, bare.Leave, bare.Slow, bare.Check = "", nil, nil, nil, nil, nil
	if names := given(&bare); names != nil {
		c.Addf(at(names[0]), "%s is of prompts, and audio says what is sent: leave one of them out", names[0])
		return
	}
	from := k.Audio
	if path := c.beside(from); path != from {
		if _, err := os.Stat(path); err == nil {
			from = path
		}
	}
	sounds, err := NewSounds(from, out.seed, "")
	if err != nil {
		c.Addf(at("audio"), "%v", err)
		return
	}
	sounds.salt = out.salt
	out.sounds = sounds
	c.extras(out, k, at)
}
