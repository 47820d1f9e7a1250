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

const ofPrompt = "--prompt, --prompts or --workload"

// flagThatSays is what says in a command what a run writes, inWorkload what does in a workload file.
var flagThatSays = map[workload.Writer]string{workload.TheModel: "--model", workload.TheStream: "--no-stream", workload.TheInput: ofPrompt,
	workload.TheOutput: "--output-tokens", workload.TheEnd: "--ignore-eos"}

var inWorkload = map[workload.Writer]string{workload.TheModel: "models or --model", workload.TheStream: "--no-stream", workload.TheInput: "input or file",
	workload.TheOutput: "output, which made prompts always have"}

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
	c.written(fields, func(path string, by workload.Writer) {
		check.addf("--parameters: %s is written by %s: use that", path, flagThatSays[by])
	})
	if name, ok := secretField(fields); ok {
		check.addf("--parameters: %s looks like a secret, and a command line is seen and recorded: use --api-key-env or --api-key-file", name)
	}
	return fields
}

// written calls say for the fields among some that flags write. By the name of one, an API
// may mean something else: whether speech comes bit by bit, for which servers have a field
// each; the words that a transcription should know how to spell. Where no API is known it may.
func (c *benchCmd) written(fields map[string]any, say func(path string, by workload.Writer)) {
	known, anyAPI := c.known(new(checker)), c.API+c.URL == ""
	workload.EachWritten(fields, func(path string, by workload.Writer) {
		if path == "stream" && (anyAPI || known == api.Speech) || path == "prompt" && (anyAPI || known == api.Transcription) {
			return
		}
		say(path, by)
	})
}

// ofWorkload refuses such fields in a workload file, but for ignore_eos, which has no other
// place there.
func (c *benchCmd) ofWorkload(s *workload.Spec, check *checker) {
	refuse := func(where string, content *workload.Content) {
		c.written(content.Parameters, func(path string, by workload.Writer) {
			if by != workload.TheEnd {
				check.addf("workload, %s: %s is set by %s: leave it out", where, path, inWorkload[by])
			}
		})
	}
	refuse("parameters", &s.Content)
	for i := range s.Mix {
		refuse("mix."+s.Mix[i].Name+".parameters", &s.Mix[i].Content)
	}
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
