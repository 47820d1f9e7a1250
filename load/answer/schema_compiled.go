//go:build !lean

package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is a compiled JSON Schema; without "$schema" it is read as draft
// 2020-12, which is what Pydantic and structured outputs write.
type schema struct {
	compiled *jsonschema.Schema

	mu    sync.Mutex
	steps int // of the answer that is looked at
}

// mostSteps is how many parts of a schema are held against parts of one answer: a
// schema that refers to itself in two branches takes twice as many for each level of
// an answer, and who answers chooses how deep. A long answer takes a tenth of it.
const mostSteps = 300_000

var errSteps = errors.New("the schema takes too many steps for this answer")

// compileSchema reads a schema from decoded YAML or JSON, or a JSON text. A
// keyword with a value that it can't have is an error with its place; a keyword
// that the standard does not know says nothing, as the standard has it.
func compileSchema(v any) (*schema, error) {
	text, isText := v.(string)
	if !isText { // through JSON, so that numbers and keys have one type each
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	s := &schema{}
	c.AssertVocabs()
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: "answer:///steps", Compile: s.count})
	const name = "answer:///schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	s.compiled, err = c.Compile(name)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(strings.ReplaceAll(err.Error(), name+"#", ""), name, "the schema"))
	}
	return s, nil
}

// count makes a part of the schema count how often it is looked at. The format is
// what the library looks at first, whatever else is found; it has no end of its own.
func (s *schema) count(ctx *jsonschema.CompilerContext, _ map[string]any) (jsonschema.SchemaExt, error) {
	part := ctx.Enqueue(nil) // this very one
	format := jsonschema.Format{Validate: func(any) error { return nil }}
	if part.Format != nil {
		format = *part.Format
	}
	validate := format.Validate
	format.Validate = func(v any) error {
		if s.steps++; s.steps > mostSteps {
			panic(errSteps)
		}
		return validate(v)
	}
	part.Format = &format
	return nil, nil
}

// noLoader keeps a schema from reading files and pages: all that it refers to
// is inside it.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema can refer to its own parts only; copy the other one into $defs", url)
}

// holds reports whether the JSON text in an answer is as the schema says. One that
// takes too many steps is not.
func (s *schema) holds(answer string) (ok bool) {
	v, ok := jsonOf(answer)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = 0
	defer func() {
		if why := recover(); why == errSteps {
			ok = false
		} else if why != nil {
			panic(why)
		}
	}()
	return s.compiled.Validate(v) == nil
}
