package hf

import (
	"encoding/json"
	"errors"
	"fmt"

	"tokenmeter/wire/jsonscan"
)

var errJSON = errors.New("the JSON is broken")

// walk has read walk through a JSON text that begins with the bracket open. A
// tokenizer.json is mostly two or three long lists, which encoding/json reads ten times
// more slowly.
func walk(raw []byte, open byte, read func(s *jsonscan.Scanner) error) error {
	var s jsonscan.Scanner
	s.Reset(raw)
	fits := s.Peek() == open
	if err := read(&s); err != nil && !s.Failed() {
		return err
	}
	if fits && s.End() {
		return nil
	}
	var at *json.SyntaxError
	if errors.As(json.Unmarshal(raw, new(json.RawMessage)), &at) {
		return fmt.Errorf("%w near byte %d", errJSON, at.Offset)
	}
	return errJSON
}

// fields are the values of an object by their keys.
func fields(raw []byte) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	return all, walk(raw, '{', func(s *jsonscan.Scanner) error {
		for name := range s.Members {
			from := s.Place()
			s.Skip()
			all[string(name)] = s.Since(from)
		}
		return nil
	})
}
