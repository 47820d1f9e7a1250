package api

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// The messages of a conversation that begins and of one that goes on, in the members
// that OpenAI's Python library has in types/realtime.
func TestRealtimeRequest(t *testing.T) {
	r := &Request{Model: "gpt realtime", MaxTokens: timeline.Some(int64(8)), Messages: []Message{
		{Role: "system", Content: "s"}, {Role: "user", Content: "hi\nyou"}, {Role: "assistant", Content: "a"}, {Role: "user", Content: "more"}},
		Extra: map[string]any{"instructions": "be brief", "output_modalities": []string{"audio"}}}
	call, err := Realtime.Create(r, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := "/v1/realtime?model=gpt+realtime"; call.Path != want {
		t.Errorf("path %s, want %s", call.Path, want)
	}
	want := strings.Join([]string{
		`{"item":{"content":[{"text":"s","type":"input_text"}],"role":"system","type":"message"},"type":"conversation.item.create"}`,
		`{"item":{"content":[{"text":"hi\nyou","type":"input_text"}],"role":"user","type":"message"},"type":"conversation.item.create"}`,
		`{"item":{"content":[{"text":"a","type":"output_text"}],"role":"assistant","type":"message"},"type":"conversation.item.create"}`,
		`{"item":{"content":[{"text":"more","type":"input_text"}],"role":"user","type":"message"},"type":"conversation.item.create"}`,
		`{"response":{"instructions":"be brief","max_output_tokens":8,"output_modalities":["audio"]},"type":"response.create"}`}, "\n")
	if string(call.Body) != want {
		t.Errorf("got\n%s\nwant\n%s", call.Body, want)
	}
	call, _ = Realtime.Create(&Request{Model: "m", MaxTokens: timeline.Some(int64(8)), MaxTokensField: "max_response_output_tokens", IgnoreEOS: true, Messages: []Message{{Role: "user", Content: "more"}}}, "resp_1")
	want = `{"item":{"content":[{"text":"more","type":"input_text"}],"role":"user","type":"message"},"type":"conversation.item.create"}` + "\n" +
		`{"response":{"ignore_eos":true,"max_response_output_tokens":8,"output_modalities":["text"]},"type":"response.create"}`
	if string(call.Body) != want {
		t.Errorf("got\n%s\nwant\n%s", call.Body, want)
	}
	if _, err := Realtime.Create(&Request{Messages: []Message{{Role: "tool", ToolCallID: "c"}}}, ""); err == nil {
		t.Error("a tool's message was taken")
	}
	if _, err := Realtime.Create(&Request{Messages: []Message{{Role: "user", Images: []Image{{MIME: "video/mp4"}}}}}, ""); err == nil {
		t.Error("a video was taken")
	}
}

// realtimeOf plays messages of a WebSocket.
func realtimeOf(messages string) *timeline.Timeline {
	return replay(Realtime, Head{http.StatusSwitchingProtocols, http.Header{}}, [][]byte{[]byte(messages)}, timeline.EOF)
}

// Synthetic replies with the members of OpenAI's types, and with those of the beta as
// other people's logs have them.
func TestRealtimeReplies(t *testing.T) {
	for name, c := range map[string]struct {
		outcome                    timeline.Outcome
		kinds, finish, usage, text string
		words                      string
	}{
		"text": {timeline.OK, "role progress empty progress empty text text empty empty empty progress finish", "completed",
			`{"input":127,"cached":64,"output":15,"total":142}`, "Hello there", ""},
		"beta":       {timeline.OK, "role empty progress empty text text empty empty empty finish progress", "completed", `{"input":9,"cached":0,"output":4,"total":13}`, "ok.", ""},
		"incomplete": {timeline.OK, "role text finish", "max_output_tokens", `{"input":5,"cached":0,"output":1,"total":6}`, "Once", ""},
		"cancelled":  {timeline.StreamError, "role text error", "", `{"input":5,"cached":0,"output":1,"total":6}`, "On", "the response was cancelled: turn_detected"},
		"failed":     {timeline.StreamError, "role error", "", "{}", "", "insufficient_quota"},
		"error":      {timeline.StreamError, "role text error", "", "{}", "Hm", "The server had an error"},
		"tool":       {timeline.OK, "role tool tool tool empty finish", "completed", `{"input":40,"cached":0,"output":12,"total":52}`, "", ""},
		"whole":      {timeline.OK, "role text", "completed", "{}", "All at once", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/realtime", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			tl := realtimeOf(string(data))
			if got := kinds(tl); tl.Outcome != c.outcome || got != c.kinds || tl.FinishReason != c.finish || jsonOf(tl.Usage) != c.usage || tl.Text != c.text {
				t.Errorf("%s %v\n %s\n finish %q, usage %s, text %q", tl.Outcome, tl.Error, got, tl.FinishReason, jsonOf(tl.Usage), tl.Text)
			}
			if c.words != "" && (tl.Error == nil || !strings.Contains(tl.Error.Message, c.words)) {
				t.Errorf("%v does not say %q", tl.Error, c.words)
			}
			if tl.Outcome == timeline.OK && tl.Flags != 0 {
				t.Errorf("flags %v", tl.Flags.Names())
			}
			if name == "text" && jsonOf(tl.Server) != `{"input_audio_tokens":8}` {
				t.Errorf("server %v", tl.Server)
			}
			if a := Recognise(data); a != Realtime {
				t.Errorf("recognised as %+v", a)
			}
		})
	}
}

// vLLM's /v1/realtime transcribes; what it answers to a conversation, and to a session
// without "model", as its connection.py writes them.
func TestRealtimeOfATranscriber(t *testing.T) {
	for said, want := range map[string]bool{
		`{"type":"error","error":"Unknown event type: conversation.item.create","code":"unknown_event"}`:  true,
		`{"type":"error","error":"'model'","code":"processing_error"}`:                                    true,
		`{"type":"error","error":{"type":"invalid_request_error","code":"invalid_value","message":"no"}}`: false,
	} {
		tl := realtimeOf(said + "\n")
		if tl.Outcome != timeline.StreamError || strings.Contains(tl.Error.Message, "transcription") != want {
			t.Errorf("%s: %s, %v", said, tl.Outcome, tl.Error)
		}
	}
}

// Sound comes in base64 beside its transcript: bare samples, of the rate and kind that the
// response says, in the names of today and of the beta.
func TestRealtimeSound(t *testing.T) {
	second := base64.StdEncoding.EncodeToString(make([]byte, 48_000))
	for name, c := range map[string]struct {
		response, transcript, sound string
		rate, us                    int64
	}{
		"not told":    {`{}`, "response.output_audio_transcript.delta", "response.output_audio.delta", 48_000, 2e6},
		"24,000":      {`{"audio":{"input":{"format":{"type":"x"}},"output":{"voice":"marin","format":{"type":"audio/pcm","rate":24000}}}}`, "response.output_audio_transcript.delta", "response.output_audio.delta", 48_000, 2e6},
		"16,000":      {`{"audio":{"output":{"format":{"rate":16000,"type":"audio/pcm"}}}}`, "response.output_audio_transcript.delta", "response.output_audio.delta", 32_000, 3e6},
		"µ-law":       {`{"audio":{"output":{"format":{"type":"audio/pcmu"}}}}`, "response.output_audio_transcript.delta", "response.output_audio.delta", 8000, 12e6},
		"beta":        {`{"output_audio_format":"pcm16"}`, "response.audio_transcript.delta", "response.audio.delta", 48_000, 2e6},
		"beta, G.711": {`{"output_audio_format":"g711_alaw"}`, "response.audio_transcript.delta", "response.audio.delta", 8000, 12e6},
	} {
		t.Run(name, func(t *testing.T) {
			event := func(kind, delta string) string {
				return `{"type":"` + kind + `","output_index":0,"delta":"` + delta + `"}` + "\n"
			}
			reply := `{"type":"response.created","response":` + c.response + "}\n" + event(c.transcript, "Hel") + event(c.sound, second) + event(c.sound, "?") +
				event(c.transcript, "lo") + event(c.sound, strings.ReplaceAll(second, "/", `\/`)) + `{"type":"response.output_audio.done","output_index":0}` + "\n" +
				`{"type":"response.output_audio_transcript.done","output_index":0,"transcript":"Hello"}` + "\n" +
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_audio","transcript":"Hello"}]}}` + "\n" +
				`{"type":"response.done","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_audio","transcript":"Hello"}]}]}}` + "\n"
			tl := realtimeOf(reply)
			if got := kinds(tl); got != "role text media empty text media empty empty empty finish" || tl.Outcome != timeline.OK || tl.Text != "Hello" || tl.Flags != timeline.MalformedEvent {
				t.Errorf("%s %v: %s, text %q, flags %v", tl.Outcome, tl.Error, got, tl.Text, tl.Flags.Names())
			}
			if tl.AudioRate.Or(-1) != c.rate || tl.AudioUS.Or(-1) != c.us {
				t.Errorf("%v bytes/s, %v µs", tl.AudioRate, tl.AudioUS)
			}
		})
	}
}

// Sound is sent second by second behind a session that does not listen for pauses, as
// 24,000 samples a second.
func TestRealtimeHears(t *testing.T) {
	wav := append([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff"), make([]byte, 48_000+4)...)
	r := &Request{Model: "m", Messages: []Message{{Role: "user", Sound: &Sound{Name: "a.wav", Data: wav}}}}
	call, err := Realtime.Create(r, "")
	if err != nil {
		t.Fatal(err)
	}
	second := base64.StdEncoding.EncodeToString(make([]byte, 48_000))
	want := `{"session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"turn_detection":null}}},"type":"session.update"}
{"audio":"` + second + `","type":"input_audio_buffer.append"}
{"audio":"AAAAAA==","type":"input_audio_buffer.append"}
{"type":"input_audio_buffer.commit"}
{"response":{"output_modalities":["text"]},"type":"response.create"}`
	if string(call.Body) != want {
		t.Errorf("%.300s … %s", call.Body, call.Body[len(call.Body)-300:])
	}
	if call, _ := Realtime.Create(r, "resp_1"); strings.Contains(string(call.Body), "session.update") {
		t.Error("the session is set up twice")
	}
	r.Messages[0].Sound.Data = []byte("ID3 and more")
	if _, err := Realtime.Create(r, ""); err == nil {
		t.Error("an MP3 file was taken")
	}
}

// A reply begins with an event of its own, or an error.
func TestRealtimeBegins(t *testing.T) {
	for message, want := range map[string]bool{
		`{"event_id":"e","type":"response.created","response":{}}`: true,
		`{"type":"error","error":{"message":"no"}}`:                true,
		`{"error":{"message":"no"}}`:                               true,
		`{"type":"session.created","session":{"type":"realtime"}}`: false,
		`{"type":"conversation.item.done","item":{"id":"i"}}`:      false,
		`{"type":"rate_limits.updated","rate_limits":[]}`:          false,
		`{"type":"input_audio_buffer.committed","item_id":"i"}`:    false,
	} {
		if beginsRealtime([]byte(message)) != want {
			t.Errorf("%s begins a reply: %v", message, !want)
		}
	}
}
