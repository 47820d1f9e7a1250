package sim

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
)

const (
	// HeardTokens is how many tokens the encoder makes of a second of sound, as
	// Whisper's does (1,500 for 30 s), and SaidTokens how many are written for it.
	HeardTokens = 50
	SaidTokens  = 3
)

// transcription is POST /v1/audio/transcriptions: WAV files, of which only the length
// is heard.
var transcription = dialect{
	ends: []string{"/audio/transcriptions"}, oneText: true, kind: eventStream, frame: dataFrame,
	read: readTranscription,
	piece: func(r *reply, b []byte, _ bool, from, to int, _ bool) []byte {
		data := r.appendText([]byte(`{"type":"transcript.text.delta","delta":`), from, to)
		return appendFramed(b, dataFrame, append(data, '}'))
	},
	end: func(r *reply, b []byte) []byte {
		data := r.appendText([]byte(`{"type":"transcript.text.done","text":`), 0, r.yielded)
		return appendFramed(b, dataFrame, append(r.heard(data, r.yielded), '}'))
	},
	whole: func(r *reply, b []byte) []byte {
		n := r.toldTokens()
		b = r.appendText(append(b, `{"text":`...), 0, n)
		return append(r.heard(b, n), '}')
	},
}

// heard adds the usage.
func (r *reply) heard(b []byte, n int) []byte {
	if r.s.cfg.Usage == UsageNone {
		return fmt.Appendf(b, `,"usage":{"type":"duration","seconds":%d}`, r.promptTokens/HeardTokens)
	}
	return fmt.Appendf(b, `,"usage":{"type":"tokens","input_tokens":%d,"output_tokens":%d,"total_tokens":%d}`, r.promptTokens, n, r.promptTokens+n)
}

// readTranscription reads a form: the boundary stands in its first line.
func readTranscription(_ string, body []byte) (j askJSON, err error) {
	line, _, _ := bytes.Cut(body, []byte("\r\n"))
	boundary, ok := bytes.CutPrefix(line, []byte("--"))
	if !ok || len(boundary) == 0 {
		return j, errors.New("it is no form of multipart/form-data")
	}
	seconds := -1.0
	form := multipart.NewReader(bytes.NewReader(body), string(boundary))
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return j, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return j, err
		}
		switch part.FormName() {
		case "model":
			j.Model = string(data)
		case "stream":
			j.Stream = string(data) == "true"
		case "file":
			if seconds, err = wavSeconds(data); err != nil {
				return j, err
			}
		}
	}
	if seconds < 0 {
		return j, errors.New("file is missing")
	}
	said := max(1, int(seconds*SaidTokens))
	j.MaxTokens = &said
	words, _ := json.Marshal(strings.Repeat("s ", int(seconds*HeardTokens)))
	j.Messages = []askMessage{{words}}
	return j, nil
}

// wavSeconds is how long a WAV file plays whose head has 44 bytes.
func wavSeconds(data []byte) (float64, error) {
	if len(data) < 44 || string(data[:4]) != "RIFF" || string(data[36:40]) != "data" {
		return 0, errors.New("file is no WAV file with a head of 44 bytes, which is all that is heard here")
	}
	rate := binary.LittleEndian.Uint32(data[28:])
	if rate == 0 {
		return 0, errors.New("file plays no byte a second")
	}
	return min(float64(len(data)-44)/float64(rate), 3600), nil
}
