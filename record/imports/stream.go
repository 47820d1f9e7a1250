package imports

import (
	"cmp"
	"encoding/json"
	"strings"

	"tokenmeter/record/timeline"
)

// judge reads an answer as its server wrote it, in events or whole, of a request that went
// well by its tool: clients of load generators take an error within a stream, and a stream
// that breaks off, for the end of an answer.
func (r *request) judge(answer string) {
	if r.failure != "" {
		return
	}
	chunks, ended := false, false
	for line := range strings.Lines(answer) {
		text, event := strings.CutPrefix(strings.TrimSpace(line), "data:")
		text = strings.TrimSpace(text)
		ended = ended || event && text == "[DONE]"
		if !strings.HasPrefix(text, "{") {
			continue
		}
		if words := problem(text); words != "" {
			r.failure, r.class = words, timeline.StreamError
			return
		}
		var chunk struct {
			Choices []struct {
				Finish any `json:"finish_reason"`
			} `json:"choices"`
		}
		if json.Unmarshal([]byte(text), &chunk) != nil {
			continue // a half of one, perhaps
		}
		for _, c := range chunk.Choices {
			chunks = chunks || event
			ended = ended || c.Finish != nil && c.Finish != ""
		}
	}
	if chunks && !ended { // of other APIs it isn't known how a stream ends
		r.failure, r.class = "the stream ended without a finish reason or a terminator", timeline.StreamTruncated
	}
}

// problem is what an event's JSON says of an error; empty where it says of none.
func problem(text string) string {
	if !strings.Contains(text, `"error"`) { // most, and a file has a million
		return ""
	}
	var event struct {
		Object  string          `json:"object"`
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(text), &event) != nil {
		return ""
	}
	if event.Object == "error" { // vLLM's older shape
		return cmp.Or(event.Message, "error")
	}
	var said string
	if json.Unmarshal(event.Error, &said) == nil { // SGLang, TGI; null
		return said
	}
	var fields map[string]any
	if json.Unmarshal(event.Error, &fields) != nil || len(fields) == 0 {
		return ""
	}
	said, _ = fields["message"].(string)
	return cmp.Or(said, string(event.Error))
}
