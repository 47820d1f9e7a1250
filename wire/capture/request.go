package capture

import (
	"encoding/json"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// lengthFields are where the APIs put the output length, as paths.
var lengthFields = [][]string{
	{"max_completion_tokens"}, {"max_tokens"}, {"max_output_tokens"},
	{"options", "num_predict"}, {"n_predict"},
	{"parameters", "max_new_tokens"}, {"sampling_params", "max_new_tokens"},
	{"generationConfig", "maxOutputTokens"}, {"inferenceConfig", "maxTokens"},
	{"parameters", "max_tokens"},
}

// readRequest tells from a request's body whether a stream was asked for, for
// how many tokens and of which model. Without a body a stream is assumed.
func readRequest(raw json.RawMessage, a *api.API) (asked bool, requested timeline.Opt[int64], model string) {
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil || body == nil {
		return true, requested, ""
	}
	asked = a.StreamsByDefault
	if v, ok := body["stream"].(bool); ok {
		asked = v
	}
	model, _ = body["model"].(string)
	for _, path := range lengthFields {
		if n, ok := number(body, path); ok {
			return asked, timeline.Some(n), model
		}
	}
	return asked, requested, model
}

func number(body map[string]any, path []string) (int64, bool) {
	for _, name := range path[:len(path)-1] {
		var ok bool
		if body, ok = body[name].(map[string]any); !ok {
			return 0, false
		}
	}
	f, ok := body[path[len(path)-1]].(float64)
	return int64(f), ok && f >= 0 && f < 1<<53
}
