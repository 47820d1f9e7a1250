package run

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
)

// Every column is a field of the record or says what it holds.
func TestEveryColumnIsExplained(t *testing.T) {
	var known []string
	for f := range reflect.TypeFor[metric.Record]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known = append(known, name)
	}
	for _, c := range Columns() {
		if slices.Contains(known, c.Name) {
			t.Errorf("%s is a field of the record and explained there", c.Name)
		}
		known = append(known, c.Name)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[row]()) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if !slices.Contains(known, name) {
			t.Errorf("column %s is not explained", name)
		}
	}
}
