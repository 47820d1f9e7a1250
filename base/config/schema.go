package config

import (
	"encoding/json"
	"reflect"
)

// Schema is the JSON Schema (draft 2020-12) of the files that v, a pointer to a
// struct, is read from: editors complete and check with it.
func Schema(v any, id, title string) ([]byte, error) {
	s := schemer{defs: map[string]any{}}
	root := s.object(reflect.TypeOf(v).Elem())
	root["$schema"], root["$id"], root["title"] = "https://json-schema.org/draft/2020-12/schema", id, title
	if len(s.defs) > 0 {
		root["$defs"] = s.defs
	}
	return json.MarshalIndent(root, "", "  ")
}

type schemer struct{ defs map[string]any }

func (s *schemer) object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range fieldsOf(t) {
		p := s.of(f.typ)
		if f.doc != "" {
			p["description"] = f.doc
		}
		if f.enum != nil {
			p["enum"] = f.enum
		}
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	return o
}

func (s *schemer) of(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := map[string]any{"type": []string{"string", "number"}}
	switch {
	case t == anyType:
		return map[string]any{}
	case t == durationType:
		return map[string]any{"type": "string", "pattern": `^([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+$`}
	case reflect.PointerTo(t).Implements(textType):
		return text
	}
	switch t.Kind() {
	case reflect.Struct:
		if _, known := s.defs[t.Name()]; !known {
			s.defs[t.Name()] = true // against circles
			s.defs[t.Name()] = s.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return text
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}
