package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// route answers everything that is no completion.
func (s *Server) route(req *http.Request, body []byte) (status int, contentType string, text []byte) {
	const jsonType = "application/json"
	switch req.URL.Path {
	case "/health", "/healthz", "/ping":
		return 200, jsonType, []byte(`{"status":"ok"}`)
	case "/version":
		return 200, jsonType, []byte(`{"version":"tokenmeter-sim"}`)
	case "/metrics":
		return 200, "text/plain; version=0.0.4; charset=utf-8", s.metricsPage()
	case "/v1/models":
		b := appendQuoted(nil, `{"object":"list","data":[{"id":`, s.modelName())
		b = appendQuoted(b, `,"object":"model","created":1700000000,"owned_by":"tokenmeter","root":`, s.modelName())
		b = append(b, `,"parent":null,"max_model_len":`...)
		if s.cfg.MaxContext > 0 {
			b = fmt.Appendf(b, "%d", s.cfg.MaxContext)
		} else {
			b = append(b, "null"...)
		}
		return 200, jsonType, append(b, `}]}`...)
	case "/tokenize", "/v1/tokenize":
		return s.tokenize(body)
	case "/props":
		if s.cfg.Like == LikeLlama {
			return 200, jsonType, s.props()
		}
	}
	return 404, jsonType, errorBody(404, "NotFoundError", "no such path: "+req.URL.Path)
}

// tokenize counts a text's tokens: in "prompt", "content" or "messages".
func (s *Server) tokenize(body []byte) (int, string, []byte) {
	var j struct {
		Prompt   string `json:"prompt"`
		Content  string `json:"content"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return 400, "application/json", errorBody(400, "BadRequestError", err.Error())
	}
	text := j.Prompt + " " + j.Content
	for _, m := range j.Messages {
		t, _ := s.cfg.textOf(m.Content)
		text += " " + t
	}
	ids := []uint32{} // an empty list, not null
	for w := range strings.FieldsSeq(text) {
		for range s.cfg.wordTokens(w) {
			ids = append(ids, identity(w)%32000)
		}
	}
	out, _ := json.Marshal(struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []uint32 `json:"tokens"`
	}{len(ids), s.cfg.MaxContext, ids})
	return 200, "application/json", out
}

// props is what llama-server tells of itself, as far as clients look at it.
func (s *Server) props() []byte {
	b := fmt.Appendf(nil, `{"default_generation_settings":{"n_ctx":%d},"total_slots":%d,"model_alias":`, s.cfg.MaxContext, s.cfg.Slots)
	b = appendJSONString(b, s.modelName())
	return append(b, `,"build_info":"tokenmeter-sim","chat_template":"{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"}`...)
}

func (s *Server) modelName() string {
	return cmp.Or(s.cfg.Model, "sim")
}
