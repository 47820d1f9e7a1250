package run

import (
	"reflect"
	"strings"
)

// Column is a column of requests.parquet that a record does not show.
type Column struct{ Name, Type, Says string }

// Columns lists them in the order of the table: the events, then the facts that
// a timeline needs. Those before them are the fields of a metric.Record.
func Columns() []Column {
	var all []Column
	for _, f := range reflect.VisibleFields(reflect.TypeFor[row]()) {
		if says := f.Tag.Get("says"); says != "" {
			name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
			all = append(all, Column{name, kindOf(f.Type), says})
		}
	}
	return all
}

// kindOf names a type as readers of the table know it.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + kindOf(t.Elem())
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "text"
	}
	return "integer"
}
