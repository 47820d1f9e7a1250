package api

import (
	"encoding/base64"
	"unicode/utf8"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/audio"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
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
	Signs:   []Sign{{"type=speech.audio.*"}, {"type=conversation.item.audio_output.*"}},
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
		tl.AudioUS = r.heardUS()
		r.describeMedia(tl)
	}
}

// sounding measures sound as it comes.
type sounding struct {
	meter *audio.Meter
	buf   []byte
}

// take takes a piece of the sound, whose type is kind (empty: its bytes tell), notes on
// the timeline how long all of it plays, and returns how many bytes of sound it has.
func (d *sounding) take(data []byte, kind string, s *Stream) int64 {
	if d.meter == nil {
		d.meter = audio.NewMeter(kind)
	}
	n := d.meter.Add(data)
	s.tl.AudioUS, s.tl.AudioRate = none, none
	if us, ok := d.meter.Length(); ok {
		s.tl.AudioUS = timeline.Some(us)
	}
	if rate, ok := d.meter.Rate(); ok {
		s.tl.AudioRate = timeline.Some(rate)
	}
	return n
}

// takeText takes a piece in base64; not ok where it is none.
func (d *sounding) takeText(text jsonscan.Text, kind string, s *Stream) (n int64, ok bool) {
	d.buf = text.Append(d.buf[:0])
	end := len(d.buf)
	var err error
	if d.buf, err = base64.StdEncoding.AppendDecode(d.buf, d.buf); err != nil {
		return 0, false
	}
	return d.take(d.buf[end:], kind, s), true
}

type speechDecoder struct {
	r     reading
	audio jsonscan.Text // the base64 text of the event's sound
	sound sounding
}

// Raw implements rawDecoder.
func (d *speechDecoder) Raw(data []byte, s *Stream) {
	heard(d.sound.take(data, s.header.Get("Content-Type"), s), s)
}

// heard records a piece of sound. One that has only a header plays for no time.
func heard(n int64, s *Stream) {
	if n == 0 {
		s.add(timeline.Empty, 0, 0, none)
	} else {
		s.add(timeline.Media, 0, n, none)
	}
}

// A whole reply, which is JSON, is an error, but where it has the sound as a text, as
// Mistral's has.
func (d *speechDecoder) apply(e framing.Event, s *Stream) {
	done := d.r.kind.Is("speech.audio.done") || d.r.kind.Is("conversation.item.audio_output.done")
	s.usage.merge(d.r.usage)
	if !d.audio.Empty() && !done && len(d.r.errors) == 0 {
		n, ok := d.sound.takeText(d.audio, "", s)
		switch {
		case ok:
			heard(n, s)
			return
		case !d.r.whole:
			s.bad(e)
			return
		}
	}
	if len(d.r.errors) == 0 && !done {
		d.r.errors = refusal(e.Data)
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

func (d *speechDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.audio = jsonscan.Text{}
	for name := range c.Members {
		switch string(name) {
		case "type":
			d.r.typed()
		case "audio", "audio_data", "delta": // of OpenAI, Mistral, Together
			d.audio, _ = c.Text()
		default:
			d.r.account(name)
		}
	}
	return c.End()
}
