package audio

import (
	"encoding/binary"
	"errors"
)

var errNoPCM = errors.New("the sound is no WAV file of 16-bit PCM")

// PCM is the sound of a WAV file as bare samples of 16 bits, of its first channel, hz a
// second. What lies between two samples of the file is on the line between them. The
// error is of files of another kind.
func PCM(wav []byte, hz int) ([]byte, error) {
	if len(wav) < 12 || string(wav[:4]) != "RIFF" || string(wav[8:12]) != "WAVE" {
		return nil, errNoPCM
	}
	var frame, rate int // bytes of all channels at a moment, moments a second
	for rest := wav[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		chunk := rest[:min(size, int64(len(rest)))]
		switch {
		case name == "fmt " && len(chunk) >= 16 && binary.LittleEndian.Uint16(chunk[14:]) == 16:
			rate, frame = int(binary.LittleEndian.Uint32(chunk[4:])), int(binary.LittleEndian.Uint16(chunk[12:]))
		case name == "data" && frame >= 2 && rate >= 1000 && rate < 1<<20:
			return resample(chunk, frame, rate, hz), nil
		}
		rest = rest[min(size+size&1, int64(len(rest))):]
	}
	return nil, errNoPCM
}

func resample(in []byte, frame, rate, hz int) []byte {
	n := len(in) / frame
	at := func(i int) int { return int(int16(binary.LittleEndian.Uint16(in[min(i, n-1)*frame:]))) }
	out := make([]byte, 0, 2*(n*hz/rate+1))
	for i := 0; i*rate < n*hz; i++ {
		k, part := i*rate/hz, i*rate%hz
		v := (at(k)*(hz-part) + at(k+1)*part) / hz
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(v)))
	}
	return out
}
