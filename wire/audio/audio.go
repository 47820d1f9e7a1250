// Package audio tells how long encoded sound is, from its bytes as they come. It
// decodes nothing and knows no API.
package audio

import (
	"encoding/binary"
	"mime"
	"strconv"
	"strings"
)

// Meter measures one piece of sound: WAV, MP3, Ogg Opus, or bare PCM. The zero
// value is ready, and looks at the first bytes.
type Meter struct {
	read func(m *Meter, head []byte) (need int) // reads what is held, or says how much it must be
	need int
	held []byte // of a header that is not whole

	skip  int64 // bytes that follow and are no sound
	body  int64 // bytes that follow and are; toEnd: all
	sound int64 // bytes of sound so far
	rate  int64 // bytes of a second, while that is the same for all; 0: it is not, or not known

	// Formats of frames: what was counted, in samples of hz.
	samples, pending, hz int64
	varies               bool
	lost                 int   // bytes between frames that belong to none
	granule, preskip     int64 // Ogg's
	tagged               bool  // MP3: the first frame was looked at
}

const toEnd = 1 << 62

// OpenAI's bare PCM: 24,000 samples a second of 16 bits, one channel. Source:
// OpenAI's API reference, audio/speech.
const pcmRate = 24_000 * 2

// NewMeter takes what a content type says; "" leaves it to the first bytes, and what
// has no signature of a container there is OpenAI's PCM.
func NewMeter(contentType string) *Meter {
	m := &Meter{}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(contentType, ";")
	}
	number := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(params[name], 10, 64); err == nil && n > 0 && n < 1<<20 {
			return n
		}
		return otherwise
	}
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "audio/pcm", "audio/l16", "audio/x-pcm", "audio/raw":
		m.rate = number("rate", pcmRate/2) * 2 * number("channels", 1)
	case "audio/basic", "audio/pcmu", "audio/pcma", "audio/x-mulaw", "audio/x-alaw":
		m.rate = number("rate", 8000) * number("channels", 1)
	default:
		return m
	}
	m.read, m.body = none, toEnd
	return m
}

// Add takes the next bytes and returns how many of them are sound: headers and tags
// are none.
func (m *Meter) Add(b []byte) int64 {
	if m.read == nil {
		m.read, m.need = sniff, 4
	}
	before := m.sound
	for len(b) > 0 {
		switch n := int64(len(b)); {
		case m.skip > 0:
			n = min(n, m.skip)
			m.skip, b = m.skip-n, b[n:]
		case m.body > 0:
			n = min(n, m.body)
			m.body, b = m.body-n, b[n:]
			m.sound += n
			if m.body == 0 {
				m.samples, m.pending = m.samples+m.pending, 0
			}
		default:
			n = min(n, int64(m.need-len(m.held)))
			m.held, b = append(m.held, b[:n]...), b[n:]
			m.settle()
		}
	}
	return m.sound - before
}

// settle reads headers while what is held is enough for them.
func (m *Meter) settle() {
	for len(m.held) >= m.need && m.skip == 0 && m.body == 0 {
		if need := m.read(m, m.held); need > len(m.held) {
			m.need = need
			return
		}
	}
}

// then ends a header: so many bytes of it are used, what follows it is known, and a
// header that is read so comes next.
func (m *Meter) then(used int, read func(*Meter, []byte) int, need int) int {
	m.held = append(m.held[:0], m.held[used:]...)
	m.read, m.need = read, need
	return 0
}

// Rate is how many bytes play for a second, where that is the same throughout.
func (m *Meter) Rate() (bytesPerSecond int64, ok bool) { return m.rate, m.rate > 0 && !m.varies }

// Length is how long all of the sound so far plays, in microseconds; not ok where the
// format does not tell, or is none of ours.
func (m *Meter) Length() (us int64, ok bool) {
	switch {
	case m.hz > 0:
		n := m.samples + max(m.granule-m.preskip, 0)
		return n/m.hz*1e6 + n%m.hz*1e6/m.hz, n > 0
	case m.rate > 0:
		return m.sound/m.rate*1e6 + m.sound%m.rate*1e6/m.rate, m.sound > 0
	}
	return 0, false
}

// none reads nothing: all is sound to the end.
func none(m *Meter, head []byte) int { return len(head) + 1 }

// unknown counts everything as sound of no known length.
func (m *Meter) unknown() int {
	m.rate, m.hz, m.varies = 0, 0, true
	return m.rest()
}

// rest takes all that follows for sound, and what is held too.
func (m *Meter) rest() int {
	m.sound += int64(len(m.held))
	m.read, m.body, m.held = none, toEnd, nil
	return 1
}

// sniff tells containers by their signatures.
func sniff(m *Meter, h []byte) int {
	switch text := string(h[:4]); {
	case text == "RIFF":
		return m.then(0, riff, 12)
	case text == "OggS":
		m.hz = 48_000 // Opus counts so, whatever it was made of
		return m.then(0, page, 27)
	case text[:3] == "ID3", isFrame(h):
		return m.then(0, frame, 4)
	case text == "fLaC", text == "\x1a\x45\xdf\xa3", h[0] == 0xff && h[1]&0xf6 == 0xf0: // WebM, AAC
		return m.unknown()
	}
	m.rate = pcmRate
	return m.rest()
}

// riff reads the beginning of a WAV file. Source: Microsoft's Multimedia Programming
// Interface and Data Specifications 1.0.
func riff(m *Meter, h []byte) int {
	if string(h[8:12]) != "WAVE" {
		return m.unknown()
	}
	return m.then(12, chunk, 8)
}

// chunk reads the head of a chunk of a WAV file. One that is written as it is made
// does not know the length of its sound.
func chunk(m *Meter, h []byte) int {
	size := int64(binary.LittleEndian.Uint32(h[4:]))
	switch string(h[:4]) {
	case "RIFF": // another file, as some servers send one a sentence
		if len(h) < 12 {
			return 12
		}
		return riff(m, h)
	case "fmt ":
		if size < 16 {
			return m.unknown()
		}
		if len(h) < 24 {
			return 24
		}
		hz, told, block := int64(binary.LittleEndian.Uint32(h[12:])), int64(binary.LittleEndian.Uint32(h[16:])), int64(binary.LittleEndian.Uint16(h[20:]))
		rate := hz * block
		switch binary.LittleEndian.Uint16(h[8:]) {
		case 1, 3, 6, 7, 0xfffe: // PCM, floats, A-law, µ-law, extended
		default:
			rate = told
		}
		m.varies = m.varies || rate <= 0 || m.rate > 0 && m.rate != rate
		m.rate = rate
		m.skip = size - 16 + size&1
		return m.then(24, chunk, 8)
	case "data":
		if m.rate <= 0 {
			return m.unknown()
		}
		if m.body = size; size == 0 || size >= 0x7fff_ff00 {
			m.body = toEnd
		}
		if size&1 == 1 && m.body != toEnd { // chunks end at even places
			m.then(8, pad, 1)
			return 0
		}
		return m.then(8, chunk, 8)
	}
	m.skip = size + size&1
	return m.then(8, chunk, 8)
}

// pad passes over the byte that makes a chunk even.
func pad(m *Meter, _ []byte) int { return m.then(1, chunk, 8) }
