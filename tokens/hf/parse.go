package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// file is a tokenizer.json.
type file struct {
	Version       string
	Truncation    json.RawMessage
	Padding       json.RawMessage
	AddedTokens   []addedToken `json:"added_tokens"`
	Normalizer    json.RawMessage
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage
	Model         json.RawMessage
}

// Parse reads a tokenizer.json.
func Parse(raw []byte, opt Options) (*Tokenizer, error) {
	t, err := parse(raw, opt)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

func parse(raw []byte, opt Options) (*Tokenizer, error) {
	var f file
	if err := strict(raw, &f); err != nil {
		return nil, err
	}
	if f.Version != "" && f.Version != "1.0" {
		return nil, &UnsupportedError{"version", f.Version}
	}
	t := new(Tokenizer)
	var err error
	if !absent(f.Normalizer) {
		if t.normalize, err = parseNormalizer(f.Normalizer); err != nil {
			return nil, err
		}
	}
	if !absent(f.PreTokenizer) {
		if t.split, err = parsePreTokenizer(f.PreTokenizer); err != nil {
			return nil, err
		}
		t.split = fuse(t.split)
	}
	if absent(f.Model) {
		return nil, errors.New("it has no model")
	}
	if t.model, t.split, err = parseModel(f.Model, t.split); err != nil {
		return nil, err
	}
	t.names = t.model.tokens()
	if err := t.addTokens(f.AddedTokens, opt); err != nil {
		return nil, err
	}
	t.known = make([]bool, len(t.names))
	for id, name := range t.names {
		t.known[id] = name != ""
	}
	if !absent(f.Decoder) {
		// A text can be counted without a decoder.
		t.decode, t.decodeErr = parseDecoder(f.Decoder)
	}
	return t, nil
}

// UnsupportedError is a part of a tokenizer.json that is not known.
type UnsupportedError struct {
	Part, Name string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the %s %q is not supported", e.Part, e.Name)
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// strict decodes JSON and refuses fields that are not known: a setting that is
// passed over may change every count.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// typed is what every part has.
type typed struct {
	Type string `json:"type"`
}

// typeOf is the type of a part.
func typeOf(raw json.RawMessage) (string, error) {
	var t typed
	if err := json.Unmarshal(raw, &t); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return t.Type, nil
}

// read decodes one part strictly into what it needs, which embeds typed.
func read[T any](part string, raw json.RawMessage) (*T, error) {
	v := new(T)
	if err := strict(raw, v); err != nil {
		name, _ := typeOf(raw)
		return nil, fmt.Errorf("%s %s: %w", part, name, err)
	}
	return v, nil
}

// patternJSON is a text or a regular expression.
type patternJSON struct {
	String *string
	Regex  *string
}
