package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/wire/audio"
	"tokenmeter/wire/jsonscan"
)

// Realtime is OpenAI's Realtime API, which is spoken over a WebSocket alone:
// /v1/realtime?model=NAME. Its server keeps the conversation on the connection, and
// replies in the events of the Responses API, with response.done at the end. Source:
// OpenAI's API reference and Python library, realtime. The names that the events had
// in its beta are read too.
var Realtime = &API{
	Name:      "realtime",
	Path:      "/v1/realtime",
	Create:    createRealtime,
	Begins:    beginsRealtime,
	Remembers: true,
	Decoder:   func() Decoder { return &responsesDecoder{realtime: true} },
	Signs:     []Sign{{"type=session.created"}, {"type=response.*", "event_id"}},
}

// createRealtime writes the items of the conversation, and response.create behind
// them. Text is asked for; further fields are of the response. A conversation that goes
// on needs its new items only.
func createRealtime(r *Request, previous string) (Call, error) {
	switch {
	case r.hasTools():
		return Call{}, errNoTools
	case r.hasVideos():
		return Call{}, errNoVideos
	}
	var out realtimeMessages
	if previous == "" && r.sound() != nil {
		out.add("session.update", "session", json.RawMessage(listening))
	}
	for i := range r.Messages {
		if err := out.item(&r.Messages[i]); err != nil {
			return Call{}, err
		}
	}
	response := map[string]any{"output_modalities": []string{"text"}}
	r.limits(response, cmp.Or(r.MaxTokensField, "max_output_tokens"))
	more := Request{Extra: r.Extra}
	call, err := more.call("/v1/realtime?model="+url.QueryEscape(r.Model), response)
	out.add("response.create", "response", json.RawMessage(call.Body))
	call.Body = out
	return call, err
}

const (
	// listening is a session that takes sound and answers when it is asked to, not when
	// somebody pauses.
	listening = `{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"turn_detection":null}}}`
	// realtimeHz is how many samples a second the API takes, and realtimePiece how many
	// bytes of them a message has: a second.
	realtimeHz    = 24_000
	realtimePiece = 2 * realtimeHz
)

// realtimeMessages are messages of a client, a line each.
type realtimeMessages []byte

// add adds a message of a type, with a member unless its name is empty.
func (m *realtimeMessages) add(kind, name string, value any) {
	message := map[string]any{name: value, "type": kind}
	delete(message, "")
	data, err := json.Marshal(message)
	if err != nil {
		return // of what can't be written the caller knows
	}
	if len(*m) > 0 {
		*m = append(*m, '\n')
	}
	*m = append(*m, data...)
}

// item adds a message of the conversation. Sound goes into the session's buffer, which
// becomes a message.
func (m *realtimeMessages) item(of *Message) error {
	if of.Sound != nil {
		samples, err := audio.PCM(of.Sound.Data, realtimeHz)
		if err != nil {
			return err
		}
		for piece := range slices.Chunk(samples, realtimePiece) {
			m.add("input_audio_buffer.append", "audio", piece)
		}
		m.add("input_audio_buffer.commit", "", nil)
		return nil
	}
	var content []any
	for _, picture := range of.Images {
		content = append(content, responsesImage(picture))
	}
	kind := "input_text"
	if of.Role == "assistant" {
		kind = "output_text"
	}
	if of.Content != "" || content == nil {
		content = append(content, map[string]any{"type": kind, "text": of.Content})
	}
	m.add("conversation.item.create", "item", map[string]any{"type": "message", "role": of.Role, "content": content})
	return nil
}

// CheckSamples says why the bare samples of a file can't be sent; nil: they can.
func CheckSamples(wav []byte) error {
	_, err := audio.PCM(wav, realtimeHz)
	return err
}

// soundType is how the sound of the deltas is to be read: Realtime sends bare samples,
// the Responses API files too.
func (d *responsesDecoder) soundType() string {
	if !d.realtime || d.sound.meter != nil {
		return ""
	}
	kind := cmp.Or(d.format, "audio/pcm")
	if d.hz > 0 {
		kind += "; rate=" + strconv.FormatInt(d.hz, 10)
	}
	return kind
}

// soundFormat reads the format of a reply's sound.
func (d *responsesDecoder) soundFormat() {
	for name := range d.r.c.Members {
		switch string(name) {
		case "type":
			t, _ := d.r.c.Text()
			d.format = t.String()
		case "rate":
			d.hz, _ = d.r.c.Integer()
		}
	}
}

// beginsRealtime reports whether a message of the server is of a reply. Others tell of
// the session, or repeat what they were sent.
func beginsRealtime(message []byte) bool {
	var c scan
	var kind jsonscan.Text
	c.Reset(message)
	c.under("type", func() { kind, _ = c.Text() })
	return ofRealtimeReply(kind)
}

// ofRealtimeReply reports whether an event of a type is of a reply. An error is, since
// nothing tells of what else.
func ofRealtimeReply(kind jsonscan.Text) bool {
	return kind.Empty() || kind.Is("error") || bytes.HasPrefix(kind.Raw, []byte("response."))
}

// ofTranscriber reports whether a failure has the code of a server that transcribes under
// the same path and knows no responses. Source: vLLM, entrypoints/openai/realtime/connection.py.
func ofTranscriber(words string) bool {
	for _, code := range []string{"unknown_event", "processing_error", "model_not_validated"} {
		if strings.HasSuffix(words, "(code "+code+")") {
			return true
		}
	}
	return false
}
