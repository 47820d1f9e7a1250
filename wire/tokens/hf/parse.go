package hf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Parse reads a tokenizer.json.
func Parse(raw []byte, opt Options) (*Tokenizer, error) {
	t, err := parse(raw, opt)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

func parse(raw []byte, opt Options) (*Tokenizer, error) {
	f, err := fields(raw)
	if err != nil {
		return nil, err
	}
	for name, v := range f {
		switch name {
		case "version":
			if s := string(v); s != `"1.0"` && s != "null" {
				return nil, &UnsupportedError{"version", strings.Trim(s, `"`)}
			}
		case "truncation", "padding", "post_processor": // no say in how a text is cut
		case "added_tokens", "normalizer", "pre_tokenizer", "decoder", "model":
		default:
			return nil, &UnsupportedError{"part", name}
		}
	}
	t := new(Tokenizer)
	if v := f["normalizer"]; !absent(v) {
		if t.normalize, err = parseNormalizer(v); err != nil {
			return nil, err
		}
	}
	if v := f["pre_tokenizer"]; !absent(v) {
		if t.split, err = parsePreTokenizer(v); err != nil {
			return nil, err
		}
		t.split = fuse(t.split)
	}
	if absent(f["model"]) {
		return nil, errors.New("it has no model")
	}
	if t.model, t.split, err = parseModel(f["model"], t.split); err != nil {
		return nil, err
	}
	if err := t.addTokens(f["added_tokens"], opt); err != nil {
		return nil, err
	}
	if v := f["decoder"]; !absent(v) {
		// A text can be counted without a decoder.
		t.decode, t.decodeErr = parseDecoder(v)
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

// typed is what every part has.
type typed struct {
	Type string `json:"type"`
}

// typeOf is the type of a part.
func typeOf(part string, raw json.RawMessage) (string, error) {
	var t typed
	if err := json.Unmarshal(raw, &t); err != nil {
		return "", fmt.Errorf("%s: %w", part, plainError(err))
	}
	return t.Type, nil
}

// read decodes one part into what it needs, which embeds typed. A field that
// is not known is an error, for a setting that is passed over may change every
// count; so is one that is missing, unless it is a pointer.
func read[T any](part string, raw json.RawMessage) (*T, error) {
	v := new(T)
	if err := readInto(v, part, raw); err != nil {
		return nil, err
	}
	return v, nil
}

// readInto is read for all types, compiled once.
func readInto(v any, part string, raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		err = missing(raw, reflect.TypeOf(v).Elem())
	}
	if err != nil {
		name, _ := typeOf(part, raw)
		return fmt.Errorf("%s %s: %w", part, name, plainError(err))
	}
	return nil
}

// parts reads the parts of a sequence.
func parts[T any](list []json.RawMessage, parse func(json.RawMessage) (T, error)) (all []T, err error) {
	for _, raw := range list {
		one, err := parse(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func missing(raw json.RawMessage, t reflect.Type) error {
	given, err := fields(raw)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous || f.Type.Kind() == reflect.Pointer {
			continue
		}
		name := cmp.Or(f.Tag.Get("json"), strings.ToLower(f.Name))
		if _, ok := given[name]; !ok {
			return fmt.Errorf("the field %q is missing", name)
		}
	}
	return nil
}

// plainError is an error of encoding/json without its name.
func plainError(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "json: ")) }

// patternJSON is a text or a regular expression.
type patternJSON struct {
	String *string
	Regex  *string
}
