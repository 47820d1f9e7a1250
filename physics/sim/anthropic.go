package sim

import (
	"encoding/json"
	"fmt"
)

// anthropic is POST /v1/messages: blocks of reasoning and of text, the final count
// with the reason why it ended.
var anthropic = dialect{
	ends: []string{"/v1/messages"}, kind: eventStream, frame: dataFrame,
	read: func(_ string, body []byte) (askJSON, error) {
		var j struct {
			askJSON
			System json.RawMessage
		}
		err := json.Unmarshal(body, &j)
		j.begin(j.System)
		return j.askJSON, err
	},
	begin: func(r *reply, b []byte) []byte {
		data := appendQuoted(nil, `{"type":"message_start","message":{"type":"message","role":"assistant","content":[],"stop_reason":null,"id":`, r.truth.ID)
		data = appendQuoted(data, `,"model":`, r.s.modelName())
		data = append(r.anthropicUsage(append(data, `,"usage":`...), 1), "}}"...)
		return appendNamed(b, "message_start", data)
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		kind, field := "text", "text"
		if reasoning {
			kind, field = "thinking", "thinking"
		}
		if r.block != kind {
			b = r.endBlock(b)
			r.block = kind
			b = appendNamed(b, "content_block_start", fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":{"type":"%s","%s":""}}`, r.blockN, kind, field))
		}
		data := fmt.Appendf(nil, `{"type":"content_block_delta","index":%d,"delta":{"type":"%s_delta","%s":`, r.blockN, kind, field)
		return appendNamed(b, "content_block_delta", append(r.appendText(data, from, to), "}}"...))
	},
	end: func(r *reply, b []byte) []byte {
		b = r.endBlock(b)
		data := append(appendQuoted(nil, `{"type":"message_delta","delta":{"stop_sequence":null,"stop_reason":`, r.anthropicReason()), '}')
		if r.s.cfg.Usage != UsageNone {
			data = fmt.Appendf(data, `,"usage":{"output_tokens":%d}`, r.yielded)
		}
		b = appendNamed(b, "message_delta", append(data, '}'))
		if findFault(r.faults, FaultNoDone) == nil {
			b = appendNamed(b, "message_stop", []byte(`{"type":"message_stop"}`))
		}
		return b
	},
	whole: func(r *reply, b []byte) []byte {
		n := r.toldTokens()
		b = appendQuoted(b, `{"type":"message","role":"assistant","id":`, r.truth.ID)
		b = appendQuoted(b, `,"model":`, r.s.modelName())
		b = append(b, `,"content":[`...)
		if r.showsReasoning() {
			b = append(r.appendReasoning(append(b, `{"type":"thinking","thinking":`...), n), "},"...)
		}
		b = append(r.appendAnswer(append(b, `{"type":"text","text":`...), n), "}]"...)
		b = appendQuoted(b, `,"stop_reason":`, r.anthropicReason())
		return append(r.anthropicUsage(append(b, `,"usage":`...), n), '}')
	},
}

func (r *reply) endBlock(b []byte) []byte {
	if r.block == "" {
		return b
	}
	b = appendNamed(b, "content_block_stop", fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, r.blockN))
	r.block = ""
	r.blockN++
	return b
}

func (r *reply) anthropicReason() string { return r.ended("end_turn", "max_tokens") }

// anthropicUsage counts what came from the cache beside the input.
func (r *reply) anthropicUsage(b []byte, output int) []byte {
	if r.s.cfg.Usage == UsageNone {
		return append(b, "{}"...)
	}
	return fmt.Appendf(b, `{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0,"output_tokens":%d}`,
		r.promptTokens-r.cachedTokens, r.cachedTokens, output)
}
