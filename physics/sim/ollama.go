package sim

import (
	"encoding/json"
	"fmt"
)

// ollamaChat is POST /api/chat: lines of JSON, a stream unless it is refused.
// ollamaGenerate is POST /api/generate, the same for a bare prompt.
var ollamaChat, ollamaGenerate = ollama("/api/chat", true), ollama("/api/generate", false)

func ollama(path string, chat bool) dialect {
	return dialect{
		ends: []string{path}, kind: jsonLines, frame: lineFrame, oneEnd: true, read: readOllama,
		piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
			var thinking []byte
			text := r.appendText(nil, from, to)
			if reasoning {
				thinking, text = text, []byte(`""`)
			}
			return appendFramed(b, lineFrame, append(ollamaText(r.ollamaOpen(nil), chat, thinking, text), `,"done":false}`...))
		},
		end: func(r *reply, b []byte) []byte {
			data := ollamaText(r.ollamaOpen(nil), chat, nil, []byte(`""`))
			return appendFramed(b, lineFrame, append(r.ollamaCounts(data, r.yielded), '}'))
		},
		whole: func(r *reply, b []byte) []byte {
			n := r.toldTokens()
			var thinking []byte
			if r.showsReasoning() {
				thinking = r.appendReasoning(nil, n)
			}
			b = ollamaText(r.ollamaOpen(b), chat, thinking, r.appendAnswer(nil, n))
			return append(r.ollamaCounts(b, n), '}')
		},
	}
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

// ollamaText adds what is said: the reasoning, unless it is nil, and the answer.
func ollamaText(b []byte, chat bool, thinking, answer []byte) []byte {
	name, end := `,"response":`, ""
	if chat {
		b = append(b, `,"message":{"role":"assistant"`...)
		name, end = `,"content":`, "}"
	}
	if thinking != nil {
		b = append(append(b, `,"thinking":`...), thinking...)
	}
	return append(append(append(b, name...), answer...), end...)
}

func (r *reply) ollamaCounts(b []byte, n int) []byte {
	b = appendQuoted(b, `,"done":true,"done_reason":`, r.finish)
	if r.s.cfg.Usage == UsageNone {
		return b
	}
	return fmt.Appendf(b, `,"prompt_eval_count":%d,"prompt_eval_cached_count":%d,"eval_count":%d`, r.promptTokens, r.cachedTokens, n)
}
