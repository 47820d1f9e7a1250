package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// schema is the part of JSON Schema that structured answers use. A keyword it
// does not know is an error: a check that is not made must not look passed.
type schema struct {
	never      bool // the schema false
	types      []string
	enum       []any // nil: any
	hasEnum    bool
	properties map[string]*schema
	required   []string
	additional *schema // nil: anything
	items      *schema
	anyOf      []*schema
	allOf      []*schema
	oneOf      []*schema
	not        *schema
	pattern    *regexp.Regexp

	minLength, maxLength, minItems, maxItems     *float64
	minimum, maximum, exclusiveMin, exclusiveMax *float64
	multipleOf                                   *float64
	unique                                       bool
}

// compileSchema reads a schema from decoded YAML or JSON, or a JSON text.
func compileSchema(v any) (*schema, error) {
	if text, ok := v.(string); ok {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, err
		}
	}
	// Through JSON, so that numbers and keys have one type each.
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var clean any
	if err := json.Unmarshal(data, &clean); err != nil {
		return nil, err
	}
	return compileNode(clean, "")
}

func compileNode(v any, at string) (*schema, error) {
	s := &schema{}
	switch v := v.(type) {
	case bool:
		s.never = !v
		return s, nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := s.keyword(key, v[key], at+"/"+key); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	return nil, fmt.Errorf("%s: want an object or true or false", place(at))
}

func place(at string) string {
	if at == "" {
		return "the schema"
	}
	return at
}

func (s *schema) keyword(key string, v any, at string) (err error) {
	switch key {
	case "$schema", "$id", "title", "description", "default", "examples", "$comment", "format":
		// annotations
	case "type":
		s.types, err = texts(v, at)
		for _, t := range s.types {
			if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, t) {
				return fmt.Errorf("%s: unknown type %q", at, t)
			}
		}
	case "enum":
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s: want a list", at)
		}
		s.enum, s.hasEnum = list, true
	case "const":
		s.enum, s.hasEnum = []any{v}, true
	case "required":
		s.required, err = texts(v, at)
	case "properties":
		object, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object", at)
		}
		s.properties = map[string]*schema{}
		for name, inner := range object {
			if s.properties[name], err = compileNode(inner, at+"/"+name); err != nil {
				return err
			}
		}
	case "additionalProperties":
		s.additional, err = compileNode(v, at)
	case "items":
		s.items, err = compileNode(v, at)
	case "not":
		s.not, err = compileNode(v, at)
	case "anyOf":
		s.anyOf, err = nodes(v, at)
	case "allOf":
		s.allOf, err = nodes(v, at)
	case "oneOf":
		s.oneOf, err = nodes(v, at)
	case "pattern":
		text, _ := v.(string)
		s.pattern, err = regexp.Compile(text)
	case "uniqueItems":
		s.unique, _ = v.(bool)
	default:
		return s.bound(key, v, at)
	}
	return err
}

func (s *schema) bound(key string, v any, at string) error {
	into := map[string]**float64{
		"minLength": &s.minLength, "maxLength": &s.maxLength, "minItems": &s.minItems, "maxItems": &s.maxItems,
		"minimum": &s.minimum, "maximum": &s.maximum,
		"exclusiveMinimum": &s.exclusiveMin, "exclusiveMaximum": &s.exclusiveMax, "multipleOf": &s.multipleOf,
	}[key]
	if into == nil {
		return fmt.Errorf("%s: the keyword is not supported, so it can't be checked; leave it out or check with a regex", at)
	}
	x, ok := v.(float64)
	if !ok {
		return fmt.Errorf("%s: want a number", at)
	}
	*into = &x
	return nil
}

func nodes(v any, at string) (list []*schema, err error) {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil, fmt.Errorf("%s: want a list of schemas", at)
	}
	for i, item := range items {
		s, err := compileNode(item, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func texts(v any, at string) ([]string, error) {
	if s, ok := v.(string); ok {
		return []string{s}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: want a text or a list of texts", at)
	}
	var out []string
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return nil, fmt.Errorf("%s: want texts", at)
		}
		out = append(out, s)
	}
	return out, nil
}

func (s *schema) holds(answer string) bool {
	v, ok := jsonOf(answer)
	return ok && s.fits(v)
}

func (s *schema) fits(v any) bool {
	if s.never || s.types != nil && !slices.ContainsFunc(s.types, func(t string) bool { return typed(v, t) }) {
		return false
	}
	if s.hasEnum && !slices.ContainsFunc(s.enum, func(e any) bool { return same(v, e) }) {
		return false
	}
	for _, inner := range s.allOf {
		if !inner.fits(v) {
			return false
		}
	}
	if s.anyOf != nil && !slices.ContainsFunc(s.anyOf, func(x *schema) bool { return x.fits(v) }) {
		return false
	}
	if s.oneOf != nil {
		n := 0
		for _, x := range s.oneOf {
			if x.fits(v) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	if s.not != nil && s.not.fits(v) {
		return false
	}
	switch v := v.(type) {
	case string:
		n := float64(utf8.RuneCountInString(v))
		return within(n, s.minLength, s.maxLength) && (s.pattern == nil || s.pattern.MatchString(v))
	case json.Number:
		return s.numeric(v)
	case []any:
		return s.array(v)
	case map[string]any:
		return s.object(v)
	}
	return true
}

func (s *schema) numeric(v json.Number) bool {
	x, err := v.Float64()
	if err != nil || !within(x, s.minimum, s.maximum) {
		return false
	}
	if s.exclusiveMin != nil && !(x > *s.exclusiveMin) || s.exclusiveMax != nil && !(x < *s.exclusiveMax) {
		return false
	}
	if s.multipleOf != nil && *s.multipleOf > 0 {
		q := x / *s.multipleOf
		return math.Abs(q-math.Round(q)) < 1e-9*max(math.Abs(q), 1)
	}
	return true
}

func (s *schema) array(v []any) bool {
	if !within(float64(len(v)), s.minItems, s.maxItems) {
		return false
	}
	for i, x := range v {
		if s.items != nil && !s.items.fits(x) {
			return false
		}
		if s.unique && slices.ContainsFunc(v[:i], func(y any) bool { return same(x, y) }) {
			return false
		}
	}
	return true
}

func (s *schema) object(v map[string]any) bool {
	for _, name := range s.required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, x := range v {
		inner, known := s.properties[name]
		if !known {
			inner = s.additional
		}
		if inner != nil && !inner.fits(x) {
			return false
		}
	}
	return true
}

func within(x float64, least, most *float64) bool {
	return (least == nil || x >= *least) && (most == nil || x <= *most)
}

func typed(v any, t string) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	case json.Number:
		return t == "number" || t == "integer" && isWhole(v)
	}
	return false
}

func isWhole(n json.Number) bool {
	if !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	if len(n) > 40 {
		return false // nobody's integer
	}
	r, ok := new(big.Rat).SetString(string(n))
	return ok && r.IsInt()
}

// same compares a value of an answer with one of the schema or the answer:
// numbers by value.
func same(a, b any) bool {
	x, ok := asFloat(a)
	y, ok2 := asFloat(b)
	if ok || ok2 {
		return ok && ok2 && x == y
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	return reflect.DeepEqual(a, b)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		x, err := v.Float64()
		return x, err == nil
	case float64:
		return v, true
	}
	return 0, false
}
