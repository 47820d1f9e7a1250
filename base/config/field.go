package config

import (
	"reflect"
	"strings"
)

// field is one that a file may have.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	doc      string
	required bool
	enum     []string
}

// fieldsOf lists the fields of a struct in order, those of embedded structs
// where they stand.
func fieldsOf(t reflect.Type) (fields []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
		case name == "" || name == "-" || !f.IsExported():
		default:
			one := field{name: name, index: []int{i}, typ: f.Type, doc: f.Tag.Get("doc"), required: f.Tag.Get("required") == "true"}
			if enum := f.Tag.Get("enum"); enum != "" {
				one.enum = strings.Split(enum, "|")
			}
			fields = append(fields, one)
		}
	}
	return fields
}
