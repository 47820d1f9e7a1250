package run

import (
	"testing"

	"tokenmeter/record/metric"
)

// A run of embeddings has no first token, whether or not one of them was answered.
func TestWordless(t *testing.T) {
	for _, c := range []struct {
		api        string
		ok, inputs int64
		want       bool
	}{
		{"embeddings", 0, 0, true}, {"rerank", 0, 0, true}, {"tei-rerank", 0, 0, true}, {"openai-chat", 0, 0, false},
		{"embeddings", 3, 3, true}, {"", 3, 3, true}, {"openai-chat", 3, 0, false}, {"openai-chat", 3, 2, false},
	} {
		var r Run
		r.Metrics = map[string]metric.Dist{"inputs": {N: c.inputs}}
		r.Target.API, r.Requests.OK = c.api, c.ok
		if got := r.Wordless(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
