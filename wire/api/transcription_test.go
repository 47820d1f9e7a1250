package api

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

func TestTranscriptionRequest(t *testing.T) {
	sound := []byte("RIFF\x00\xff--\r\n" + boundary[:8])
	r := &Request{Model: "whisper-1", Stream: true, MaxTokens: timeline.Some(int64(8)), Extra: map[string]any{"language": "de", "temperature": 0.5, "response_format": nil},
		Messages: []Message{{Role: "user", Sound: &Sound{Name: `a "b".wav`, Data: sound}}}}
	call, err := Transcription.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(call.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || call.Path != Transcription.Path {
		t.Fatalf("%s %s: %v", call.Path, kind, err)
	}
	got := map[string]string{}
	form := multipart.NewReader(bytes.NewReader(call.Body), params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(part)
		got[part.FormName()+"|"+part.FileName()] = string(data)
	}
	want := map[string]string{"model|": "whisper-1", "stream|": "true", "language|": "de", "temperature|": "0.5", `file|a "b".wav`: string(sound)}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got %s\nwant %s", a, b)
	}
	if _, err := Transcription.Build(&Request{Messages: []Message{{Content: "hi"}}}); err == nil {
		t.Error("a request without sound is built")
	}
	if _, err := OpenAIChat.Build(r); err == nil || !strings.Contains(err.Error(), "takes no sound") {
		t.Errorf("sound goes to a chat: %v", err)
	}
}

// Replies by the examples of the vendors' references and libraries (synthetic). Of a
// proxy's requests only the server tells how long the sound was.
func TestTranscriptReplies(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		outcome          timeline.Outcome
		text             string
		tokens           int64 // generation events
		us               int64 // −1: null
		usage, say       string
	}{
		{"OpenAI, tokens", "application/json", `{"text":"Hello there.","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},"output_tokens":4,"total_tokens":18}}`,
			timeline.OK, "Hello there.", 1, -1, `{"input":14,"output":4,"total":18}`, ""},
		{"Whisper, seconds", "application/json", `{"text":"Hello.","usage":{"type":"duration","seconds":9}}`, timeline.OK, "Hello.", 1, 9e6, `{}`, ""},
		{"verbose_json", "application/json", `{"task":"transcribe","language":"english","duration":8.470000267028809,"text":"Hello.","segments":[{"id":0,"text":"Hello.","start":0.0}],"usage":{"type":"duration","seconds":9}}`,
			timeline.OK, "Hello.", 1, 9e6, `{}`, ""},
		{"OpenAI's events", "text/event-stream", `data: {"type":"transcript.text.delta","delta":"I"}

data: {"type":"transcript.text.delta","delta":" see"}

data: {"type":"transcript.text.segment","id":"seg_0","start":0.0,"end":1.2,"text":"I see","speaker":"A"}

data: {"type":"transcript.text.done","text":"I see","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}

`, timeline.OK, "I see", 2, -1, `{"input":14,"output":45,"total":59}`, ""},
		{"only the last event has text", "text/event-stream", `data: {"type":"transcript.text.done","text":"I see"}` + "\n\n", timeline.OK, "I see", 1, -1, `{}`, ""},
		{"vLLM's chunks", "text/event-stream", `data: {"id":"trsc-1","object":"transcription.chunk","created":1,"model":"w","choices":[{"delta":{"content":" He"},"finish_reason":null}]}

data: {"id":"trsc-1","object":"transcription.chunk","created":1,"model":"w","choices":[{"delta":{"content":"llo"},"finish_reason":"stop","stop_reason":null}]}

data: [DONE]

`, timeline.OK, " Hello", 2, -1, `{}`, ""},
		{"Mistral's events", "text/event-stream", `data: {"type":"transcription.language","audio_language":"en"}

data: {"type":"transcription.text.delta","text":"He"}

data: {"type":"transcription.text.delta","text":"llo"}

data: {"type":"transcription.done","model":"voxtral","text":"Hello","usage":{"prompt_audio_seconds":12,"prompt_tokens":4,"total_tokens":400,"completion_tokens":4},"language":"en"}

`, timeline.OK, "Hello", 2, 12e6, `{"input":396,"output":4,"total":400}`, ""},
		{"faster-whisper-server's segments", "text/event-stream", `data: {"text":"Four score and"}` + "\n\n" + `data: {"text":" seven years ago"}` + "\n\n", timeline.OK, "Four score and seven years ago", 2, -1, `{}`, ""},
		{"its verbose segments", "text/event-stream", `data: {"task":"transcribe","language":"en","duration":9.5,"text":" Hello","words":null,"segments":[{"id":1,"seek":0,"start":0.0,"end":2.0,"text":" Hello"}]}` + "\n\n", timeline.OK, " Hello", 1, 9_500_000, `{}`, ""},
		{"transformers' words", "text/event-stream", "data:  Hello\n\ndata:  there,\n\ndata:  \"C:\\ 1 Hällo\n\ndata: 42\n\n", timeline.OK, " Hello there, \"C:\\ 1 Hällo42", 4, -1, `{}`, ""},
		{"its error behind them", "text/event-stream", "data:  Hello\n\ndata: {\"error\": \"CUDA \"oom\"\"}\n\n", timeline.StreamError, " Hello", 1, -1, `{}`, "oom"},
		{"a word of its own", "text/event-stream", "data: Errors are human, \n\ndata: an \n\ndata: error \n\n", timeline.OK, "Errors are human, an error ", 3, -1, `{}`, ""},
		{"an error in brackets", "text/event-stream", "data: [ERROR] no such model\n\n", timeline.StreamError, "", 0, -1, `{}`, "no such model"},
		{"an error in words", "text/event-stream", "data: Error: no such model\n\n", timeline.StreamError, "", 0, -1, `{}`, "no such model"},
		{"cut off", "text/event-stream", `data: {"type":"transcript.text.delta","delta":"I"}` + "\n\n", timeline.StreamTruncated, "I", 1, -1, `{}`, ""},
		{"an error within", "text/event-stream", `data: {"type":"error","error":{"message":"overloaded"}}` + "\n\n", timeline.StreamError, "", 0, -1, `{}`, "overloaded"},
		{"nothing was said", "application/json", `{"text":""}`, timeline.EmptyOutput, "", 0, -1, `{}`, ""},
		{"wanted as text", "text/plain; charset=utf-8", "C:\\ Hällo\n", timeline.OK, "C:\\ Hällo\n", 11, -1, `{}`, ""},
		{"wanted as text, and empty", "text/plain", "", timeline.EmptyOutput, "", 0, -1, `{}`, ""},
		{"an error of status 200", "application/json", `{"error":{"message":"no such model"}}`, timeline.StreamError, "", 0, -1, `{}`, "no such model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := timeline.New()
			s := NewStream(tl, Transcription, StreamOptions{KeepText: true})
			s.Head(1000, Head{200, map[string][]string{"Content-Type": {c.kind}}})
			for i := range len(c.body) {
				s.Read(2000+int64(i), 0, []byte(c.body[i:i+1]))
			}
			s.End(900_000, timeline.EOF, nil, nil)
			var n int64
			for range tl.Events.Generation() {
				n++
			}
			usage, _ := json.Marshal(tl.Usage)
			if tl.Outcome != c.outcome || tl.Text != c.text || n != c.tokens || tl.AudioUS.Or(-1) != c.us || string(usage) != c.usage {
				t.Errorf("%s (%v), %q in %d, %v µs, %s", tl.Outcome, tl.Error, tl.Text, n, tl.AudioUS.Or(-1), usage)
			}
			if c.say != "" && (tl.Error == nil || !strings.Contains(tl.Error.Message, c.say)) {
				t.Errorf("%v does not say %q", tl.Error, c.say)
			}
			if tl.Flags.Has(timeline.MalformedEvent) || strings.Contains(c.name, "segments") && tl.Flags.Has(timeline.NoFinish) {
				t.Errorf("flags %v", tl.Flags.Names())
			}
			// vLLM's chunks are those of its chat.
			if a := Recognise([]byte(c.body)); c.kind == "text/event-stream" && c.say == "" && a != Transcription && c.name != "vLLM's chunks" && strings.Contains(c.body, `"type"`) {
				t.Errorf("recognised as %+v", a)
			}
		})
	}
}

// Segments and words without an end are whole where the body is, and not where it was cut;
// words in a stream of JSON are no transcript.
func TestSegmentsCutOff(t *testing.T) {
	const segment, words = `data: {"text":"Four score and"}` + "\n\n", "data:  Four score and\n\n"
	for _, c := range []struct {
		body string
		end  timeline.End
	}{
		{segment, timeline.Cut}, {words, timeline.Cut},
		{`data: {"type":"transcript.text.delta","delta":"I"}` + "\n\n" + words, timeline.EOF},
	} {
		if tl := reply(Transcription, "text/event-stream", c.body, c.end); tl.Outcome != timeline.StreamTruncated || tl.Text == "" || strings.Contains(tl.Text, "I ") {
			t.Errorf("%q: %s (%v), %q", c.body, tl.Outcome, tl.Error, tl.Text)
		}
	}
}
