package export

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// column is one column of the CSV file: a field of the record.
type column struct {
	name  string
	index int
}

// columns are the record's fields in their order, under their JSON names.
var columns = func() []column {
	record := reflect.TypeFor[metric.Record]()
	var all []column
	for i := range record.NumField() {
		name, _, _ := strings.Cut(record.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			all = append(all, column{name, i})
		}
	}
	return all
}()

// writeCSV writes the records as a table: null is an empty cell, a list is
// joined with spaces, error is "class: message", server is JSON.
func writeCSV(w io.Writer, f *run.Folder) error {
	out := csv.NewWriter(w)
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for rec, err := range f.Records() {
		if err != nil {
			return err
		}
		value := reflect.ValueOf(&rec).Elem()
		for i, c := range columns {
			if cells[i], err = cell(value.Field(c.index).Interface()); err != nil {
				return err
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell renders one value by its JSON form, so that the CSV file can't differ
// from the JSON lines.
func cell(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	switch data[0] {
	case 'n': // null
		return "", nil
	case '"':
		var s string
		err := json.Unmarshal(data, &s)
		return printable.Cell(s), err
	case '[':
		return joined(data)
	case '{':
		return object(data)
	}
	return string(data), nil // a number or a boolean
}

func joined(data []byte) (string, error) {
	var items []any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&items); err != nil {
		return "", err
	}
	parts := make([]string, len(items))
	for i, item := range items {
		switch item := item.(type) {
		case json.Number:
			parts[i] = item.String()
		case string:
			parts[i] = item
		}
	}
	return printable.Cell(strings.Join(parts, " ")), nil
}

func object(data []byte) (string, error) {
	var reason struct {
		Class   string `json:"class"`
		Message string `json:"message"`
	}
	if json.Unmarshal(data, &reason) == nil && reason.Class != "" {
		return printable.Cell(reason.Class + ": " + reason.Message), nil
	}
	return string(data), nil
}
