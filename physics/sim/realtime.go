package sim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// RealtimeHeard is how many tokens a second of the user's sound is, as OpenAI counts.
	RealtimeHeard = 10
	// voiceEvery is how the tokens of a reply in sound take turns: the first of so many
	// is a word of its transcript, the others are frames of sound.
	voiceEvery = 4
)

// realtime is /v1/realtime over a WebSocket, with replies in text: the conversation is
// the connection's, and a reply is made when it is asked for. Nothing listens for pauses.
var realtime = dialect{
	ends: []string{"/realtime"}, oneText: true, kind: eventStream, oneEnd: true,
	read: func(string, []byte) (askJSON, error) {
		return askJSON{}, errors.New("the Realtime API is spoken over a WebSocket: open one by GET")
	},
	begin: func(r *reply, b []byte) []byte {
		b = r.c.ws.appendEvent(b, "response.created", `"response":`, r.appendRealtimeResponse(nil, "in_progress", -1))
		b = r.c.ws.appendEvent(b, "rate_limits.updated", `"rate_limits":`, []byte(`[{"name":"tokens","limit":50000,"remaining":45000,"reset_seconds":0.1}]`))
		return r.c.ws.appendEvent(b, "response.output_item.added", r.place()+`"item":`, r.appendRealtimeItem(nil, -1))
	},
	piece: func(r *reply, b []byte, _ bool, from, to int, _ bool) []byte {
		if !r.voice {
			return r.c.ws.appendEvent(b, "response.output_text.delta", r.place()+`"content_index":0,"delta":`, r.appendText(nil, from, to))
		}
		for i := from; i < to; i++ {
			if i%voiceEvery == 0 {
				b = r.c.ws.appendEvent(b, "response.output_audio_transcript.delta", r.place()+`"content_index":0,"delta":`, r.appendText(nil, i, i+1))
			} else {
				sound := base64.StdEncoding.AppendEncode([]byte{'"'}, tone())
				b = r.c.ws.appendEvent(b, "response.output_audio.delta", r.place()+`"content_index":0,"delta":`, append(sound, '"'))
			}
		}
		return b
	},
	end: func(r *reply, b []byte) []byte {
		b = r.c.ws.appendEvent(b, "response.output_item.done", r.place()+`"item":`, r.appendRealtimeItem(nil, r.yielded))
		return r.c.ws.appendEvent(b, "response.done", `"response":`, r.appendRealtimeResponse(nil, r.responseStatus(), r.yielded))
	},
}

// place names the one item of a reply. The event's last member follows.
func (r *reply) place() string {
	return fmt.Sprintf(`"response_id":"%s","item_id":"item_%s","output_index":0,`, r.truth.ID, r.truth.ID)
}

// appendEvent adds an event: its members, and the value of the last.
func (w *webSocket) appendEvent(b []byte, kind, members string, last []byte) []byte {
	data := fmt.Appendf(nil, `{"type":"%s","event_id":"event_%d",%s`, kind, w.events.Add(1), members)
	return appendTextFrame(b, append(append(data, last...), '}'))
}

// appendRealtimeItem adds the reply's message; n is its tokens, −1 before the first.
func (r *reply) appendRealtimeItem(b []byte, n int) []byte {
	b = fmt.Appendf(b, `{"id":"item_%s","object":"realtime.item","type":"message","role":"assistant","status":`, r.truth.ID)
	switch {
	case n < 0:
		return append(b, `"in_progress","content":[]}`...)
	case !r.voice:
		return append(r.appendText(append(b, `"completed","content":[{"type":"output_text","text":`...), 0, n), "}]}"...)
	}
	b = append(b, `"completed","content":[{"type":"output_audio","transcript":"`...)
	for i := 0; i < n; i += voiceEvery {
		word := r.appendText(nil, i, i+1)
		b = append(b, word[1:len(word)-1]...)
	}
	return append(b, `"}]}`...)
}

// appendRealtimeResponse adds the response; n is its tokens, −1 before the first.
func (r *reply) appendRealtimeResponse(b []byte, status string, n int) []byte {
	b = fmt.Appendf(b, `{"object":"realtime.response","id":"%s","status":"%s","status_details":`, r.truth.ID, status)
	if status == "incomplete" {
		b = append(b, `{"type":"incomplete","reason":"max_output_tokens"}`...)
	} else {
		b = append(b, "null"...)
	}
	if r.voice {
		b = append(b, `,"output_modalities":["audio"],"audio":{"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"alloy"}}`...)
	} else {
		b = append(b, `,"output_modalities":["text"]`...)
	}
	if n < 0 {
		return append(b, `,"output":[],"usage":null}`...)
	}
	b = append(r.appendRealtimeItem(append(b, `,"output":[`...), n), ']')
	if r.s.cfg.Usage != UsageNone {
		words := n
		if r.voice {
			words = (n + voiceEvery - 1) / voiceEvery
		}
		b = fmt.Appendf(b, `,"usage":{"total_tokens":%d,"input_tokens":%d,"output_tokens":%d,"input_token_details":{"text_tokens":%d,"audio_tokens":%d,"cached_tokens":%d},"output_token_details":{"text_tokens":%d,"audio_tokens":%d}}`,
			r.promptTokens+n, r.promptTokens, n, r.promptTokens-r.heardTokens, r.heardTokens, r.cachedTokens, words, n-words)
	}
	return append(b, '}')
}

// realtimeEvent is what a client sends, as far as it is understood.
type realtimeEvent struct {
	Type  string
	Audio string // of input_audio_buffer.append
	Item  struct {
		Role    string
		Content []struct{ Text string }
	}
	Session, Response *realtimeWishes
}

// realtimeWishes are how replies are to be, in a session or one of them.
type realtimeWishes struct {
	Instructions     string
	OutputModalities []string        `json:"output_modalities"`
	MaxOutputTokens  json.RawMessage `json:"max_output_tokens"` // or "inf"
}

// converse takes a message of a Realtime client.
func (c *conn) converse(body []byte, at int64, kernel bool) bool {
	w := c.ws
	var j realtimeEvent
	if err := json.Unmarshal(body, &j); err != nil {
		return c.complain("invalid_request_error", err.Error())
	}
	switch j.Type {
	case "session.update":
		if j.Session != nil {
			w.wishes = *j.Session
		}
		c.later(w.appendEvent(nil, "session.updated", `"session":`, w.session()))
	case "input_audio_buffer.append":
		sound, err := base64.StdEncoding.DecodeString(j.Audio)
		if err != nil {
			return c.complain("invalid_value", "audio is no base64: "+err.Error())
		}
		w.sound += len(sound)
	case "input_audio_buffer.commit":
		n := w.sound * RealtimeHeard / (2 * SpeechHz)
		if n == 0 {
			return c.complain("input_audio_buffer_commit_empty", "the buffer has less than 100 ms of sound")
		}
		w.sound, w.heard = 0, w.heard+n
		w.item(strings.Repeat("s ", n))
		c.later(w.appendEvent(nil, "input_audio_buffer.committed", `"item_id":`, fmt.Appendf(nil, `"item_%d"`, len(w.messages))))
		c.added("user", `{"type":"input_audio","transcript":null}`)
	case "conversation.item.create":
		var text strings.Builder
		for _, part := range j.Item.Content {
			text.WriteString(part.Text)
		}
		w.item(text.String())
		c.added(j.Item.Role, string(appendJSONString([]byte(`{"type":"input_text","text":`), text.String()))+"}")
	case "response.create":
		return c.respond(&j, body, at, kernel)
	default:
		return c.complain("unknown_event", fmt.Sprintf("no client event of this simulator: %q", j.Type))
	}
	c.idle <- struct{}{}
	return true
}

// item adds a message to the conversation, behind the reply before it.
func (w *webSocket) item(text string) {
	w.answered()
	w.messages = append(w.messages, askMessage{appendJSONString(nil, text)})
}

// answered makes the last reply a message of the conversation.
func (w *webSocket) answered() {
	if w.last != nil {
		w.messages = append(w.messages, askMessage{w.last.appendText(nil, 0, w.last.yielded)})
		w.last = nil
	}
}

// added tells the client of an item.
func (c *conn) added(role, content string) {
	w := c.ws
	item := fmt.Appendf(nil, `{"id":"item_%d","object":"realtime.item","type":"message","status":"completed","role":`, len(w.messages))
	item = fmt.Appendf(appendJSONString(item, role), `,"content":[%s]}`, content)
	for _, kind := range []string{"conversation.item.added", "conversation.item.done"} {
		c.later(w.appendEvent(nil, kind, `"previous_item_id":null,"item":`, item))
	}
}

// session is the session object.
func (w *webSocket) session() []byte {
	b := appendQuoted([]byte(`{"type":"realtime","object":"realtime.session","id":"sess_1"`), `,"model":`, w.model)
	modalities, _ := json.Marshal(w.modalities(nil))
	return fmt.Appendf(b, `,"output_modalities":%s}`, modalities)
}

// modalities are what a reply comes in: sound, unless the client wants text.
func (w *webSocket) modalities(of *realtimeWishes) []string {
	switch {
	case of != nil && of.OutputModalities != nil:
		return of.OutputModalities
	case w.wishes.OutputModalities != nil:
		return w.wishes.OutputModalities
	}
	return []string{"audio"}
}

// respond answers response.create.
func (c *conn) respond(j *realtimeEvent, body []byte, at int64, kernel bool) bool {
	w := c.ws
	c.n++
	w.answered()
	wishes := w.wishes
	if r := j.Response; r != nil {
		if r.MaxOutputTokens != nil {
			wishes.MaxOutputTokens = r.MaxOutputTokens
		}
		if r.Instructions != "" {
			wishes.Instructions = r.Instructions
		}
	}
	d := realtime
	d.read = func(string, []byte) (ask askJSON, err error) {
		ask.Model, ask.Stream = w.model, true
		if n := wishes.MaxOutputTokens; n != nil && string(n) != `"inf"` {
			err = json.Unmarshal(n, &ask.MaxTokens)
		}
		ask.Messages = w.messages
		ask.begin(rawText(wishes.Instructions))
		return ask, err
	}
	a, err := parseAsk(&c.s.cfg, true, &d, w.path, body, w.directive)
	if err != nil {
		return c.complain("invalid_request_error", err.Error())
	}
	a.voice, a.heardTokens = slices.Contains(w.modalities(j.Response), "audio"), w.heard
	w.last = newReply(c, a, "", at, kernel, false)
	return c.begin(w.last)
}
