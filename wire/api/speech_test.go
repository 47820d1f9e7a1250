package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Events as OpenAI's reference shows them (synthetic): 4 bytes of bare PCM each.
const speechEvents = `data: {"type":"speech.audio.delta","audio":"AAABAA=="}

data: {"type":"speech.audio.delta","audio":"AAABAA=="}

data: {"type":"speech.audio.done","usage":{"input_tokens":14,"output_tokens":101,"total_tokens":115}}

`

// As Together's reference shows them (synthetic).
const togetherEvents = `data: {"type":"conversation.item.audio_output.delta","item_id":"tts_1","delta":"AAABAA=="}

data: {"type":"conversation.item.word_timestamps","words":["Hello"],"start_seconds":[0.0],"end_seconds":[0.4]}

data: {"type":"conversation.item.audio_output.delta","item_id":"tts_1","delta":"AAABAA=="}

data: [DONE]

`

// Replies with sound, and what stands in its place.
func TestSpeechReplies(t *testing.T) {
	wav := "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff"
	for _, c := range []struct {
		name, kind, body string
		end              timeline.End
		outcome          timeline.Outcome
		sound            int64
		us               int64 // −1: null
		say              string
	}{
		{"WAV", "audio/wav", wav + strings.Repeat("ab", 24_000), timeline.EOF, timeline.OK, 48_000, 1e6, ""},
		{"WAV without a type", "", wav + strings.Repeat("ab", 24_000), timeline.EOF, timeline.OK, 48_000, 1e6, ""},
		{"bare PCM that looks like JSON", "audio/pcm", `{"ab` + strings.Repeat("ab", 23_998), timeline.EOF, timeline.OK, 48_000, 1e6, ""},
		{"PCM that begins with white space", "application/octet-stream", "    \x01" + strings.Repeat("a", 47_995), timeline.EOF, timeline.OK, 48_000, 1e6, ""},
		{"a format that is not read", "audio/flac", "fLaC....", timeline.EOF, timeline.OK, 8, -1, ""},
		{"events", "text/event-stream", speechEvents, timeline.EOF, timeline.OK, 8, 166, ""},
		{"events of Mistral", "text/event-stream", strings.ReplaceAll(speechEvents, `"audio":`, `"audio_data":`), timeline.EOF, timeline.OK, 8, 166, ""},
		{"events of Together", "text/event-stream", togetherEvents, timeline.EOF, timeline.OK, 8, 166, ""},
		{"JSON with sound", "application/json", `{"audio_data":"AAABAA=="}`, timeline.EOF, timeline.OK, 4, 83, ""},
		{"a head alone", "audio/wav", wav, timeline.EOF, timeline.EmptyOutput, 0, -1, "holds no sound"},
		{"nothing", "audio/mpeg", "", timeline.EOF, timeline.EmptyOutput, 0, -1, "holds no sound"},
		{"cut off", "audio/wav", wav + "abcd", timeline.Cut, timeline.StreamTruncated, 4, 83, "closed in the middle"},
		{"events without an end", "text/event-stream", speechEvents[:60], timeline.EOF, timeline.StreamTruncated, 4, 83, ""},
		{"an error within the events", "text/event-stream", `data: {"type":"error","error":{"message":"overloaded"}}` + "\n\n", timeline.EOF, timeline.StreamError, 0, -1, "overloaded"},
		{"an error of status 200", "application/json", `{"error":{"message":"no such voice"}}`, timeline.EOF, timeline.StreamError, 0, -1, "no such voice"},
		{"the same without a type", "", `{"error":{"message":"no such voice"}}`, timeline.EOF, timeline.StreamError, 0, -1, "no such voice"},
		{"JSON without sound", "application/json", `{"id":"x"}`, timeline.EOF, timeline.EmptyOutput, 0, -1, "holds no sound"},
		{"a page", "text/html", "<html>sign in</html>", timeline.EOF, timeline.BadContentType, 0, -1, "text/html"},
		{"no base64", "text/event-stream", `data: {"type":"speech.audio.delta","audio":"?"}` + "\n\n" + speechEvents, timeline.EOF, timeline.OK, 8, 166, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, split := range []bool{false, true} {
				tl := timeline.New()
				s := NewStream(tl, Speech, StreamOptions{})
				s.Head(1000, Head{200, map[string][]string{"Content-Type": {c.kind}}})
				for i := 0; i < len(c.body); {
					n := len(c.body) - i
					if split {
						n = 1
					}
					s.Read(2000+int64(i), 0, []byte(c.body[i:i+n]))
					i += n
				}
				s.End(900_000, c.end, nil, nil)
				var sound int64
				for ev := range tl.Events.Generation() {
					sound += ev.Bytes
				}
				if tl.Outcome != c.outcome || sound != c.sound || tl.AudioUS.Or(-1) != c.us {
					t.Errorf("%s (%v), %d bytes, %v µs", tl.Outcome, tl.Error, sound, tl.AudioUS.Or(-1))
				}
				if c.say != "" && (tl.Error == nil || !strings.Contains(tl.Error.Message, c.say)) {
					t.Errorf("%v does not say %q", tl.Error, c.say)
				}
				if f := tl.Flags &^ timeline.MalformedEvent; f != 0 || tl.Flags.Has(timeline.MalformedEvent) != (c.name == "no base64") {
					t.Errorf("flags %v", tl.Flags.Names())
				}
			}
		})
	}
	if a := Recognise([]byte(speechEvents)); a != Speech {
		t.Errorf("recognised as %+v", a)
	}
}
