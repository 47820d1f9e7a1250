package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// This file is what answers several texts at once, without words: vectors or
// scores. The model reads all of them and is done with its prefill.

// embeddings is POST /v1/embeddings, and Ollama's /api/embed in its own form.
var embeddings = dialect{
	ends: []string{"/v1/embeddings", "/api/embed"}, mute: true,
	read: func(_ string, body []byte) (j askJSON, err error) {
		var g struct{ Model, Input json.RawMessage }
		if err = json.Unmarshal(body, &g); err != nil {
			return j, err
		}
		_ = json.Unmarshal(g.Model, &j.Model)
		j.texts(g.Input)
		return j, j.someTexts("input")
	},
	whole: func(r *reply, b []byte) []byte {
		b = append(b, `{"object":"list","data":[`...)
		for i := range r.answered() {
			b = fmt.Appendf(commaBut(b, i), `{"object":"embedding","index":%d,"embedding":[`, i)
			for k := range dimensions {
				b = strconv.AppendFloat(commaBut(b, k), float64(r.rng.Int64N(2_000_001)-1_000_000)/1e6, 'f', -1, 64)
			}
			b = append(b, "]}"...)
		}
		return r.endBatch(b)
	},
}

// dimensions of a vector.
const dimensions = 64

// rerank is POST /v1/rerank, and /rerank as text-embeddings-inference has it. Each
// document is read beside the query.
var rerank = dialect{
	ends: []string{"/rerank"}, mute: true,
	read: func(_ string, body []byte) (j askJSON, err error) {
		var g struct{ Model, Query, Documents, Texts json.RawMessage }
		if err = json.Unmarshal(body, &g); err != nil {
			return j, err
		}
		_ = json.Unmarshal(g.Model, &j.Model)
		j.bare = g.Texts != nil
		for _, list := range []json.RawMessage{g.Documents, g.Texts} {
			if list != nil {
				j.texts(list)
			}
		}
		for range j.inputs {
			j.Messages = append(j.Messages, askMessage{g.Query})
		}
		return j, j.someTexts("documents")
	},
	whole: func(r *reply, b []byte) []byte {
		name := "relevance_score"
		if r.bare {
			name = "score"
			b = append(b, '[')
		} else {
			b = append(appendQuoted(b, `{"id":`, r.truth.ID), `,"results":[`...)
		}
		for i := range r.answered() {
			b = fmt.Appendf(commaBut(b, i), `{"index":%d,"%s":%g}`, i, name, 1/float64(i+2))
		}
		if r.bare {
			return append(b, ']')
		}
		return r.endBatch(b)
	},
}

// texts reads a text, or a list of them; a text may be a list of token ids.
func (j *askJSON) texts(raw json.RawMessage) {
	var list []json.RawMessage
	var ids []int
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 || json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, text := range list {
		j.Messages = append(j.Messages, askMessage{text})
	}
	j.inputs = len(j.Messages)
}

func (j *askJSON) someTexts(field string) error {
	if j.inputs == 0 {
		return errors.New(field + " is empty: give at least one text")
	}
	return nil
}

// answered is how many texts the reply answers.
func (r *reply) answered() int {
	if findFault(r.faults, FaultEmpty) != nil {
		return 0
	}
	return r.inputs
}

func (r *reply) endBatch(b []byte) []byte {
	b = append(appendQuoted(b, `],"model":`, r.s.modelName()), r.appendUsage(nil, 0, r.s.cfg.Usage != UsageNone)...)
	return append(b, '}')
}

// commaBut adds a comma before all elements but the first.
func commaBut(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}
