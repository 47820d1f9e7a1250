package api

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// vocabulary are the names that the decoder knows, and some that it does not.
var vocabulary = []string{"choices", "delta", "message", "index", "content", "reasoning", "reasoning_content",
	"refusal", "role", "tool_calls", "function", "custom", "name", "arguments", "input", "function_call", "audio", "data", "transcript",
	"finish_reason", "logprobs", "tokens", "token_ids", "text", "thinking", "usage", "prompt_tokens", "completion_tokens",
	"total_tokens", "prompt_tokens_details", "cached_tokens", "completion_tokens_details", "reasoning_tokens",
	"timings", "prompt_ms", "metrics", "prompt_progress", "error", "model", "object", "x_vendor", "id"}

// children are the names that may follow a name, so that paths are deep enough
// to be meant.
var children = map[string][]string{
	"":           {"choices", "usage", "timings", "error", "model", "object", "x_vendor", "prompt_progress"},
	"choices":    {"index", "delta", "message", "text", "finish_reason", "logprobs", "token_ids"},
	"delta":      {"role", "content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call", "audio"},
	"message":    {"content", "tool_calls", "refusal"},
	"content":    {"text", "thinking", "refusal"},
	"thinking":   {"text"},
	"logprobs":   {"content", "tokens", "refusal"},
	"usage":      {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"},
	"x_vendor":   {"usage", "id"},
	"function":   {"name", "arguments"},
	"audio":      {"data", "transcript"},
	"tool_calls": {"function", "custom"},
}

var randomStrings = []string{"", "a", "é", "😀", "\u2028", "tab\t\"q\"\\", "error", "stop", "longer than eight bytes", "\x00", "choices"}

func randomJSON(r *rand.Rand, name string, depth int) any {
	switch n := r.IntN(12); {
	case depth <= 0 || n < 3:
		return randomStrings[r.IntN(len(randomStrings))]
	case n == 3:
		return nil
	case n == 4:
		return r.IntN(2) == 0
	case n == 5:
		return []float64{0, -1, 7, 1e20, 2.5, 1 << 54}[r.IntN(6)]
	case n == 6:
		return r.IntN(1000)
	case n < 9 && name != "":
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomJSON(r, name, depth-1)
		}
		return list
	}
	names := children[name]
	if names == nil || r.IntN(8) == 0 {
		names = vocabulary
	}
	m := map[string]any{}
	for range r.IntN(5) {
		k := names[r.IntN(len(names))]
		m[k] = randomJSON(r, k, depth-1)
	}
	return m
}

// Trees of the names that the decoder looks for, in places where they mean
// something and in places where they do not.
func TestRandomChunksMeanWhatEncodingJSONReads(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		data, err := json.Marshal(randomJSON(r, "", 7))
		if err != nil {
			t.Fatal(err)
		}
		if compareChunk(t, data); t.Failed() {
			return
		}
	}
}
