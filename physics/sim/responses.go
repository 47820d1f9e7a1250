package sim

import (
	"encoding/json"
	"fmt"
)

// responses is POST /v1/responses: deltas by their type, and at the end the whole
// response with its usage.
var responses = dialect{
	ends: []string{"/responses"}, kind: eventStream, frame: dataFrame, oneEnd: true,
	read: func(_ string, body []byte) (askJSON, error) {
		j, err := readResponses(body)
		j.begin(rawText(j.Instructions))
		return j.askJSON, err
	},
	begin: func(r *reply, b []byte) []byte {
		return r.appendTyped(b, "response.created", append(r.appendResponse([]byte(`{"type":"response.created","response":`), "in_progress", -1), '}'))
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		kind := "response.output_text.delta"
		if reasoning {
			kind = "response.reasoning_text.delta"
		}
		data := append(append([]byte(`{"type":"`), kind...), `","output_index":0,"content_index":0,"delta":`...)
		return r.appendTyped(b, kind, append(r.appendText(data, from, to), '}'))
	},
	end: func(r *reply, b []byte) []byte {
		status := r.responseStatus()
		data := append(append([]byte(`{"type":"response.`), status...), `","response":`...)
		return r.appendTyped(b, "response."+status, append(r.appendResponse(data, status, r.yielded), '}'))
	},
	whole: func(r *reply, b []byte) []byte { return r.appendResponse(b, r.responseStatus(), r.toldTokens()) },
}

type responsesJSON struct {
	askJSON
	Type            string
	Input           json.RawMessage
	Instructions    string
	MaxOutputTokens *int   `json:"max_output_tokens"`
	Previous        string `json:"previous_response_id"`
}

func readResponses(body []byte) (j responsesJSON, err error) {
	err = json.Unmarshal(body, &j)
	j.MaxTokens = j.MaxOutputTokens
	j.messagesOr(j.Input)
	return j, err
}

// appendTyped adds an event of the Responses API: a message of a WebSocket, or an
// event of a stream with its name.
func (r *reply) appendTyped(b []byte, name string, data []byte) []byte {
	if r.c.ws != nil {
		return appendTextFrame(b, data)
	}
	return appendNamed(b, name, data)
}

func (r *reply) responseStatus() string { return r.ended("completed", "incomplete") }

// appendResponse adds the response object; n is its tokens, −1 before the first.
func (r *reply) appendResponse(b []byte, status string, n int) []byte {
	b = appendQuoted(b, `{"object":"response","id":`, r.truth.ID)
	b = appendQuoted(b, `,"model":`, r.s.modelName())
	b = fmt.Appendf(b, `,"status":"%s","error":null`, status)
	if status == "incomplete" {
		b = append(b, `,"incomplete_details":{"reason":"max_output_tokens"}`...)
	}
	if n < 0 {
		return append(b, `,"output":[]}`...)
	}
	b = append(b, `,"output":[`...)
	if r.showsReasoning() {
		b = append(r.appendReasoning(append(b, `{"type":"reasoning","content":[{"type":"reasoning_text","text":`...), n), "}]},"...)
	}
	b = append(r.appendAnswer(append(b, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`...), n), "}]}]"...)
	if r.s.cfg.Usage != UsageNone {
		b = fmt.Appendf(b, `,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
			r.promptTokens, r.cachedTokens, n, min(r.s.cfg.Reasoning, n), r.promptTokens+n)
	}
	return append(b, '}')
}
