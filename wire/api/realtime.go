package api

import (
	"bytes"
	"encoding/json"
	"net/url"

	"tokenmeter/wire/api/jsonscan"
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
	case r.sound() != nil:
		return Call{}, errNoSound
	}
	var out realtimeMessages
	for i := range r.Messages {
		out.item(&r.Messages[i])
	}
	response := map[string]any{"output_modalities": []string{"text"}}
	if n, ok := r.MaxTokens.Get(); ok {
		field := r.MaxTokensField
		if field == "" {
			field = "max_output_tokens"
		}
		response[field] = n
	}
	if r.IgnoreEOS {
		response["ignore_eos"] = true
	}
	more := Request{Extra: r.Extra}
	call, err := more.call("/v1/realtime?model="+url.QueryEscape(r.Model), response)
	out.add("response.create", "response", json.RawMessage(call.Body))
	call.Body = out
	return call, err
}

// realtimeMessages are messages of a client, a line each.
type realtimeMessages []byte

// add adds a message of a type, with a member.
func (m *realtimeMessages) add(kind, name string, value any) {
	data, err := json.Marshal(map[string]any{"type": kind, name: value})
	if err != nil {
		return // of what can't be written the caller knows
	}
	if len(*m) > 0 {
		*m = append(*m, '\n')
	}
	*m = append(*m, data...)
}

// item adds a message of the conversation.
func (m *realtimeMessages) item(of *Message) {
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
}

// beginsRealtime reports whether a message of the server is of a reply. Others tell of
// the session, or repeat what they were sent.
func beginsRealtime(message []byte) bool {
	var c scan
	var kind jsonscan.Text
	c.Reset(message)
	for name := range c.Members {
		if string(name) == "type" {
			kind, _ = c.Text()
		} else {
			c.Skip()
		}
	}
	return ofRealtimeReply(kind)
}

// ofRealtimeReply reports whether an event of a type is of a reply. An error is, since
// nothing tells of what else.
func ofRealtimeReply(kind jsonscan.Text) bool {
	return kind.Empty() || kind.Is("error") || bytes.HasPrefix(kind.Raw, []byte("response."))
}
