package sim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// tgi is text-generation-inference: POST /generate_stream, an event a token, the
// last with the whole text.
var tgi = dialect{
	ends: []string{"/generate_stream"}, kind: eventStream, frame: dataFrame, oneText: true,
	read: func(_ string, body []byte) (j askJSON, err error) {
		var g struct {
			Inputs     json.RawMessage
			Parameters struct {
				MaxNewTokens *int `json:"max_new_tokens"`
			}
		}
		err = json.Unmarshal(body, &g)
		return askJSON{Stream: true, Messages: []askMessage{{g.Inputs}}, MaxTokens: g.Parameters.MaxNewTokens}, err
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		for i := from; i < to; i++ {
			data := r.appendText(fmt.Appendf(nil, `{"index":%d,"token":{"id":%d,"special":false,"text":`, i+1, i), i, i+1)
			data = append(data, `},"generated_text":`...)
			if !last || i < to-1 || r.noFinish() {
				data = append(data, "null}"...)
			} else {
				data = fmt.Appendf(r.appendText(data, 0, to), `,"details":{"finish_reason":"%s","generated_tokens":%d,"input_length":%d}}`,
					r.ended("eos_token", "length"), to, r.promptTokens)
			}
			b = appendFramed(b, dataFrame, data)
		}
		return b
	},
	end: nothingMore,
	whole: func(r *reply, b []byte) []byte {
		return append(r.appendText(append(b, `{"generated_text":`...), 0, r.toldTokens()), '}')
	},
}

// triton is POST /v2/models/MODEL/generate_stream and /generate.
var triton = dialect{
	in: "/v2/models/", ends: []string{"/generate_stream", "/generate"}, kind: eventStream, frame: dataFrame, oneText: true,
	read: func(path string, body []byte) (j askJSON, err error) {
		var g struct {
			TextInput json.RawMessage `json:"text_input"`
			MaxTokens *int            `json:"max_tokens"`
		}
		err = json.Unmarshal(body, &g)
		return askJSON{Stream: strings.HasSuffix(path, "_stream"), Messages: []askMessage{{g.TextInput}}, MaxTokens: g.MaxTokens}, err
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		return appendFramed(b, dataFrame, r.appendTriton(nil, from, to))
	},
	end:   nothingMore,
	whole: func(r *reply, b []byte) []byte { return r.appendTriton(b, 0, r.toldTokens()) },
}

func (r *reply) appendTriton(b []byte, from, to int) []byte {
	b = appendQuoted(b, `{"model_version":"1","model_name":`, r.s.modelName())
	return append(r.appendText(append(b, `,"text_output":`...), from, to), '}')
}

// llamaCpp is llama.cpp's own POST /completion.
var llamaCpp = dialect{
	ends: []string{"/completion"}, kind: eventStream, frame: dataFrame, oneText: true,
	read: func(_ string, body []byte) (askJSON, error) {
		var j struct {
			askJSON
			NPredict *int `json:"n_predict"`
		}
		err := json.Unmarshal(body, &j)
		j.Messages, j.MaxTokens = []askMessage{{j.Prompt}}, j.NPredict
		return j.askJSON, err
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		data := r.appendText([]byte(`{"index":0,"stop":false,"content":`), from, to)
		return appendFramed(b, dataFrame, fmt.Appendf(data, `,"tokens_predicted":%d,"tokens_evaluated":%d}`, to, r.promptTokens))
	},
	end: func(r *reply, b []byte) []byte {
		return appendFramed(b, dataFrame, r.appendLlama(nil, r.yielded, r.yielded))
	},
	whole: func(r *reply, b []byte) []byte { return r.appendLlama(b, 0, r.toldTokens()) },
}

func (r *reply) appendLlama(b []byte, from, to int) []byte {
	b = r.appendText(append(b, `{"index":0,"stop":true,"content":`...), from, to)
	return fmt.Appendf(appendQuoted(b, `,"model":`, r.s.modelName()), `,"stop_type":"%s","tokens_predicted":%d,"tokens_evaluated":%d,"timings":{"cache_n":%d,"prompt_n":%d,"predicted_n":%d}}`,
		r.ended("eos", "limit"), to, r.promptTokens, r.cachedTokens, r.promptTokens-r.cachedTokens, to)
}

// sglang is SGLang's own POST /generate: each event has the whole text so far.
var sglang = dialect{
	ends: []string{"/generate"}, kind: eventStream, frame: dataFrame, oneText: true,
	read: func(_ string, body []byte) (j askJSON, err error) {
		var g struct {
			Text     json.RawMessage
			Stream   bool
			Sampling struct {
				MaxNewTokens *int `json:"max_new_tokens"`
			} `json:"sampling_params"`
		}
		err = json.Unmarshal(body, &g)
		return askJSON{Stream: g.Stream, Messages: []askMessage{{g.Text}}, MaxTokens: g.Sampling.MaxNewTokens}, err
	},
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		return appendFramed(b, dataFrame, r.appendSGLang(nil, to, last && !r.noFinish()))
	},
	end: func(r *reply, b []byte) []byte {
		if r.yielded == 0 {
			b = appendFramed(b, dataFrame, r.appendSGLang(nil, 0, true))
		}
		if findFault(r.faults, FaultNoDone) != nil {
			return b
		}
		return appendFramed(b, dataFrame, []byte("[DONE]"))
	},
	whole: func(r *reply, b []byte) []byte { return r.appendSGLang(b, r.toldTokens(), true) },
}

func (r *reply) appendSGLang(b []byte, n int, done bool) []byte {
	b = r.appendText(append(b, `{"text":`...), 0, n)
	b = fmt.Appendf(b, `,"meta_info":{"prompt_tokens":%d,"completion_tokens":%d,"cached_tokens":%d,"finish_reason":`, r.promptTokens, n, r.cachedTokens)
	if !done {
		return append(b, "null}}"...)
	}
	return fmt.Appendf(b, `{"type":"%s"}}}`, r.finish)
}
