package api

import (
	"encoding/base64"
	"unicode/utf8"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/audio"
	"tokenmeter/wire/framing"
)

// Speech is POST /v1/audio/speech: text becomes sound, which comes as the bytes of a
// file, or in server-sent events where stream_format is sse. Source: OpenAI's API
// reference, audio/speech; vLLM, Kokoro-FastAPI, LocalAI and others speak it too.
//
// WAV is asked for, as its bytes tell exactly how long it plays; parameters choose
// another format, voice and stream_format.
var Speech = &API{
	Name: "speech",
	Path: "/v1/audio/speech",
	Build: func(r *Request) (Call, error) {
		return r.call("/v1/audio/speech", map[string]any{"model": r.Model, "input": r.Prompt(), "voice": "alloy", "response_format": "wav"})
	},
	Decoder: func() Decoder { return new(speechDecoder) },
	Signs:   []Sign{{"type=speech.audio.*"}},
}

// Describe notes on a request's timeline how much it asks for: texts, characters,
// seconds of sound or pictures, by what the API takes, and what it has to look at.
func (a *API) Describe(r *Request, tl *timeline.Timeline) {
	tl.Inputs = a.Inputs(r)
	switch a.Product() {
	case timeline.Speech:
		tl.Chars = timeline.Some(int64(utf8.RuneCountInString(r.Prompt())))
	case timeline.Transcript:
		tl.AudioUS = r.heardUS()
	case timeline.Pictures:
		tl.Images, tl.Asked = timeline.Some(r.wanted()), r.showsSteps()
	case timeline.Words:
		r.shown(tl)
	}
}

// speechDecoder measures the sound as it comes.
type speechDecoder struct {
	r     reading
	meter *audio.Meter
	buf   []byte
}

// Raw implements rawDecoder.
func (d *speechDecoder) Raw(data []byte, s *Stream) { d.heard(data, s.header.Get("Content-Type"), s) }

// heard takes a piece of the sound. One that has only a header plays for no time.
func (d *speechDecoder) heard(data []byte, kind string, s *Stream) {
	if d.meter == nil {
		d.meter = audio.NewMeter(kind)
	}
	n := d.meter.Add(data)
	if n == 0 {
		s.add(timeline.Empty, 0, 0, none)
	} else {
		s.add(timeline.Media, 0, n, none)
	}
	s.tl.AudioUS, s.tl.AudioRate = none, none
	if us, ok := d.meter.Length(); ok {
		s.tl.AudioUS = timeline.Some(us)
	}
	if rate, ok := d.meter.Rate(); ok {
		s.tl.AudioRate = timeline.Some(rate)
	}
}

// Event implements Decoder.
func (d *speechDecoder) Event(e framing.Event, s *Stream) bool {
	sound, done, ok := d.read(e.Data)
	if !ok {
		return false
	}
	if len(sound) > 0 && !done && len(d.r.errors) == 0 {
		var err error
		if d.buf, err = base64.StdEncoding.AppendDecode(d.buf[:0], sound); err != nil {
			s.bad(e.Partial)
			return true
		}
		d.heard(d.buf, "", s)
		return true
	}
	d.settle(e.Data, done, s)
	return true
}

// Body implements Decoder: a JSON text is no sound, but an error.
func (d *speechDecoder) Body(data []byte, s *Stream) bool {
	if _, _, ok := d.read(data); !ok {
		return false
	}
	d.settle(data, false, s)
	return true
}

// settle takes an event without sound.
func (d *speechDecoder) settle(data []byte, done bool, s *Stream) {
	s.usage.merge(d.r.usage)
	if len(d.r.errors) == 0 && !done {
		d.r.errors = refusal(data)
	}
	switch {
	case len(d.r.errors) > 0:
		s.fail(wordsOf(d.r.errors))
	case done:
		s.done()
	default:
		s.add(timeline.Empty, 0, 0, none)
	}
}

// read reads an event: the base64 text of its sound, and whether it is the last.
func (d *speechDecoder) read(data []byte) (sound []byte, done, ok bool) {
	c := d.r.start(data, false)
	for name := range c.Members {
		switch string(name) {
		case "type":
			kind, _ := c.Text()
			done = kind.Is("speech.audio.done")
		case "audio":
			text, _ := c.Text()
			sound = text.Append(sound)
		case "usage":
			c.usage(&d.r.usage, &d.r.timings)
		case "error":
			d.r.errors = c.problem()
		default:
			c.Skip()
		}
	}
	return sound, done, c.End()
}
