package sim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// gemini is POST …/models/MODEL:streamGenerateContent and :generateContent: whole
// responses, each with the counts so far.
var gemini = dialect{
	ends: []string{":streamGenerateContent", ":generateContent"}, kind: eventStream, frame: dataFrame,
	read: func(path string, body []byte) (j askJSON, err error) {
		var g struct {
			Contents          []geminiContent
			SystemInstruction geminiContent
			GenerationConfig  struct{ MaxOutputTokens *int }
		}
		err = json.Unmarshal(body, &g)
		for _, c := range append([]geminiContent{g.SystemInstruction}, g.Contents...) {
			if c.Parts != nil {
				j.Messages = append(j.Messages, askMessage{c.Parts})
			}
		}
		j.MaxTokens = g.GenerationConfig.MaxOutputTokens
		j.Stream = strings.HasSuffix(path, ":streamGenerateContent")
		j.Model = path[strings.LastIndexByte(path, '/')+1 : strings.LastIndexByte(path, ':')]
		return j, err
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		part := []byte(`{"text":`)
		if reasoning {
			part = []byte(`{"thought":true,"text":`)
		}
		done := last && findFault(r.faults, FaultNoFinish) == nil
		return appendFramed(b, dataFrame, r.appendGemini(nil, append(r.appendText(part, from, to), '}'), to, done))
	},
	end: func(r *reply, b []byte) []byte {
		if r.yielded > 0 {
			return b // the last token said it
		}
		return appendFramed(b, dataFrame, r.appendGemini(nil, []byte(`{"text":""}`), 0, true))
	},
	whole: func(r *reply, b []byte) []byte {
		n := r.toldTokens()
		var parts []byte
		if r.showsReasoning() {
			parts = append(r.appendReasoning([]byte(`{"thought":true,"text":`), n), "},"...)
		}
		parts = append(r.appendAnswer(append(parts, `{"text":`...), n), '}')
		return r.appendGemini(b, parts, n, true)
	},
}

type geminiContent struct{ Parts json.RawMessage }

// appendGemini adds a response with these parts, after n tokens.
func (r *reply) appendGemini(b, parts []byte, n int, done bool) []byte {
	b = append(append(append(b, `{"candidates":[{"index":0,"content":{"role":"model","parts":[`...), parts...), "]}"...)
	if done {
		b = fmt.Appendf(b, `,"finishReason":"%s"`, r.ended("STOP", "MAX_TOKENS"))
	}
	b = appendQuoted(b, `}],"modelVersion":`, r.s.modelName())
	if r.s.cfg.Usage != UsageNone && (done || r.continuous()) {
		thoughts := min(r.s.cfg.Reasoning, n)
		b = fmt.Appendf(b, `,"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":%d}`,
			r.promptTokens, r.cachedTokens, n-thoughts, thoughts, r.promptTokens+n)
	}
	return append(b, '}')
}
