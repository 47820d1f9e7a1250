package audio

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// wavOf is a WAV file of 16 bits, with a chunk of odd length in front of its sound.
func wavOf(hz, channels int, samples ...int16) []byte {
	b := append([]byte("RIFF\xff\xff\xff\xffWAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00\x01\x00"), byte(channels), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(hz))
	b = binary.LittleEndian.AppendUint32(b, uint32(hz*2*channels))
	b = append(b, byte(2*channels), 0, 16, 0, 'd', 'a', 't', 'a')
	b = binary.LittleEndian.AppendUint32(b, uint32(2*len(samples)))
	return append(b, pcmOf(samples...)...)
}

func pcmOf(samples ...int16) (b []byte) {
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

func TestPCM(t *testing.T) {
	for name, c := range map[string]struct{ in, want []byte }{
		"as it is":              {wavOf(24_000, 1, 1, -2, 3), pcmOf(1, -2, 3)},
		"the first of two":      {wavOf(24_000, 2, 1, 9, -2, 9), pcmOf(1, -2)},
		"half as many a second": {wavOf(48_000, 1, 0, 10, 20, 30, 40), pcmOf(0, 20, 40)},
		"twice as many":         {wavOf(12_000, 1, 0, 100, -300), pcmOf(0, 50, 100, -100, -300, -300)},
		"of 16,000":             {wavOf(16_000, 1, 0, 30, 60, 90), pcmOf(0, 20, 40, 60, 80, 90)},
		"nothing":               {wavOf(16_000, 1), nil},
		"cut short":             {wavOf(24_000, 1, 1, 2)[:len(wavOf(24_000, 1, 1, 2))-1], pcmOf(1)},
	} {
		if got, err := PCM(c.in, 24_000); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	eight := wavOf(8000, 1, 1)
	eight[12+12+8+14] = 8
	for name, in := range map[string][]byte{"8 bits": eight, "MP3": []byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "nothing": nil, "no sound": wavOf(8000, 1)[:44]} {
		if got, err := PCM(in, 24_000); err == nil {
			t.Errorf("%s was taken: %v", name, got)
		}
	}
}

// FuzzPCM: no more than what the file has, at eight times the lowest rate that is read.
func FuzzPCM(f *testing.F) {
	f.Add(wavOf(16_000, 1, 1, 2, 3))
	f.Add(wavOf(44_100, 2, 1, 2, 3, 4)[:50])
	f.Fuzz(func(t *testing.T, wav []byte) {
		if len(wav) > 1<<16 {
			return
		}
		if out, err := PCM(wav, 8000); err == nil && len(out) > 8*len(wav) {
			t.Errorf("%d bytes of %d", len(out), len(wav))
		}
	})
}
