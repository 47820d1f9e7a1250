package sim

import (
	"encoding/json"
	"fmt"
)

// interactions is Gemini's POST /v1beta/interactions: steps with their deltas,
// interaction.completed at the end.
var interactions = dialect{
	ends: []string{"/interactions"}, kind: eventStream, frame: dataFrame, oneEnd: true,
	read: func(_ string, body []byte) (askJSON, error) {
		var j struct {
			askJSON
			Input             json.RawMessage
			SystemInstruction string `json:"system_instruction"`
			GenerationConfig  struct {
				MaxOutputTokens *int `json:"max_output_tokens"`
			} `json:"generation_config"`
		}
		err := json.Unmarshal(body, &j)
		j.MaxTokens = j.GenerationConfig.MaxOutputTokens
		j.messagesOr(j.Input)
		j.begin(rawText(j.SystemInstruction))
		return j.askJSON, err
	},
	begin: func(r *reply, b []byte) []byte {
		return appendFramed(b, dataFrame, append(r.appendInteraction([]byte(`{"event_type":"interaction.created","interaction":`), "in_progress", -1), '}'))
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		data, end := []byte(`{"event_type":"step.delta","index":0,"delta":{"type":"text","text":`), "}}"
		if reasoning {
			data, end = []byte(`{"event_type":"step.delta","index":0,"delta":{"type":"thought_summary","content":{"type":"text","text":`), "}}}"
		}
		return appendFramed(b, dataFrame, append(r.appendText(data, from, to), end...))
	},
	end: func(r *reply, b []byte) []byte {
		return appendFramed(b, dataFrame, append(r.appendInteraction([]byte(`{"event_type":"interaction.completed","interaction":`), r.responseStatus(), r.yielded), '}'))
	},
	whole: func(r *reply, b []byte) []byte { return r.appendInteraction(b, r.responseStatus(), r.toldTokens()) },
}

// appendInteraction adds the interaction; n is its tokens, −1 before the first.
func (r *reply) appendInteraction(b []byte, status string, n int) []byte {
	b = appendQuoted(b, `{"object":"interaction","id":`, r.truth.ID)
	b = appendQuoted(b, `,"model":`, r.s.modelName())
	b = fmt.Appendf(b, `,"status":"%s"`, status)
	if n < 0 {
		return append(b, '}')
	}
	b = append(b, `,"outputs":[`...)
	if r.showsReasoning() {
		b = append(r.appendReasoning(append(b, `{"type":"thought","summary":[{"type":"text","text":`...), n), "}]},"...)
	}
	b = append(r.appendAnswer(append(b, `{"type":"text","text":`...), n), "}]"...)
	if r.s.cfg.Usage != UsageNone {
		thoughts := min(r.s.cfg.Reasoning, n)
		b = fmt.Appendf(b, `,"usage":{"total_input_tokens":%d,"total_cached_tokens":%d,"total_output_tokens":%d,"total_thought_tokens":%d,"total_tokens":%d}`,
			r.promptTokens, r.cachedTokens, n-thoughts, thoughts, r.promptTokens+n)
	}
	return append(b, '}')
}
