package records

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tokenmeter/base/pyjson"
)

// textRow is a line, or a text of a JSON list; its one column is "text".
type textRow string

func (t textRow) Get(name string) (any, bool) {
	return strings.TrimRight(string(t), "\r"), name == "text"
}
func (t textRow) Names() []string { return []string{"text"} }
func (t textRow) String() string  { return string(t) }

// objectRow is a JSON object, or a row of Parquet.
type objectRow struct {
	fields map[string]any
	text   string
}

func parseJSON(data []byte) (Row, error) {
	d := json.NewDecoder(bytes.NewReader(pyjson.Finite(data)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON ends in the middle")
		}
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	if text, ok := v.(string); ok {
		return textRow(text), nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a JSON object, not %s", kindOf(v))
	}
	return &objectRow{request(object), string(data)}, nil
}

// request is the request in a line of OpenAI's batch files, or of AIPerf's with a payload,
// which wrap it; any other object is itself.
func request(line map[string]any) map[string]any {
	if body, ok := line["body"].(map[string]any); ok && line["custom_id"] != nil {
		return body
	}
	if payload, ok := line["payload"].(map[string]any); ok && (payload["messages"] != nil || payload["prompt"] != nil) {
		for _, name := range []string{"timestamp", "delay", "session_id"} {
			if v := line[name]; v != nil {
				payload[name] = v
			}
		}
		payload[Payload] = nil
		return payload
	}
	return line
}

// Payload is a further column, of no value, of a record that stood in AIPerf's payload.
const Payload = "(payload)"

func kindOf(v any) string {
	switch v.(type) {
	case []any:
		return "a list"
	case json.Number:
		return "a number"
	}
	return "a plain value"
}

// Get implements Row.
func (o *objectRow) Get(name string) (any, bool) {
	if v, ok := o.fields[name]; ok {
		return v, true
	}
	var at any = o.fields
	for part := range strings.SplitSeq(name, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[part]; !ok {
			return nil, false
		}
	}
	return at, true
}

// Names implements Row.
func (o *objectRow) Names() []string { return slices.Sorted(maps.Keys(o.fields)) }

func (o *objectRow) String() string { return o.text }

// csvRow is a line of CSV.
type csvRow struct {
	columns []string
	fields  []string
	text    string
}

func openCSV(in io.ReaderAt, size int64) (*cut, error) {
	c := &cut{in: in, size: size, form: CSV}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.grow(0); err != nil {
		return nil, err
	}
	if len(c.at) == 0 {
		return nil, ErrEmpty
	}
	head := make([]byte, c.len[0])
	if _, err := in.ReadAt(head, c.at[0]); err != nil && err != io.EOF {
		return nil, err
	}
	fields, err := splitCSV(head)
	if err != nil {
		return nil, fmt.Errorf("the first line, which names the columns: %w", err)
	}
	for i, f := range fields {
		f = strings.TrimSpace(f)
		if f == "" && i == 0 && len(fields) > 1 {
			f = "(index)" // pandas writes its rows' numbers in front, without a name
		}
		if f == "" {
			return nil, fmt.Errorf("column %d has no name in the first line", i+1)
		}
		if slices.Contains(c.columns, f) {
			return nil, fmt.Errorf("two columns are named %q", f)
		}
		c.columns = append(c.columns, f)
	}
	c.at, c.len, c.line = c.at[1:], c.len[1:], c.line[1:]
	return c, nil
}

func splitCSV(data []byte) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.LazyQuotes = -1, false
	fields, err := r.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		err = parse.Err
	}
	return fields, err
}

func parseCSV(data []byte, columns []string) (Row, error) {
	fields, err := splitCSV(data)
	if err != nil {
		return nil, err
	}
	if len(fields) != len(columns) {
		return nil, fmt.Errorf("%d fields, but the first line names %d columns", len(fields), len(columns))
	}
	return &csvRow{columns, fields, string(data)}, nil
}

// Get implements Row. An empty field is as good as none.
func (c *csvRow) Get(name string) (any, bool) {
	i := slices.Index(c.columns, name)
	if i < 0 || c.fields[i] == "" {
		return nil, false
	}
	return c.fields[i], true
}

// Names implements Row.
func (c *csvRow) Names() []string { return c.columns }

func (c *csvRow) String() string { return c.text }
