package main

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"tokenmeter/base/secret"
	"tokenmeter/load/workload"
	"tokenmeter/wire/api"
)

// writtenByFlag are fields of a request, of one API or another, that flags write: whatever is recorded beside
// the requests relies on them.
var writtenByFlag = map[string]string{
	"model": "--model", "stream": "--no-stream", "messages": "--prompt, --prompts or --workload", "prompt": "--prompt, --prompts or --workload",
	"input": "--prompt, --prompts or --workload", "max_tokens": "--output-tokens", "max_completion_tokens": "--output-tokens", "max_output_tokens": "--output-tokens",
	"n_predict": "--output-tokens", "options.num_predict": "--output-tokens", "parameters.max_new_tokens": "--output-tokens",
	"sampling_params.max_new_tokens": "--output-tokens", "inputs": "--prompt, --prompts or --workload", "ignore_eos": "--ignore-eos",
	"generationConfig.maxOutputTokens": "--output-tokens", "generation_config.max_output_tokens": "--output-tokens", "inferenceConfig.maxTokens": "--output-tokens",
	"contents": "--prompt, --prompts or --workload", "text_input": "--prompt, --prompts or --workload", "text": "--prompt, --prompts or --workload",
}

// parameters reads the further fields of each request.
func (c *benchCmd) parameters(check *checker) (fields map[string]any) {
	if c.Parameters == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(c.Parameters))
	decoder.UseNumber() // as they were written, however long
	if err := decoder.Decode(&fields); err != nil || fields == nil || !utf8.ValidString(c.Parameters) || !ended(decoder) {
		// Without the text: it may be long, and hold a secret.
		check.addf(`--parameters: give a JSON object, like '{"temperature": 0}'`)
		return nil
	}
	for _, path := range c.written(fields) {
		check.addf("--parameters: %s is written by %s: use that", path, writtenByFlag[path])
	}
	if name, ok := secretField(fields); ok {
		check.addf("--parameters: %s looks like a secret, and a command line is seen and recorded: use --api-key-env or --api-key-file", name)
	}
	return fields
}

// written are the fields among some that flags write.
func (c *benchCmd) written(fields map[string]any) (paths []string) {
	// Whether speech comes bit by bit no flag says: servers have a field each.
	speech := c.known(new(checker)) == api.Speech
	for _, path := range slices.Sorted(maps.Keys(writtenByFlag)) {
		if path == "stream" && speech || !has(fields, path) || leftOut(fields, path) {
			continue
		}
		if _, isText := fields["text"].(string); path != "text" || isText { // of SGLang's prompt, not OpenAI's form of an answer
			paths = append(paths, path)
		}
	}
	return paths
}

// ofWorkload refuses such fields in a workload file, but for ignore_eos, which has no other
// place there.
func (c *benchCmd) ofWorkload(s *workload.Spec, check *checker) {
	contents := []*workload.Content{&s.Content}
	for i := range s.Mix {
		contents = append(contents, &s.Mix[i].Content)
	}
	for _, content := range contents {
		for _, path := range c.written(content.Parameters) {
			if path != "ignore_eos" {
				check.addf("parameters of the workload: %s is a part of the request that the workload says (input, file, output, models), or --model and --no-stream: leave it out", path)
			}
		}
	}
}

// leftOut reports whether a field is left out that some servers take from the path
// alone, and refuse in the body: the model (Vertex AI), and whether to stream (Bedrock).
func leftOut(fields map[string]any, name string) bool {
	return (name == "model" || name == "stream") && fields[name] == nil
}

// has reports whether the fields replace or leave out one, or a member of one
// (options.num_predict). Null leaves out an object with all that is in it.
func has(fields map[string]any, path string) bool {
	name, member, nested := strings.Cut(path, ".")
	value, ok := fields[name]
	if !ok || !nested || value == nil {
		return ok
	}
	inner, _ := value.(map[string]any)
	_, ok = inner[member]
	return ok
}

// ended reports whether nothing follows. More does not tell: it takes a bracket for an end.
func ended(d *json.Decoder) bool {
	_, err := d.Token()
	return err == io.EOF
}

// secretField finds a field, however deep, whose name says that it holds a secret.
func secretField(value any) (name string, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if secret.SensitiveField(name) {
				return name, true
			}
			if inner, ok := secretField(v[name]); ok {
				return inner, true
			}
		}
	case []any:
		for _, x := range v {
			if inner, ok := secretField(x); ok {
				return inner, true
			}
		}
	}
	return "", false
}
