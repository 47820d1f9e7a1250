package main

import (
	"cmp"
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

const ofPrompt = "--prompt, --prompts or --workload"

// writtenByFlag are fields of a request, of one API or another, that flags write: whatever is recorded beside
// the requests relies on them.
var writtenByFlag = map[string]string{
	"model": "--model", "stream": "--no-stream", "messages": ofPrompt, "prompt": ofPrompt,
	"input": ofPrompt, "max_tokens": "--output-tokens", "max_completion_tokens": "--output-tokens", "max_output_tokens": "--output-tokens",
	"n_predict": "--output-tokens", "options.num_predict": "--output-tokens", "parameters.max_new_tokens": "--output-tokens",
	"sampling_params.max_new_tokens": "--output-tokens", "inputs": ofPrompt, "ignore_eos": "--ignore-eos",
	"generationConfig.maxOutputTokens": "--output-tokens", "generation_config.max_output_tokens": "--output-tokens", "inferenceConfig.maxTokens": "--output-tokens",
	"contents": ofPrompt, "text_input": ofPrompt, "text": ofPrompt,
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
	for _, path := range slices.Sorted(maps.Keys(writtenByFlag)) {
		if has(fields, path) && !leftOut(fields, path) && !c.means(path, fields[path]) {
			paths = append(paths, path)
		}
	}
	return paths
}

// means reports whether a field says something else than what a flag writes by that name:
// whether speech comes bit by bit, for which servers have a field each; the words that a
// transcription should know how to spell; as objects OpenAI's form of an answer (text) and
// a prompt that is kept there. Where no API is known it may.
func (c *benchCmd) means(field string, value any) bool {
	known, anyAPI := c.known(new(checker)), c.API+c.URL == ""
	_, object := value.(map[string]any)
	switch field {
	case "stream":
		return anyAPI || known == api.Speech
	case "prompt":
		return anyAPI || known == api.Transcription || object
	case "text":
		return object
	}
	return false
}

// inWorkload are what says in a workload file what those flags say.
var inWorkload = map[string]string{ofPrompt: "input or file", "--output-tokens": "output", "--model": "models or --model"}

// ofWorkload refuses such fields in a workload file, but for ignore_eos, which has no other
// place there.
func (c *benchCmd) ofWorkload(s *workload.Spec, check *checker) {
	refuse := func(where string, content *workload.Content) {
		for _, path := range c.written(content.Parameters) {
			if flag := writtenByFlag[path]; path != "ignore_eos" {
				check.addf("workload, %s: %s is set by %s: leave it out", where, path, cmp.Or(inWorkload[flag], flag))
			}
		}
	}
	refuse("parameters", &s.Content)
	for i := range s.Mix {
		refuse("mix."+s.Mix[i].Name+".parameters", &s.Mix[i].Content)
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
