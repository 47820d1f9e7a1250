package workload

import "strings"

// Writer is what says a part of a request that no further field may say otherwise:
// what is recorded beside the requests relies on it.
type Writer string

// The writers.
const (
	TheModel  Writer = "model"
	TheStream Writer = "stream"
	TheInput  Writer = "input"
	TheOutput Writer = "output"     // how long the answer should be
	TheEnd    Writer = "ignore_eos" // whether it ends before
)

// written are fields of a request, of one API or another, in order.
var written = []struct {
	path string
	by   Writer
}{
	{"contents", TheInput}, {"generationConfig.maxOutputTokens", TheOutput}, {"generation_config.max_output_tokens", TheOutput},
	{"ignore_eos", TheEnd}, {"inferenceConfig.maxTokens", TheOutput}, {"input", TheInput}, {"inputs", TheInput},
	{"max_completion_tokens", TheOutput}, {"max_output_tokens", TheOutput}, {"max_tokens", TheOutput}, {"messages", TheInput}, {"model", TheModel},
	{"n_predict", TheOutput}, {"options.num_predict", TheOutput}, {"parameters.max_new_tokens", TheOutput}, {"prompt", TheInput},
	{"sampling_params.max_new_tokens", TheOutput}, {"stream", TheStream}, {"text", TheInput}, {"text_input", TheInput},
}

// EachWritten calls say for each further field that a run writes itself. What only leaves
// out the model (Vertex AI) or stream (Bedrock), which some servers take from the path
// alone and refuse in the body, is none; nor are OpenAI's objects text, the form of an
// answer, and prompt, one that is kept there.
func EachWritten(further map[string]any, say func(path string, by Writer)) {
	for _, w := range written {
		value, there := has(further, w.path)
		_, object := value.(map[string]any)
		switch {
		case !there, value == nil && (w.by == TheModel || w.by == TheStream), object && (w.path == "text" || w.path == "prompt"):
		default:
			say(w.path, w.by)
		}
	}
}

// has reports whether the fields replace or leave out one, or a member of one
// (options.num_predict), and what it is. Null leaves out an object with all that is in it.
func has(fields map[string]any, path string) (any, bool) {
	name, member, nested := strings.Cut(path, ".")
	value, ok := fields[name]
	if !ok || !nested || value == nil {
		return value, ok
	}
	inner, _ := value.(map[string]any)
	value, ok = inner[member]
	return value, ok
}
