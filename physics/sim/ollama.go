package sim

import (
	"encoding/json"
	"fmt"
)

// ollamaChat is POST /api/chat: lines of JSON, a stream unless it is refused.
var ollamaChat = dialect{
	ends: []string{"/api/chat"}, kind: jsonLines, frame: lineFrame,
	read: readOllama,
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		return r.ollamaPiece(b, true, reasoning, from, to)
	},
	end:   func(r *reply, b []byte) []byte { return r.ollamaEnd(b, true) },
	whole: func(r *reply, b []byte) []byte { return r.ollamaWhole(b, true) },
}

// ollamaGenerate is POST /api/generate, the same for a bare prompt.
var ollamaGenerate = dialect{
	ends: []string{"/api/generate"}, kind: jsonLines, frame: lineFrame,
	read: readOllama,
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		return r.ollamaPiece(b, false, reasoning, from, to)
	},
	end:   func(r *reply, b []byte) []byte { return r.ollamaEnd(b, false) },
	whole: func(r *reply, b []byte) []byte { return r.ollamaWhole(b, false) },
}

func readOllama(_ string, body []byte) (askJSON, error) {
	var j struct {
		askJSON
		Stream  *bool `json:"stream"` // hides that of askJSON
		System  string
		Options struct {
			NumPredict *int `json:"num_predict"`
		}
	}
	err := json.Unmarshal(body, &j)
	j.askJSON.Stream = j.Stream == nil || *j.Stream
	j.MaxTokens = j.Options.NumPredict
	if j.Prompt != nil {
		j.Messages = []askMessage{{j.Prompt}}
		if system := rawText(j.System); system != nil {
			j.Messages = append(j.Messages, askMessage{system})
		}
	}
	return j.askJSON, err
}

func (r *reply) ollamaOpen(b []byte) []byte {
	return appendQuoted(b, `{"created_at":"2023-11-14T22:13:20Z","model":`, r.s.modelName())
}

// ollamaText adds what is said, of reasoning and of the answer, from the tokens
// given.
func ollamaText(b []byte, chat bool, reasoning, answer func(b []byte) []byte) []byte {
	if chat {
		b = append(b, `,"message":{"role":"assistant"`...)
	}
	if reasoning != nil {
		b = reasoning(append(b, `,"thinking":`...))
	}
	switch {
	case chat:
		return append(answer(append(b, `,"content":`...)), '}')
	default:
		return answer(append(b, `,"response":`...))
	}
}

func nothing(b []byte) []byte { return append(b, `""`...) }

func (r *reply) ollamaPiece(b []byte, chat, reasoning bool, from, to int) []byte {
	text := func(b []byte) []byte { return r.appendText(b, from, to) }
	data := r.ollamaOpen(nil)
	if reasoning {
		data = ollamaText(data, chat, text, nothing)
	} else {
		data = ollamaText(data, chat, nil, text)
	}
	return appendFramed(b, lineFrame, append(data, `,"done":false}`...))
}

func (r *reply) ollamaEnd(b []byte, chat bool) []byte {
	if findFault(r.faults, FaultNoDone) != nil {
		return b
	}
	data := ollamaText(r.ollamaOpen(nil), chat, nil, nothing)
	return appendFramed(b, lineFrame, append(r.ollamaCounts(data, r.yielded), '}'))
}

func (r *reply) ollamaCounts(b []byte, n int) []byte {
	b = appendQuoted(b, `,"done":true,"done_reason":`, r.finish)
	if r.s.cfg.Usage == UsageNone {
		return b
	}
	return fmt.Appendf(b, `,"prompt_eval_count":%d,"eval_count":%d`, r.promptTokens, n)
}

func (r *reply) ollamaWhole(b []byte, chat bool) []byte {
	n := r.toldTokens()
	var reasoning func(b []byte) []byte
	if r.showsReasoning() {
		reasoning = func(b []byte) []byte { return r.appendReasoning(b, n) }
	}
	b = ollamaText(r.ollamaOpen(b), chat, reasoning, func(b []byte) []byte { return r.appendAnswer(b, n) })
	return append(r.ollamaCounts(b, n), '}')
}
