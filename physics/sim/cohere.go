package sim

import (
	"encoding/json"
	"fmt"
)

// cohere is POST /v2/chat: the count of tokens beside that of what is billed.
var cohere = dialect{
	ends: []string{"/v2/chat"}, kind: eventStream, frame: dataFrame, oneEnd: true,
	read: func(_ string, body []byte) (j askJSON, err error) {
		err = json.Unmarshal(body, &j)
		return j, err
	},
	begin: func(r *reply, b []byte) []byte {
		return appendNamed(b, "message-start", append(appendQuoted(nil, `{"type":"message-start","id":`, r.truth.ID),
			`,"delta":{"message":{"role":"assistant","content":[]}}}`...))
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		field := "text"
		if reasoning {
			field = "thinking"
		}
		data := fmt.Appendf(nil, `{"type":"content-delta","index":0,"delta":{"message":{"content":{"%s":`, field)
		return appendNamed(b, "content-delta", append(r.appendText(data, from, to), "}}}}"...))
	},
	end: func(r *reply, b []byte) []byte {
		return appendNamed(b, "message-end", append(r.cohereEnd([]byte(`{"type":"message-end","delta":{`), r.yielded), "}}"...))
	},
	whole: func(r *reply, b []byte) []byte {
		n := r.toldTokens()
		b = appendQuoted(b, `{"id":`, r.truth.ID)
		b = append(b, `,"message":{"role":"assistant","content":[`...)
		if r.showsReasoning() {
			b = append(r.appendReasoning(append(b, `{"type":"thinking","thinking":`...), n), "},"...)
		}
		b = append(r.appendAnswer(append(b, `{"type":"text","text":`...), n), "}]},"...)
		return append(r.cohereEnd(b, n), '}')
	},
}

func (r *reply) cohereEnd(b []byte, n int) []byte {
	b = fmt.Appendf(b, `"finish_reason":"%s"`, r.ended("COMPLETE", "MAX_TOKENS"))
	if r.s.cfg.Usage == UsageNone {
		return b
	}
	return fmt.Appendf(b, `,"usage":{"billed_units":{"input_tokens":%d.0,"output_tokens":%d.0},"tokens":{"input_tokens":%d.0,"output_tokens":%d.0},"cached_tokens":%d.0}`,
		r.promptTokens-r.cachedTokens, n, r.promptTokens, n, r.cachedTokens)
}
