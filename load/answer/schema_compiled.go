//go:build !lean

package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is a compiled JSON Schema; without "$schema" it is read as draft
// 2020-12, which is what Pydantic and structured outputs write.
type schema struct{ compiled *jsonschema.Schema }

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
	const name = "answer:///schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(strings.ReplaceAll(err.Error(), name+"#", ""), name, "the schema"))
	}
	return &schema{compiled}, nil
}

// noLoader keeps a schema from reading files and pages: all that it refers to
// is inside it.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema can refer to its own parts only; copy the other one into $defs", url)
}

// holds reports whether the JSON text in an answer is as the schema says.
func (s *schema) holds(answer string) bool {
	v, ok := jsonOf(answer)
	return ok && s.compiled.Validate(v) == nil
}
