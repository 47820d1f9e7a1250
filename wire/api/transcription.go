package api

import (
	"bytes"
	"errors"
	"maps"
	"unicode/utf8"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/audio"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// Transcription is POST /v1/audio/transcriptions: sound is uploaded as a file and
// becomes text, as a whole or in events. Source: OpenAI's API reference and Python
// library, audio/transcriptions. vLLM streams chunks like those of its chat, Mistral
// events of its own names, faster-whisper-server (routers/stt.py) segments without any, and,
// where text is wanted, the words themselves, as transformers does (5.24.0,
// cli/serving/transcription.py).
var Transcription = &API{
	Name:    "transcription",
	Path:    "/v1/audio/transcriptions",
	Build:   buildTranscription,
	Decoder: func() Decoder { return new(transcriptDecoder) },
	Signs:   []Sign{{"type=transcript.text.*"}, {"type=transcription.*"}},
}

// Sound is a piece of sound in a message, as a file.
type Sound struct {
	Name string // of the file, whose ending tells its format
	Data []byte
}

// sound is the first piece of sound of a request; nil: there is none.
func (r *Request) sound() *Sound {
	for i := range r.Messages {
		if s := r.Messages[i].Sound; s != nil {
			return s
		}
	}
	return nil
}

var (
	errNoSound   = errors.New("this API takes no sound; use transcription")
	errWantSound = errors.New("this API takes sound, and there is none: give a folder of recordings or a length")
)

func buildTranscription(r *Request) (Call, error) {
	sound := r.sound()
	if sound == nil {
		return Call{}, errWantSound
	}
	fields := map[string]any{"model": r.Model, "response_format": "json"}
	if r.Stream {
		fields["stream"] = true
	}
	maps.Copy(fields, r.Extra)
	return upload("/v1/audio/transcriptions", fields, []file{{"file", sound.Name, "application/octet-stream", sound.Data}})
}

// heardUS is how long the sound of a request plays; empty without any, and where its
// format does not tell.
func (r *Request) heardUS() timeline.Opt[int64] {
	if sound := r.sound(); sound != nil {
		var m audio.Meter
		m.Add(sound.Data)
		if us, ok := m.Length(); ok {
			return timeline.Some(us)
		}
	}
	return none
}

// transcriptDecoder reads the text of a transcript.
type transcriptDecoder struct {
	r       reading
	text    jsonscan.Text
	seconds float64 // that the server says it heard
	split   []byte  // the beginning of a letter
	events  bool    // some were JSON
}

// The last event says all of the text again, and so do those of segments: that is no
// token, unless nothing else came.
func (d *transcriptDecoder) apply(_ framing.Event, s *Stream) {
	if us := d.seconds * 1e6; !s.tl.AudioUS.OK() && us >= 1 && us < 1e15 {
		s.tl.AudioUS = timeline.Some(int64(us)) // a proxy does not read what is uploaded
	}
	otherwise, last := timeline.Empty, false
	switch is := d.r.kind.Is; {
	case is("transcript.text.done"), is("transcription.done"):
		otherwise, last = timeline.UsageEvent, true
		if s.tokens == 0 {
			d.r.add(timeline.Text, d.text)
		}
	case is("transcript.text.segment"), is("transcription.segment"), is("transcription.language"):
		otherwise = timeline.Progress
	case is("transcription.text.delta"), d.r.whole:
		d.r.add(timeline.Text, d.text)
	case is("") && !d.text.Empty(): // a segment of faster-whisper-server and Speaches, in the form of a whole reply, or words
		s.endless = true
		d.r.add(timeline.Text, d.text)
	}
	d.r.apply(s, otherwise)
	if last {
		s.done()
	}
}

// Raw implements rawDecoder: the text itself. A letter that a read ends in the middle of
// is kept with the next.
func (d *transcriptDecoder) Raw(data []byte, s *Stream) {
	s.add(timeline.Text, 0, int64(len(data)), none)
	text := append(d.split, data...)
	n := len(text)
	for k := 1; k <= min(n, utf8.UTFMax-1); k++ {
		if utf8.RuneStart(text[n-k]) {
			if !utf8.FullRune(text[n-k:]) {
				n -= k
			}
			break
		}
	}
	s.keep(timeline.Text, 0, jsonscan.Text{Raw: text[:n], Wide: true})
	d.split = append(d.split[:0], text[n:]...)
}

func (d *transcriptDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.text, d.seconds = jsonscan.Text{}, 0
	if d.wordsIn(e) {
		d.text = jsonscan.Text{Raw: e.Data, Wide: true}
		return true
	}
	d.events = true
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.r.typed()
		case "delta":
			d.r.piece(timeline.Text)
		case "text":
			d.text, _ = c.Text()
		case "choices": // vLLM's chunks
			for range c.Elements {
				d.choice(c)
			}
		case "usage":
			d.usage(c)
		case "duration": // of verbose_json: a number, or its text
			d.length(c)
		default:
			d.r.member(name)
		}
	}
	return c.End()
}

// wordsIn reports whether an event's data is of the transcript itself: words behind JSON
// are the server's own. A word may well be "error": an error has a bracket before it, or a
// colon behind.
func (d *transcriptDecoder) wordsIn(e framing.Event) bool {
	failed := saysError(e.Data) && (e.Data[0] == '[' || bytes.HasPrefix(e.Data[len("error"):], []byte(":")))
	return !d.events && !d.r.whole && e.Name != "error" && !failed && !bytes.HasPrefix(e.Data, []byte("{"))
}

func (d *transcriptDecoder) choice(c *scan) {
	for name := range c.Members {
		switch string(name) {
		case "delta":
			c.under("content", func() { d.r.piece(timeline.Text) })
		case "finish_reason":
			d.r.finish = c.reason()
		}
	}
}

// usage reads counts of tokens, or of seconds: by what a model is billed.
func (d *transcriptDecoder) usage(c *scan) {
	from := c.Place()
	c.usage(&d.r.usage, &d.r.timings)
	d.r.hasUsage = true
	var again scan
	again.Reset(c.Since(from))
	for name := range again.Members {
		switch string(name) {
		case "seconds", "prompt_audio_seconds":
			d.length(&again)
		}
	}
}

func (d *transcriptDecoder) length(c *scan) {
	if seconds, ok := c.Float(); ok {
		d.seconds = seconds
	}
}
