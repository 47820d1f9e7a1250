package sim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"unicode/utf8"
)

// This file is what makes speech: each token of the model is a frame of sound, so
// when it leaves and how long it plays are known.

const (
	// SpeechHz and SpeechFrame are of the sound: samples a second, of 16 bits and one
	// channel, as OpenAI's bare PCM, and samples of a token, which plays for 80 ms as
	// those of Mimi do (12.5 a second).
	SpeechHz    = 24_000
	SpeechFrame = 1920
	// speechChars is how many characters are spoken in a second.
	speechChars = 15
)

// speech is POST /v1/audio/speech, as the bytes of a WAV file.
var speech = dialect{
	ends: []string{"/audio/speech"}, oneText: true, bare: true, kind: "audio/wav",
	read:  readSpeech,
	frame: bareFrame,
	begin: func(_ *reply, b []byte) []byte { return appendChunk(b, wavHead()) },
	piece: barePiece,
	end:   nothingMore,
}

// speechBare is the same without the file's head.
var speechBare = dialect{
	oneText: true, bare: true, kind: "audio/pcm",
	frame: bareFrame, piece: barePiece, end: nothingMore,
}

// speechEvents is the same in events, where stream_format is sse.
var speechEvents = dialect{
	oneText: true, kind: eventStream, frame: dataFrame,
	begin: func(_ *reply, b []byte) []byte { return appendSpeech(b, wavHead()) },
	piece: func(_ *reply, b []byte, _ bool, from, to int, _ bool) []byte {
		return appendSpeech(b, speechFrames(to-from))
	},
	end: func(r *reply, b []byte) []byte {
		return appendFramed(b, dataFrame, fmt.Appendf(nil, `{"type":"speech.audio.done","usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}`,
			r.promptTokens, r.yielded, r.promptTokens+r.yielded))
	},
}

func readSpeech(_ string, body []byte) (j askJSON, err error) {
	var g struct {
		Model, Input   string
		ResponseFormat string `json:"response_format"`
		StreamFormat   string `json:"stream_format"`
	}
	if err = json.Unmarshal(body, &g); err != nil {
		return j, err
	}
	if g.Input == "" {
		return j, errors.New("input is empty: give a text to speak")
	}
	switch {
	case g.StreamFormat == "sse":
		j.as = &speechEvents
	case g.ResponseFormat == "pcm":
		j.as = &speechBare
	}
	input, _ := json.Marshal(g.Input)
	frames := max(1, utf8.RuneCountInString(g.Input)*SpeechHz/speechChars/SpeechFrame)
	j.Model, j.Stream, j.MaxTokens = g.Model, true, &frames
	j.Messages = []askMessage{{input}}
	return j, nil
}

// wavHead is the head of a file whose length is not known yet.
func wavHead() []byte {
	b := append([]byte("RIFF"), 0xff, 0xff, 0xff, 0xff)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, SpeechHz)
	b = binary.LittleEndian.AppendUint32(b, SpeechHz*2)
	b = append(b, "\x02\x00\x10\x00data"...)
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

// tone is one frame of 437.5 Hz: whole waves, so that frames join.
var tone = sync.OnceValue(func() []byte {
	b := make([]byte, 0, 2*SpeechFrame)
	for i := range SpeechFrame {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(8000*math.Sin(2*math.Pi*35*float64(i)/SpeechFrame))))
	}
	return b
})

func speechFrames(n int) []byte {
	var b []byte
	for range n {
		b = append(b, tone()...)
	}
	return b
}

func appendSpeech(b, sound []byte) []byte {
	data := append([]byte(nil), `{"type":"speech.audio.delta","audio":"`...)
	data = base64.StdEncoding.AppendEncode(data, sound)
	return appendChunk(b, dataFrame(nil, append(data, `"}`...)))
}

func bareFrame(b, data []byte) []byte { return append(b, data...) }

func barePiece(_ *reply, b []byte, _ bool, from, to int, _ bool) []byte {
	return appendChunk(b, speechFrames(to-from))
}

func nothingMore(_ *reply, b []byte) []byte { return b }
